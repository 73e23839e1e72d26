"""Marks of single runs: those that others disturbed are rings, in every figure and its legend."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from framewatt.figures.notes import MOST_DOTS, disturbed

_COLOUR = "#7a3ca8"
"""Neither that of the Pareto front's rings nor one of the labels'."""

_RING: dict[str, Any] = {"facecolors": "none", "edgecolors": _COLOUR, "linewidths": 1.1, "zorder": 5}

LINE: dict[str, Any] = {"marker": "o", "mfc": "none", "mec": _COLOUR, "ms": 5, "mew": 1.1}
"""Rings on the line of a disturbed run."""


_PALE: dict[str, Any] = {"alpha": 0.45}
"""Rings of runs that were set aside."""


def dots(axes: Axes, rows: pd.DataFrame, x: str, y: str, *, quietly: bool = False, **look: Any) -> None:
    """A dot for every run, a ring for a disturbed one.

    Args:
        axes: the panel.
        rows: runs.
        x: column along x.
        y: column along y.
        quietly: whether only the rings are drawn, see notes.MOST_DOTS.
        look: of the dots, as `scatter` takes it.
    """
    apart = disturbed(rows)
    quiet, others = rows[~apart], rows[apart]
    if not quietly:
        axes.scatter(quiet[x], quiet[y], linewidths=0, label="_repetitions", **({"zorder": 2} | look))
    rings(axes, others[x], others[y], 16)


def small_words(rows: pd.DataFrame) -> str:
    """That small dots are runs, as the end of a sentence; empty where runs are too many for dots."""
    return "" if len(rows) > MOST_DOTS else "; small: every run"


def rings(axes: Axes, x: pd.Series, y: pd.Series, size: float) -> None:
    """A ring at each place.

    Args:
        axes: the panel.
        x: of each.
        y: of each.
        size: area in square points.
    """
    if len(x):
        axes.scatter(x, y, s=size, label="_disturbed", **_RING)


def pale_rings(axes: Axes, rows: pd.DataFrame, x: str, y: str) -> int:
    """Draw a pale ring for every run that was set aside and is inside the axes; return their number.

    Such a run may have taken much longer. It does not move the axes, which show the runs that count.

    Args:
        axes: the panel, with its scales and all that counts.
        rows: the runs.
        x: column along x.
        y: column along y.
    """
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    inside = rows[rows[x].between(left, right) & rows[y].between(low, high)]
    if len(inside):
        axes.scatter(inside[x], inside[y], s=22, label="_aside", **_RING, **_PALE)
        axes.set(xlim=(left, right), ylim=(low, high))
    return len(inside)


def handles(apart: "pd.Series[bool]", aside: int = 0) -> list[Line2D]:
    """The legend's entries of disturbed runs that count and of those that were set aside; none of what there is not.

    Args:
        apart: whether each run was disturbed.
        aside: pale rings that are drawn.
    """
    entries = [Line2D([], [], ls="", label="disturbed run", **LINE)] if apart.any() else []
    return [*entries, Line2D([], [], ls="", label="set aside, in no mean", **LINE, **_PALE)] if aside else entries
