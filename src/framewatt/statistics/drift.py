"""Whether a study drifts: whether later runs cost more, or less, in all cells."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.frames.headline import headline_of_runs
from framewatt.statistics.intervals import is_constant
from framewatt.statistics.log_ratios import logs_of
from framewatt.statistics.selection import block_values, cells_of, totals
from framewatt.study.statistical_tests import is_paired

DRIFT_COLUMNS = ["quantity", "over", "n", "r", "p", "change_percent", "drifts"]
"""Columns of the drift. `over` says whether the `n` points are blocks or runs; `r` is the correlation of their level
with their position in the study's order; `change_percent` the change from first to last point, by a straight line."""

_FEWEST_POINTS = 3


def drift(runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Drift of energy and of time over the order of the whole study, after subtracting each cell's median.

    A point is a block: runs of a block share the conditions of its minutes, so they are not independent. Without
    blocks, a point is a run, by its position.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: test, alpha.

    Returns:
        DRIFT_COLUMNS, one row per quantity.
    """
    rows = totals(runs)
    cells = [cell.id for cell in cells_of(rows)]
    places = None if is_paired(settings) else _places(rows)
    found = []
    for quantity in headline_of_runs(rows).quantities:
        n, r, p, change = drift_of(block_values(rows, cells, quantity), places)
        drifts = p is not None and p <= settings["alpha"]
        found.append([quantity, "blocks" if places is None else "runs", n, r, p, change, drifts])
    frame = pd.DataFrame(found, columns=DRIFT_COLUMNS)
    return frame.astype({"n": "Int64", "r": "float64", "p": "float64", "change_percent": "float64", "drifts": "bool"})


def drift_of(
    values: pd.DataFrame, places: "pd.Series[float] | None" = None
) -> tuple[int, float | None, float | None, float | None]:
    """Number of points, correlation of level and position, its p, and the change over the study in percent.

    A straight line through levels (by scipy); with five blocks, a rank test would show a drift only where all five are
    in order.

    Args:
        values: one row per block, in order, one column per cell.
        places: positions of runs without blocks, by row and column; None for blocks, where each block is a point.
    """
    logs = pd.DataFrame(logs_of(values.to_numpy(dtype=np.float64)), index=values.index, columns=values.columns)
    left = logs.sub(logs.median(axis=0), axis=1)
    if places is None:
        level = left.median(axis=1).dropna()
        place = pd.Series(level.index, index=level.index, dtype="float64")
    else:
        level = left.stack()
        place = places.reindex(level.index)
    if len(level) < _FEWEST_POINTS or is_constant(level.to_numpy()) or is_constant(place.to_numpy()):
        return len(level), None, None, None
    line = stats.linregress(place, level)
    return len(level), float(line.rvalue), float(line.pvalue), 100 * float(np.expm1(line.slope * np.ptp(place)))


def _places(rows: pd.DataFrame) -> "pd.Series[float]":
    """Position of each run in the study's order, by repetition and cell."""
    return rows.set_index(["repetition", "cell"])["position"].astype("float64")
