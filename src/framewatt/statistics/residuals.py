"""What is left of runs less their cell and their block: how they scatter, and which of them are odd."""

import warnings

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.statistics.log_ratios import logs_of

BEYOND = 3.5
"""Median absolute deviations (made those of a normal distribution) beyond which a run is odd (Iglewicz, Hoaglin
1993)."""

FEWEST_RUNS = 4
"""Runs of a cell below which none of them is called odd."""

FEWEST_CELLS = 4
"""Cells below which a block's own noise cannot be told from that of one run in it: the median of the others is that of
three at least."""

_NO_SCATTER = 0.01
"""Scatter that is reckoned with where half of all runs or more show none, as meters of few digits give."""


def residuals(values: pd.DataFrame, *, paired: bool) -> pd.DataFrame:
    """Logarithms of runs less the median of their block's other cells, and then less that of their cell's other runs.

    One odd run moves no other by much, and none is taken from itself, which would leave the middle ones with nothing.
    Blocks are taken out where runs are blocks of FEWEST_CELLS or more.

    Args:
        values: one row per block, one column per cell, NaN where a run is missing (see block_values) of the study: what
            a block has in common is best seen in all its cells.
        paired: whether the runs of a row belong to one block.

    Returns:
        the same shape, natural logarithms; NaN where a run is missing, 0 or less, or the only one of its cell.
    """
    left = pd.DataFrame(logs_of(values.to_numpy(dtype=np.float64)), index=values.index, columns=values.columns)
    left = left.sub(left.median(axis=0), axis=1)
    if paired and left.shape[1] >= FEWEST_CELLS:
        enough = left.notna().sum(axis=1) >= FEWEST_CELLS
        left = left - _median_of_others(left.T).T.where(enough, 0.0, axis=0)
    return left - _median_of_others(left)


def _median_of_others(columns: pd.DataFrame) -> pd.DataFrame:
    """Of each value, the median of the other ones of its column; NaN where there is none."""
    values = columns.to_numpy()
    with warnings.catch_warnings():
        # NumPy warns of a column of nothing, and gives NaN, which is right.
        warnings.simplefilter("ignore", RuntimeWarning)
        others = [np.nanmedian(np.delete(values, row, axis=0), axis=0) for row in range(len(values))]
    return pd.DataFrame(np.reshape(others, values.shape), index=columns.index, columns=columns.columns)


def outlying(left: pd.DataFrame) -> pd.DataFrame:
    """Which runs lie beyond BEYOND median absolute deviations: of their cell or of the study, whichever scatters more.

    That of a cell of five runs is a poor estimate, which alone would have many healthy cells flagged; that of the study
    alone would flag whatever scatters more than the rest.

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
    """Coefficient of variation of each cell's runs less what their blocks have in common, in percent.

    Standard deviation of logarithms about the cell's mean and the blocks' medians over cells (of two cells: means, so
    that both have the same), with n - 1 degrees of freedom and the share of a block that its cell itself made up.

    Args:
        values: one row per block, one column per cell, of the whole study.
        paired: whether the runs of a row belong to one block.

    Returns:
        by cell; NaN for fewer than two runs or cells, or where runs are no blocks.
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
