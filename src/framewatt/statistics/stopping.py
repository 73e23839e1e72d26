"""Stopping rules, and the tests of a study that looked at its results before it stopped (pure functions).

A rule is an anytime-valid t-test, looked at after every block, or t-tests and intervals at looks fixed in advance.

Values are logarithms of the cells' costs, one row per block and one column per cell, NaN where a run does not count.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from framewatt.statistics.best_set import BestSet, best_set, leader_of, level_of
from framewatt.statistics.log_ratios import LogRatio, all_pairs, log_ratio

Values = NDArray[np.float64]

PRIOR_PRECISION = 0.25
"""1 over the variance of the normal prior of effect sizes (mean over standard deviation of the blocks' log ratios). Of
the values 0.05 to 1 tried by simulation, it stops soonest where the best of seven cells leads by 20 %
(docs/stopping.md)."""

_Critical = Callable[[int], float]
"""Maps a number of differences to the half-width of their interval, in standard errors."""

_LARGEST_LOG = 600.0
_WIDEST = 20.0
"""Largest logarithm of a ratio for the end of an interval; wider intervals are useless."""


def evidence(differences: Values) -> Values:
    """Return the evidence of the first n differences for a mean above 0, for every n: a one-sided t-test e-process.

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
        e_values = 2 * above * np.exp(np.minimum(logarithm, _LARGEST_LOG))
    return np.where((n > 0) & (squares > 0), e_values, 1.0)


@functools.cache
def critical_t(n: int, threshold: float) -> float:
    """Return the t statistic (mean over its standard error) of n differences at which `evidence` reaches a threshold.

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
    """Return the e-value at which one cell is known to take less than another, in a group of so many cells.

    A cell is falsely called the best only if it reaches the threshold against the truly best, or against one that costs
    the same; there are as many such events as cells, each with a probability of at most 1 over the threshold.
    """
    return cells / alpha


def look_for_best(logs: Values, alpha: float, leader: int | None = None) -> Look:
    """Return whether one cell is known to take the least: its e-value against every other has reached the threshold.

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
    """Return whether one cell is known to take the least, by t-tests at a few looks that were fixed beforehand.

    Each test is one-sided, at `level_of` over the number of looks (Bonferroni), as those of the study's answer: so what
    an earlier look showed holds, too. A cell with too few runs for a test is not known to take more.

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
    """Return whether the ratio of every cell to the cheapest is known to a relative precision.

    Intervals are t on logarithms, at 1 - alpha over (looks x pairs of cells): with a confidence of 1 - alpha every
    ratio of two cells of the group is inside its interval at each of the looks (Bonferroni). So neither stopping once
    the intervals are narrow nor choosing the leader from the data lowers the confidence.

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


@dataclass(frozen=True)
class Looks:
    """How a study looked at its results.

    Attributes:
        until_known: it looked after every block and stopped when the best was known; its tests are e-processes.
        most: largest number of looks under any other rule; 1 is a single look at the end.
        at: the blocks after which it looked for the best by t-tests; empty under any other rule.
        confirmed: whether later blocks must confirm what an earlier look showed. Packages from before that rule state
            what the earlier look showed.
    """

    until_known: bool = False
    most: int = 1
    at: tuple[int, ...] = ()
    confirmed: bool = False

    @property
    def words(self) -> str:
        """How the tests differ from those of a study that looks once, in words; empty where they do not."""
        if self.until_known:
            return "as an e-process, which may be looked at after every block"
        return f"at one of {self.most} looks" if self.most > 1 else ""


ONCE = Looks()
"""A study with a number of blocks that was fixed beforehand."""


@dataclass(frozen=True)
class AtLooks(LogRatio):
    """Logarithms of ratios from a study that looked for the best at a few fixed blocks, by t-tests.

    Its interval is that of the last look, which saw all runs.

    Attributes:
        looks: what each look saw. At the level of one look, what any of them shows holds.
    """

    looks: tuple[LogRatio, ...]

    def p_more(self) -> Values:
        """The smallest p of all looks; NaN where at none enough runs of both cells count."""
        return np.asarray(np.fmin.reduce([look.p_more() for look in self.looks]))


@dataclass(frozen=True)
class LookedAt(LogRatio):
    """Logarithms of ratios from a study that looked after every block and might have stopped there.

    Attributes:
        e_more: the largest e-value so far for "a costs more".
    """

    e_more: Values

    def p_more(self) -> Values:
        """One over the e-value, a p that is valid whichever block the study stops after."""
        return np.asarray(np.where(self.runs > 0, np.minimum(1.0, 1 / self.e_more), np.nan))

    def within(self, tail: float) -> tuple[Values, Values]:
        """Ends of intervals that hold at all blocks simultaneously."""
        critical = np.vectorize(lambda n: critical_t(int(n), 1 / tail) if n > 1 else np.nan, otypes=[float])(self.runs)
        with np.errstate(invalid="ignore", over="ignore"):
            half = critical * np.where(self.error > 0, self.error, np.nan)
            half = np.where(np.isfinite(half), half, np.nan)
            return np.exp(self.mean - half), np.exp(self.mean + half)


def best_of(
    logs: Values, alpha: float, looks: Looks, *, paired: bool, repetitions: Sequence[int] | None = None
) -> BestSet:
    """The confidence set of a group's best (see best_set), for a study that may have looked before it stopped.

    Args:
        logs: shape (cells, blocks), logarithms, NaN where a run is missing.
        alpha: largest probability that the set misses the cheapest cell.
        looks: how it looked.
        paired: whether runs at the same index belong to one block.
        repetitions: number of each block; 1, 2, … if None.
    """
    blocks = np.arange(1, logs.shape[-1] + 1) if repetitions is None else np.asarray(repetitions)

    def at_looks(pairs: LogRatio, logs: Values) -> LogRatio:
        earlier = [all_pairs(logs[:, blocks <= last], paired=True) for last in looks.at if last < blocks.max(initial=0)]
        return AtLooks(**_fields_of(pairs), looks=(*earlier, pairs))

    def after_every_block(pairs: LogRatio, logs: Values) -> LogRatio:
        differences: NDArray[np.float64] = logs[:, None, :] - logs[None, :, :]
        return LookedAt(**_fields_of(pairs), e_more=evidence(differences).max(axis=-1, initial=1.0))

    if looks.until_known:
        level = 1 / threshold_of(int(np.isfinite(logs).any(axis=-1).sum()), alpha)
        best = best_set(logs, alpha, paired=True, level=level, test=after_every_block)
    elif looks.at:
        best = best_set(logs, alpha / looks.most, paired=True, test=at_looks)
    else:
        best = best_set(logs, alpha / looks.most, paired=paired)
    return confirmed(best) if looks.confirmed else best


def confirmed(best: BestSet) -> BestSet:
    """The set with the cells that it lacks only because of an earlier look, which all blocks together do not confirm.

    A cell stays out only if another one was shown to cost less, and still does so on average over the blocks that both
    have.

    Args:
        best: the set of a group, of what any look showed.
    """
    out = (best.shown & (best.pairs.mean > 0)).any(axis=-1)
    inside = np.asarray(best.known & ~out)
    # Over different blocks each cell may cost more than another, so that none would be left.
    inside = inside if inside.any() else best.known
    return replace(best, inside=inside, reference=leader_of(best.pairs, inside))


def _fields_of(ratio: LogRatio) -> dict[str, Any]:
    """Return the fields of a ratio, for a class that adds to them."""
    return {field.name: getattr(ratio, field.name) for field in fields(LogRatio)}
