"""Writes a figure as SVG, PDF and PNG: the same bytes for the same figure, with no date in them."""

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_atomically
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
            raise FramewattError(f"{path}: {path.suffix!r} is not a format of figures. Use {', '.join(_METADATA)}.")
        write_atomically(path, functools.partial(_write, figure, path.suffix))


def _write(figure: Figure, suffix: str, path: Path) -> None:
    figure.savefig(path, format=suffix[1:], metadata=_METADATA[suffix])


def settle(figure: Figure) -> None:
    """Lay the figure out and round where its axes came to lie; a second call changes nothing.

    The constraint solver's last bits differ from process to process, and SVG's ids are hashes of exact positions.

    Args:
        figure: with all that takes part in its layout.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = (round(edge, 6) for edge in axes.get_position(original=True).bounds)
        axes.set_position((left, bottom, width, height))


def renderer_of(figure: Figure) -> RendererAgg:
    """Return the renderer that measures texts; use one for all, since each text without one makes a whole canvas."""
    renderer: RendererAgg = FigureCanvasAgg(figure).get_renderer()
    return renderer
