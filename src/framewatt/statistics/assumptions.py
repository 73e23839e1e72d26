"""Assumptions of the tests behind an answer, and signs that the runs of a study do not meet them.

The t-tests of a group take what differs between blocks for noise: independent from block to block, and of one kind.
Two ways in which real machines break that make answers wrong far too often: noise that goes on over blocks (a machine
that warms up, a neighbour that stays), and cells that are rarely much slower. Neither is certain in few blocks, so a
sign is a reason to measure more, and no sign is no proof. A study drifts where later runs cost more, or less, in all
cells.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.frames.headline import headline_of_runs
from framewatt.statistics.effect_size import is_constant
from framewatt.statistics.log_ratios import Floats, logs_of, outlying, residuals
from framewatt.statistics.selection import block_values, cells_of, totals
from framewatt.study.statistical_tests import is_paired

DRIFT_COLUMNS = ["quantity", "over", "n", "r", "p", "change_percent", "drifts"]
"""Columns of the drift. `over` is what the `n` points are, blocks or runs; `r` is the correlation of their level
with their position in the study's order; `change_percent` the change from first to last point, by a straight line."""

_FEWEST_POINTS = 3


def drift(runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the drift of energy and of time over the order of the whole study, after subtracting each cell's median.

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
    measured_drifts = []
    for quantity in headline_of_runs(rows).quantities:
        n, r, p, change = drift_of(block_values(rows, cells, quantity), places)
        drifts = p is not None and p <= settings["alpha"]
        measured_drifts.append([quantity, "blocks" if places is None else "runs", n, r, p, change, drifts])
    frame = pd.DataFrame(measured_drifts, columns=DRIFT_COLUMNS)
    return frame.astype({"n": "Int64", "r": "float64", "p": "float64", "change_percent": "float64", "drifts": "bool"})


def drift_of(
    values: pd.DataFrame, places: "pd.Series[float] | None" = None
) -> tuple[int, float | None, float | None, float | None]:
    """Return the number of points, the correlation of level and position, its p, and the change in percent.

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


SIGN_P = 0.01
"""Significance level of the test that blocks follow each other."""

_SOME_ORDERS = 1000
_EVERY_ORDER = 6
"""Up to so many blocks every order is gone through; of more, some by chance."""


def follow_p(values: Floats) -> float:
    """Return p of "ratios of cells in one block are independent of those in the next"; small where noise goes on.

    A permutation test over orders of the blocks, one-sided; its statistic is the autocovariance at lag 1 of the
    logarithms after cells and blocks, summed over cells (Wald and Wolfowitz 1943, Annals of Mathematical Statistics
    14:378, for one series). What whole blocks have in common cancels in ratios, and is not looked at.

    Args:
        values: shape (cells, blocks), NaN where a run is missing. Blocks with fewer than two cells are left out.

    Returns:
        p, at least 1 over the number of orders; 1 where nothing varies.
    """
    logs = logs_of(values)
    logs = logs[:, np.isfinite(logs).sum(axis=0) > 1]
    logs = logs[np.isfinite(logs).any(axis=1)]
    if min(logs.shape) < 2:
        return 1.0
    left = logs - np.nanmean(logs, axis=1, keepdims=True)
    left = np.nan_to_num(left - np.nanmean(left, axis=0, keepdims=True))
    products = left.T @ left
    blocks = len(products)
    if blocks <= _EVERY_ORDER:
        orders = np.array(list(itertools.permutations(range(blocks))))
    else:
        rng = np.random.default_rng(blocks)
        orders = np.vstack([np.arange(blocks), rng.permuted(np.tile(np.arange(blocks), (_SOME_ORDERS, 1)), axis=1)])
    along = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    rounding = 1e-12 * np.abs(products).sum()
    return float((along >= along[0] - rounding).mean())


def doubts(values: pd.DataFrame, *, paired: bool) -> Iterator[str]:
    """Yield signs that the answer of a group may be wrong more often than it states, a sentence each.

    Args:
        values: one row per block, one column per cell, NaN where a run does not count (see block_values).
        paired: whether the runs of a row belong to one block.
    """
    if paired and follow_p(values.to_numpy(dtype=np.float64).T) <= SIGN_P:
        yield (
            "From one block to the next, the ratios of these cells change less than by chance, so these blocks "
            "are weaker evidence than their number suggests. Measure more blocks, over a longer time."
        )
    left = residuals(values, paired=paired)
    slow = outlying(left) & (left > 0)
    for cell in slow.columns[slow.any()]:
        much = float(np.exp(left.loc[slow[cell], cell].max()))
        few, every = int(slow[cell].sum()), int(values[cell].notna().sum())
        yield (
            f"{few} of {every} runs of {cell} took far more than its others "
            f"(up to {much:.2g}x). Where that is rare, few blocks do not show the average. Measure more blocks."
        )
