"""Writes a figure as SVG, PDF and PNG: the same bytes for the same figure, with no date in them."""

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_atomically
from framewatt.figures.layout import settle
from framewatt.figures.style import styled

_METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
    ".png": {"Software": None},
}


@styled
def save(figure: Figure, paths: Iterable[Path]) -> None:
    """Write the figure to every path, each whole or not at all.

    Args:
        figure: what a `draw` returned.
        paths: files that end in .svg, .pdf or .png.

    Raises:
        FramewattError: a path ends in something else.
    """
    settle(figure)
    for path in paths:
        if path.suffix not in _METADATA:
            raise FramewattError(f"{path}: found format {path.suffix!r}; allowed: {', '.join(_METADATA)}")
        write_atomically(path, functools.partial(_write, figure, path.suffix))


def _write(figure: Figure, suffix: str, path: Path) -> None:
    figure.savefig(path, format=suffix[1:], metadata=_METADATA[suffix])
