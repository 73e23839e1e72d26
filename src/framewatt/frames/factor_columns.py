"""Factors as columns of a frame: which columns they are, and how their levels sort."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from framewatt.study.factors import FIRST_LEVELS, natural

if TYPE_CHECKING:
    # Not imported at run time: figures' captions are read where pandas is not installed, and faster without it.
    import pandas as pd

_AFTER_FACTORS = ("device", "quantity", "target")
"""First column after the factors: in the frames of runs and epochs, in that of cells, and in that of targets."""


def factors_of(frame: "pd.DataFrame") -> list[str]:
    """The factors of a frame of runs, epochs or cells: its columns between `cell` and `device` or `quantity`."""
    columns = [str(column) for column in frame.columns]
    start = columns.index("cell") + 1
    return columns[start : min(columns.index(name, start) for name in _AFTER_FACTORS if name in columns[start:])]


def rank(factor: str, levels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Sort keys of the levels of a factor: training before inference, else numeric order, also of numbers in words."""
    first = FIRST_LEVELS.get(factor, [])
    place = {level: number for number, level in enumerate(first)}
    ordered = sorted(levels.unique(), key=lambda level: (place.get(level, len(first)), natural(level)))
    return levels.map({level: number for number, level in enumerate(ordered)})


def sorted_by(frame: "pd.DataFrame", factors: Sequence[str]) -> "pd.DataFrame":
    """Rows sorted by the levels of some columns, in readers' order."""
    if not factors:
        return frame.reset_index(drop=True)
    return frame.sort_values(
        list(factors), kind="stable", ignore_index=True, key=lambda column: rank(str(column.name), column)
    )
