"""Whether a study drifts: whether all runs cost more, or less, the later they were."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from framewatt.headline import headline_of_runs
from framewatt.statistics.correlation import spearman
from framewatt.statistics.kinds import is_paired
from framewatt.statistics.residuals import residuals
from framewatt.statistics.selection import block_values, cells_of, totals

DRIFT_COLUMNS = ["quantity", "over", "n", "rho", "p", "change_percent", "drifts"]
"""Columns of the drift. `over` is what the `n` points are, blocks or runs; `rho` Spearman's correlation of their level
with their place in the study's order; `change_percent` how much more the last costs than the first, by a straight
line."""


def drift(runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Drift of energy and of time over the order of the whole study, every cell less its own median.

    A point is a block: the runs of a block share what its minutes had, so that they are no independent points. Where
    runs are no blocks, a point is a run, by its place.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: test, alpha.

    Returns:
        DRIFT_COLUMNS, a row a quantity.
    """
    rows = totals(runs)
    cells = [cell.id for cell in cells_of(rows)]
    found = []
    for quantity in headline_of_runs(rows).quantities:
        values = block_values(rows, cells, quantity)
        left = residuals(values, paired=False)
        if is_paired(settings):
            level = left.median(axis=1).dropna()
            over, place = "blocks", pd.Series(level.index, index=level.index, dtype="float64")
        else:
            level = left.stack()
            over, place = "runs", _places(rows).reindex(level.index)
        rho, p = spearman(level, place)
        known = len(level) > 1 and np.ptp(place) > 0
        slope = float(np.polyfit(place, level, 1)[0]) if known else np.nan
        change = 100 * np.expm1(slope * np.ptp(place)) if known else np.nan
        drifts = p is not None and p <= settings["alpha"]
        found.append([quantity, over, len(level), rho, p, change, drifts])
    frame = pd.DataFrame(found, columns=DRIFT_COLUMNS)
    return frame.astype({"n": "Int64", "rho": "float64", "p": "float64", "change_percent": "float64", "drifts": "bool"})


def _places(rows: pd.DataFrame) -> "pd.Series[float]":
    """Place of each run in the study's order, by repetition and cell."""
    return rows.set_index(["repetition", "cell"])["position"].astype("float64")
