"""Residuals of runs after cell and block effects: their scatter, and outlying runs."""

import warnings

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.statistics.log_ratios import logs_of

BEYOND = 3.5
"""Median absolute deviations (scaled to a normal distribution's standard deviation) beyond which a run is outlying
(Iglewicz, Hoaglin 1993)."""

FEWEST_RUNS = 4
"""Fewest runs of a cell in which a run can be called outlying."""

FEWEST_CELLS = 4
"""Fewest cells for block effects: with fewer, noise of a block cannot be separated from that of a single run in it (the
median of the other cells should be over three at least)."""

_NO_SCATTER = 0.01
"""Assumed scatter where at least half of all runs show none, as with coarse meters."""


def residuals(values: pd.DataFrame, *, paired: bool) -> pd.DataFrame:
    """Logarithms of runs minus the median of their block's other cells, then minus that of their cell's other runs.

    Medians keep one odd run from moving the others much. A run is not part of its own median, else the middle run of a
    cell would always have residual 0. Block effects are removed where blocks have FEWEST_CELLS cells or more.

    Args:
        values: one row per block, one column per cell of the whole study (all cells show the block effect best), NaN
            where a run is missing (see block_values).
        paired: whether the runs of a row belong to one block.

    Returns:
        the same shape, natural logarithms; NaN where a run is missing, 0 or negative, or the only one of its cell.
    """
    left = pd.DataFrame(logs_of(values.to_numpy(dtype=np.float64)), index=values.index, columns=values.columns)
    left = left.sub(left.median(axis=0), axis=1)
    if paired and left.shape[1] >= FEWEST_CELLS:
        enough = left.notna().sum(axis=1) >= FEWEST_CELLS
        left = left - _median_of_others(left.T).T.where(enough, 0.0, axis=0)
    return left - _median_of_others(left)


def _median_of_others(columns: pd.DataFrame) -> pd.DataFrame:
    """For each value, the median of the other values in its column; NaN where there are none."""
    values = columns.to_numpy()
    with warnings.catch_warnings():
        # NumPy warns of an all-NaN column and returns NaN, which is right.
        warnings.simplefilter("ignore", RuntimeWarning)
        others = [np.nanmedian(np.delete(values, row, axis=0), axis=0) for row in range(len(values))]
    return pd.DataFrame(np.reshape(others, values.shape), index=columns.index, columns=columns.columns)


def outlying(left: pd.DataFrame) -> pd.DataFrame:
    """Runs beyond BEYOND median absolute deviations, of their cell or of the study, whichever is larger.

    The deviation of a cell of five runs is a poor estimate, which alone would flag runs in many healthy cells; that of
    the study alone would flag runs of any cell that scatters more than the rest.

    Args:
        left: from `residuals`.

    Returns:
        the same shape, bool; False for cells of fewer than FEWEST_RUNS runs.
    """
    enough = left.notna().sum(axis=0) >= FEWEST_RUNS
    pooled = left.loc[:, enough].abs().stack().median() if enough.any() else np.nan
    scale = left.abs().median(axis=0).clip(lower=pooled) / float(stats.norm.ppf(0.75))
    return left.abs().gt(BEYOND * scale.where(scale > 1e-12, _NO_SCATTER), axis=1) & enough


def scatter_percent(values: pd.DataFrame, *, paired: bool) -> "pd.Series[float]":
    """Coefficient of variation of each cell's runs after block effects, in percent.

    Standard deviation of logarithms about the cell's mean and the blocks' medians over cells (with fewer than
    FEWEST_CELLS cells: means, so that two cells get the same), with n - 1 degrees of freedom, corrected for the cell's
    own share in the block effect.

    Args:
        values: one row per block, one column per cell, of the whole study.
        paired: whether the runs of a row belong to one block.

    Returns:
        by cell; NaN for fewer than two runs or cells, or without blocks.
    """
    left = pd.DataFrame(logs_of(values.to_numpy(dtype=np.float64)), index=values.index, columns=values.columns)
    left = left.sub(left.mean(axis=0), axis=1)
    cells = left.notna().sum(axis=1)
    if not paired or left.shape[1] < 2:
        return pd.Series(np.nan, index=values.columns)
    common = left.median(axis=1) if left.shape[1] >= FEWEST_CELLS else left.mean(axis=1)
    left = left.sub(common, axis=0)[cells >= 2]
    left = left.sub(left.mean(axis=0), axis=1)
    share = 1 - 1 / cells[cells >= 2].mean() if (cells >= 2).any() else np.nan
    n = left.notna().sum(axis=0)
    variance = (left**2).sum(axis=0, min_count=2) / ((n - 1).where(n > 1) * share)
    return 100 * np.sqrt(np.expm1(variance))
