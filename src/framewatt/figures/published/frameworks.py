"""How the frameworks of the published studies look and are called in figures."""

from collections.abc import Iterable

from matplotlib.lines import Line2D

from framewatt.figures import style

NAMES = {"pytorch": "PyTorch", "tensorflow": "TensorFlow"}
_RUNTIMES = {"pytorch": "torch"}


def colour(framework: str) -> str:
    """The colour of the runtime of that name in the project's own figures."""
    return style.colour(_RUNTIMES.get(framework, framework))


def marker(framework: str) -> str:
    """The marker of the runtime of that name in the project's own figures."""
    return style.marker(_RUNTIMES.get(framework, framework), "native")


def handles(frameworks: Iterable[str], shape: str = "") -> list[Line2D]:
    """Entries of a legend.

    Args:
        frameworks: those that are drawn.
        shape: marker of all of them; empty for each its own.
    """
    return [
        Line2D([], [], color=colour(name), marker=shape or marker(name), ms=5, ls="", label=NAMES.get(name, name))
        for name in frameworks
    ]
