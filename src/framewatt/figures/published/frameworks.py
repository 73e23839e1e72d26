"""How the frameworks of the published studies look and are called in figures."""

from collections.abc import Iterable

from matplotlib.lines import Line2D

from framewatt.figures import style

NAMES = {"pytorch": "PyTorch", "tensorflow": "TensorFlow"}

LOOKS = style.looks(NAMES)
"""Framework -> its colour and marker, those of the project's own figures."""


def handles(frameworks: Iterable[str], shape: str = "") -> list[Line2D]:
    """Entries of a legend.

    Args:
        frameworks: those that are drawn.
        shape: marker of all of them; empty for each its own.
    """
    return [
        Line2D([], [], color=LOOKS[name].colour, marker=shape or LOOKS[name].marker, ms=5, ls="", label=NAMES[name])
        for name in frameworks
    ]
