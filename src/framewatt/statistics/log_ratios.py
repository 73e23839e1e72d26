"""Cost ratios of cells by Student's t on logarithms, and the residuals of runs after cell and block effects.

Written out in NumPy, so that simulations of thousands of studies can call the same code; tests compare it with SciPy.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special, stats

Floats = npt.NDArray[np.float64]

FEWEST = 3
"""Fewest blocks (or runs of a cell) for a test: of two, the noise may look far smaller than it is."""

_ROUNDING = 1e-12
"""Largest difference of logarithms that counts as rounding."""


@dataclass(frozen=True)
class LogRatio:
    """Logarithms of ratios a / b and their errors; arrays of one shape, NaN where there are too few runs.

    Attributes:
        mean: logarithm of the geometric mean of ratios, known from one run on.
        error: its standard error; 0 where the ratio does not vary at all.
        freedom: degrees of freedom of the error.
        least_p: smallest one-sided p of a sign or rank test with so many runs, used where the ratio does not vary.
        runs: number of blocks that both cells have, or without blocks the runs of the cell with fewer.
    """

    mean: Floats
    error: Floats
    freedom: Floats
    least_p: Floats
    runs: npt.NDArray[np.int64]

    def p_more(self) -> Floats:
        """One-sided p of "a costs no more than b": small where a costs more.

        A ratio that is the same in every block shows no noise, so t would give p = 0 after two blocks. The p is then
        that of the sign test, which needs no estimate of noise: 2^-n for n blocks.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            p = special.stdtr(self.freedom, -self.mean / self.error)
        still = np.where(self.mean > 0, self.least_p, np.where(self.mean < 0, 1.0, 0.5))
        return np.where(np.isfinite(self.error), np.where(self.error > 0, p, still), np.nan)

    def p_two_sided(self) -> Floats:
        """Two-sided p of "both cost the same"."""
        away = LogRatio(np.abs(self.mean), self.error, self.freedom, self.least_p, self.runs)
        return np.minimum(1.0, 2 * away.p_more())

    def within(self, tail: float) -> tuple[Floats, Floats]:
        """Ends of the ratio's interval (not of its logarithm), NaN where the noise is unknown.

        Args:
            tail: probability beyond either end: 0.025 for 95 %.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            half = special.stdtrit(self.freedom, 1 - tail) * np.where(self.error > 0, self.error, np.nan)
            return np.exp(self.mean - half), np.exp(self.mean + half)

    @property
    def ratio(self) -> Floats:
        """Geometric mean of the ratios a / b."""
        return np.exp(self.mean)


def logs_of(values: npt.ArrayLike) -> Floats:
    """Return logarithms; NaN where a value is missing, 0 or negative."""
    given = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(given > 0, np.log(given), np.nan)


def number(value: npt.ArrayLike) -> float | None:
    """Return the only number of an array as a float; None where it is NaN or infinite."""
    one = float(np.asarray(value))
    return one if np.isfinite(one) else None


def log_ratio(a: Floats, b: Floats, *, paired: bool) -> LogRatio:
    """Return the ratios of two cells, or of many pairs of cells at once, by Student's t on logarithms.

    Paired: t on the differences within blocks that both have (scipy's ttest_rel on logarithms). Else Welch's t (1947)
    with Satterthwaite's degrees of freedom (scipy's ttest_ind with equal_var=False); where one cell has fewer runs,
    with those of that cell, which are never too many.

    Args:
        a: shape (..., n_a), logarithms (see logs_of), NaN where a run is missing.
        b: shape (..., n_b), in the same unit; where `paired`, of the same length, block by block.
        paired: whether runs at the same index belong to one block.
    """
    return _paired(a, b) if paired else _welch(a, b)


def all_pairs(logs: Floats, *, paired: bool) -> LogRatio:
    """Return the ratios of every cell to every other.

    Args:
        logs: shape (..., cells, runs).
        paired: whether runs at the same index belong to one block.

    Returns:
        arrays of shape (..., cells, cells): row over column.
    """
    return log_ratio(logs[..., :, None, :], logs[..., None, :, :], paired=paired)


def _paired(a: Floats, b: Floats) -> LogRatio:
    n, mean, variance = _moments(a - b)
    with np.errstate(divide="ignore", invalid="ignore"):
        error, freedom = np.asarray(np.sqrt(variance / n)), np.asarray(n - 1.0)
    return _ratio_where_known(mean, error, freedom, np.exp2(-1.0 * n), n)


def _welch(a: Floats, b: Floats) -> LogRatio:
    (n_a, mean_a, variance_a), (n_b, mean_b, variance_b) = _moments(a), _moments(b)
    with np.errstate(divide="ignore", invalid="ignore"):
        part_a, part_b = variance_a / n_a, variance_b / n_b
        freedom = (part_a + part_b) ** 2 / (part_a**2 / (n_a - 1) + part_b**2 / (n_b - 1))
        freedom = np.where(part_a + part_b > 0, freedom, n_a + n_b - 2.0)
        # Satterthwaite's degrees of freedom are too many where the cell with fewer runs is the noisier one.
        freedom = np.where(n_a == n_b, freedom, np.minimum(n_a, n_b) - 1.0)
        least = 1 / special.binom(n_a + n_b, n_a)
        return _ratio_where_known(mean_a - mean_b, np.sqrt(part_a + part_b), freedom, least, np.minimum(n_a, n_b))


def _moments(values: Floats) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Number, mean and variance (n - 1) of the values that are not NaN, along the last axis; rounding counts as 0."""
    known = np.isfinite(values)
    n = known.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=-1) / n
        off = np.where(known, values - mean[..., None], 0.0)
        variance = (off**2).sum(axis=-1) / (n - 1)
    still = np.abs(off).max(axis=-1, initial=0.0) <= _ROUNDING * np.maximum(1.0, np.abs(np.nan_to_num(mean)))
    return n, mean, np.where(still, 0.0, variance)


def _ratio_where_known(
    mean: Floats, error: Floats, freedom: Floats, least_p: Floats, runs: npt.NDArray[np.int64]
) -> LogRatio:
    enough = runs >= FEWEST
    error, freedom, least_p = (np.where(enough, one, np.nan) for one in (error, freedom, least_p))
    return LogRatio(np.where(runs > 0, mean, np.nan), error, freedom, least_p, runs)


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
    """Return logarithms of runs minus the median of their block's other cells, then of their cell's other runs.

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
    """Return which runs are beyond BEYOND median absolute deviations, of their cell or of the study, if that is larger.

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
    """Return the coefficient of variation of each cell's runs after block effects, in percent.

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
