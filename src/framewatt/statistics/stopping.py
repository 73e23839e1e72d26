"""Stopping rules: an anytime-valid t-test, looked at after every block, and intervals at looks fixed in advance (pure).

Values are logarithms of the cells' costs, one row per block and one column per cell, NaN where a run does not count.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from framewatt.statistics.best_set import level_of
from framewatt.statistics.log_ratios import LogRatio, log_ratio

Values = NDArray[np.float64]

PRIOR_PRECISION = 0.25
"""1 over the variance of the normal prior of effect sizes (mean over standard deviation of the blocks' log ratios). Of
the values 0.05 to 1 tried by simulation, it stops soonest where the best of seven cells leads by 20 %
(docs/stopping.md)."""

_Critical = Callable[[int], float]
"""Maps a number of differences to the half-width of their interval, in standard errors."""

_LARGEST_LOG = 600.0
_WIDEST = 20.0
"""Largest logarithm of a ratio for the end of an interval; wider intervals say nothing."""


def evidence(differences: Values) -> Values:
    """Evidence of the first n differences for a mean above 0, for every n: a one-sided t-test e-process.

    The likelihood of the differences where their mean over their standard deviation has a half-normal prior above 0,
    over that where it is 0; the standard deviation has the right Haar prior 1/sigma in both. Under a mean of 0 it is a
    martingale with respect to the differences' scale-free part (Perez-Ortiz, Lardy, de Heide, Grunwald, "E-statistics,
    group invariance and anytime-valid testing", Annals of Statistics 2024; Wang, Ramdas, "Anytime-valid t-tests and
    confidence sequences for Gaussian means with unknown variance", Sequential Analysis 2025; two-sided: Lindon, Ham,
    Tingley, Bojinov, "Anytime-valid inference in linear models and regression-adjusted causal inference", 2022), so by
    Ville's inequality it ever reaches 1/a with a probability of at most a. It grows with the t statistic: where the
    true mean is below 0 it is smaller than that of the differences minus their true mean, so it errs less often.

    Args:
        differences: shape (..., n), in the order of the blocks; NaN is left out.

    Returns:
        shape (..., n): the e-value after each block; 1 before the first difference, and where all are 0.
    """
    known = np.isfinite(differences)
    values = np.where(known, differences, 0.0)
    n, total = np.cumsum(known, axis=-1, dtype=np.float64), np.cumsum(values, axis=-1)
    squares = np.cumsum(values**2, axis=-1)
    shrunk = n + PRIOR_PRECISION
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = squares - total**2 / shrunk
        logarithm = 0.5 * np.log(PRIOR_PRECISION / shrunk) + n / 2 * (np.log(squares) - np.log(rest))
        above = stdtr(n, total / np.sqrt(shrunk * rest / n))
        found = 2 * above * np.exp(np.minimum(logarithm, _LARGEST_LOG))
    return np.where((n > 0) & (squares > 0), found, 1.0)


@functools.cache
def critical_t(n: int, threshold: float) -> float:
    """The t statistic (mean over its standard error) of n differences at which `evidence` reaches a threshold.

    Args:
        n: at least 2.
        threshold: above 1.

    Returns:
        the statistic; infinity where n differences cannot reach the threshold.
    """
    shrunk = n + PRIOR_PRECISION

    def excess(t: float) -> float:
        # Differences of mean t / sqrt(n) and standard deviation 1 about it.
        total, squares = math.sqrt(n) * t, t**2 + n - 1
        rest = squares - total**2 / shrunk
        logarithm = 0.5 * math.log(PRIOR_PRECISION / shrunk) + n / 2 * math.log(squares / rest)
        above = stdtr(n, total / math.sqrt(shrunk * rest / n))
        return logarithm + math.log(2 * above) - math.log(threshold)

    most = 1e6
    return float(brentq(excess, 0.0, most)) if excess(most) > 0 else math.inf


@dataclass(frozen=True)
class Ratio:
    """Cost ratio of two cells, from the blocks in which both runs count.

    Attributes:
        blocks: number of these blocks.
        ratio, low, high: geometric mean of the blocks' ratios, and its interval; NaN where there is none.
    """

    blocks: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Look:
    """What is known after some blocks.

    Attributes:
        leader: column of the cell that others are compared to; None where no cell has a value.
        others: by column, the ratio of every other cell that has a value to the leader.
        e_values: by the same columns, the largest e-value so far for "the leader takes less"; empty for intervals.
        settled: whether no further block is needed.
    """

    leader: int | None
    others: dict[int, Ratio]
    e_values: dict[int, float]
    settled: bool


def threshold_of(cells: int, alpha: float) -> float:
    """The e-value at which one cell is known to take less than another, in a group of so many cells.

    A cell is falsely called the best only if it reaches the threshold against the truly best, or against one that costs
    the same; there are as many such events as cells, each with a probability of at most 1 over the threshold.
    """
    return cells / alpha


def look_for_best(logs: Values, alpha: float, leader: int | None = None) -> Look:
    """Whether one cell is known to take the least: its e-value against every other one has reached the threshold.

    It may have done so after any block so far, not only after the last. At whichever block the study stops, the
    probability of ever calling a cell the best that is not, or that ties with others, is at most alpha.

    Args:
        logs: shape (blocks, cells), see the module.
        alpha: probability of an error, in this group.
        leader: column of the cell that others are compared to; None takes the one with the least geometric mean.

    Returns:
        the look; intervals hold at all looks together, with a confidence of 1 - 2 / threshold each.
    """
    cells = [int(cell) for cell in np.flatnonzero(np.isfinite(logs).any(axis=0))]
    leader = _leader(logs, cells) if leader is None else leader
    if leader is None:
        return Look(None, {}, {}, settled=True)
    others = [cell for cell in cells if cell != leader]
    threshold = threshold_of(logs.shape[1], alpha)
    ratios = {cell: _ratio(logs[:, cell] - logs[:, leader], _by_evidence(threshold)) for cell in others}
    e_values = {cell: float(evidence(logs[:, cell] - logs[:, leader]).max(initial=1.0)) for cell in others}
    return Look(leader, ratios, e_values, all(value >= threshold for value in e_values.values()))


def look_for_best_by_t(logs: Values, alpha: float, looks: Sequence[int], leader: int | None = None) -> Look:
    """Whether one cell is known to take the least: t-tests at a few looks that were fixed beforehand.

    Each test is one-sided, at `level_of` over the number of looks (Bonferroni), as those of the study's answer: so what
    an earlier look showed holds, too. A cell of which too few runs count for a test is not known to take more.

    Args:
        logs: shape (blocks, cells), see the module.
        alpha: probability of an error over all looks, in this group.
        looks: blocks of all looks, fixed before the first.
        leader: see `look_for_best`.

    Returns:
        the look; its intervals hold at all looks together, with a confidence of 1 - 2 x level each.
    """
    cells = [int(cell) for cell in np.flatnonzero(np.isfinite(logs).any(axis=0))]
    leader = _leader(logs, cells) if leader is None else leader
    if leader is None:
        return Look(None, {}, {}, settled=True)
    level = level_of(logs.shape[1], alpha / len(looks))
    ratios, known = {}, True
    for cell in (cell for cell in cells if cell != leader):
        counts = [*(count for count in looks if count < len(logs)), len(logs)]
        pairs = [log_ratio(logs[:count, cell], logs[:count, leader], paired=True) for count in counts]
        known &= any(pair.p_more() <= level for pair in pairs)
        ratios[cell] = _with_interval(pairs[-1], level)
    return Look(leader, ratios, {}, known)


def _with_interval(pair: LogRatio, tail: float) -> Ratio:
    low, high = (float(end) for end in pair.within(tail))
    if not math.log(max(high, 1.0)) < _WIDEST:
        low = high = math.nan
    return Ratio(int(pair.runs), float(pair.ratio), low, high)


def look_at_interval(logs: Values, alpha: float, looks: int, width: float, leader: int | None = None) -> Look:
    """Whether the ratio of every cell to the one that takes the least is known to a relative precision.

    Intervals are t on logarithms, at 1 - alpha over (looks x pairs of cells): with a confidence of 1 - alpha every
    ratio of two cells of the group lies in its interval at each of the looks (Bonferroni). So neither stopping once the
    intervals are narrow nor choosing the leader from the data lowers the confidence.

    Args:
        logs: shape (blocks, cells), see the module.
        alpha: probability that some interval does not hold, in this group.
        looks: largest number of looks, fixed before the first.
        width: the look is settled where every interval's upper end is at most this share above the ratio.
        leader: see `look_for_best`.
    """
    cells = [int(cell) for cell in np.flatnonzero(np.isfinite(logs).any(axis=0))]
    leader = _leader(logs, cells) if leader is None else leader
    if leader is None:
        return Look(None, {}, {}, settled=True)
    share = alpha / (looks * max(1, math.comb(logs.shape[1], 2)))
    others = [cell for cell in cells if cell != leader]
    ratios = {cell: _ratio(logs[:, cell] - logs[:, leader], _by_t(share)) for cell in others}
    narrow = all(one.high / one.ratio - 1 <= width for one in ratios.values())
    return Look(leader, ratios, {}, narrow)


def _leader(logs: Values, cells: Sequence[int]) -> int | None:
    """The cell with the least mean over the blocks that all have, or else over its own blocks; the first of ties."""
    if not cells:
        return None
    complete = np.isfinite(logs[:, cells]).all(axis=1)
    used = logs[complete][:, cells] if complete.any() else logs[:, cells]
    return cells[int(np.argmin(np.nanmean(used, axis=0)))]


def _by_evidence(threshold: float) -> _Critical:
    return functools.partial(critical_t, threshold=threshold)


def _by_t(share: float) -> _Critical:
    return functools.partial(_two_sided_t, share=share)


def _two_sided_t(n: int, share: float) -> float:
    return float(stdtrit(n - 1, 1 - share / 2))


def _ratio(differences: Values, critical: _Critical) -> Ratio:
    """The ratio from differences of logarithms, with an interval of `critical` standard errors to either side."""
    known = differences[np.isfinite(differences)]
    if not known.size:
        return Ratio(0, math.nan, math.nan, math.nan)
    mean = float(known.mean())
    if known.size == 1:
        return Ratio(1, math.exp(mean), math.nan, math.nan)
    half = critical(known.size) * float(known.std(ddof=1)) / math.sqrt(known.size)
    if not half < _WIDEST:
        return Ratio(int(known.size), math.exp(mean), math.nan, math.nan)
    return Ratio(int(known.size), math.exp(mean), math.exp(mean - half), math.exp(mean + half))
