"""Spearman's rank correlation, and whether cells rank by energy as they do by time."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from framewatt.frames.headline import headline_of_runs
from framewatt.statistics.pairs import groups
from framewatt.statistics.selection import cells_of, totals

CORRELATIONS_COLUMNS = ["group", "quantity_a", "quantity_b", "n_cells", "rho", "estimated", "flags"]
"""Columns of the correlations, one row per group of comparable cells: `rho` is Spearman's, over the cells' means."""

_LARGEST_EXACT_N = 7
"""Largest n for which all permutations are enumerated (7! = 5040)."""

_SMALLEST_N = 3


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float | None, float | None]:
    """Spearman's rho, ties ranked by their mean, and its two-sided p.

    p is exact, over all permutations, up to n = 7. Beyond, it comes from Student's t (by scipy), held at or above
    2 / n!, the smallest that n values can give: the approximation says 0 for |rho| = 1.

    Args:
        x: shape (n,).
        y: shape (n,).

    Returns:
        (None, None) for fewer than 3 values or where one side is constant.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.size < _SMALLEST_N or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None, None
    result = stats.spearmanr(a, b)
    rho = float(result.statistic)
    if a.size > _LARGEST_EXACT_N:
        return rho, max(float(result.pvalue), 2 / math.factorial(a.size))
    ranks = stats.rankdata(b)
    exact = stats.permutation_test(
        (stats.rankdata(a),),
        # With both sets of ranks given, rho grows with the sum of their products.
        lambda permuted, axis=-1: np.sum(permuted * ranks, axis=axis),
        permutation_type="pairings",
        n_resamples=math.factorial(_LARGEST_EXACT_N),
        vectorized=True,
        alternative="two-sided",
    )
    return rho, float(exact.pvalue)


def correlate(runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Spearman's correlation of energy and time, both per sample or per run, within each group of comparable cells.

    It describes the measured cells, with neither p nor interval, since they were chosen and are no random sample.
    Batch sizes and phases are not pooled: they differ more than any cells, which alone would give a rho near 1.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: compare.

    Returns:
        CORRELATIONS_COLUMNS, one row per group of at least 3 cells.
    """
    rows = totals(runs)
    energy, time = quantities = headline_of_runs(rows).quantities
    known = rows[rows["counts"] & rows[quantities].notna().all(axis=1)]
    means = known.groupby("cell")[quantities].mean()
    estimated = known.groupby("cell")["estimated"].any()
    found = []
    for group, cells in groups(cells_of(rows), settings["compare"]).items():
        there = [cell.id for cell in cells if cell.id in means.index]
        if len(there) < _SMALLEST_N:
            continue
        rho, _ = spearman(means.loc[there, energy], means.loc[there, time])
        by_estimate = bool(estimated[there].any())
        notes = ["no correlation: one value is constant"] if rho is None else []
        # The estimate assigns power by processor load, so that energy follows time by construction.
        notes += ["energy is estimated from processor time, so that it follows time"] if by_estimate else []
        found.append([group, energy, time, len(there), rho, by_estimate, "; ".join(notes)])
    return pd.DataFrame(found, columns=CORRELATIONS_COLUMNS).astype({"n_cells": "Int64", "rho": "float64"})
