"""Ratios over several machines, each of which is a stratum: blocks are compared within a machine, machines weigh alike.

Plain NumPy as in log_ratios, so that simulations of thousands of studies can call the same code.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from framewatt.statistics.best_set import BestSet, best_set
from framewatt.statistics.log_ratios import Floats, LogRatio
from framewatt.statistics.looks import ONCE, Looks, best_of


@dataclass(frozen=True)
class LookedAcross(LogRatio):
    """Mean logarithms of ratios over machines each of which stopped by itself, when its own answer was known.

    Nothing is pooled, since each number of blocks depends on what was seen: a costs more in the mean where it does on
    every machine, at the p of the machine that shows it least; ends of intervals are means of the machines' own, each
    at its part of the probability.

    Attributes:
        parts: of each machine.
    """

    parts: Sequence[LogRatio] = field(default=())

    def p_more(self) -> Floats:
        """One-sided p of "a costs no more than b in the mean": that of an intersection-union test (Berger 1982)."""
        return np.asarray(np.max([part.p_more() for part in self.parts], axis=0))

    def within(self, tail: float) -> tuple[Floats, Floats]:
        """Ends of the mean ratio's interval."""
        ends = [part.within(tail / len(self.parts)) for part in self.parts]
        low, high = (np.exp(np.mean([np.log(end[i]) for end in ends], axis=0)) for i in (0, 1))
        return low, high


def over(parts: Sequence[LogRatio]) -> LogRatio:
    """The mean of independent strata's logarithms, with the error of that mean.

    Every stratum weighs alike, so that the mean is of these strata whether or not they agree. Degrees of freedom by
    Satterthwaite (1946). NaN where a stratum knows no ratio, or no error.

    Args:
        parts: of each stratum, of one shape.
    """
    count = len(parts)
    mean = np.mean([part.mean for part in parts], axis=0)
    variances = [(part.error / count) ** 2 for part in parts]
    total = np.sum(variances, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = total**2 / np.sum([v**2 / part.freedom for v, part in zip(variances, parts, strict=True)], axis=0)
    least_freedom = np.sum([part.freedom for part in parts], axis=0)
    freedom = np.where(total > 0, freedom, least_freedom)
    least_p = np.prod([part.least_p for part in parts], axis=0)
    runs = np.sum([part.runs for part in parts], axis=0)
    return LogRatio(mean, np.sqrt(total), freedom, least_p, runs)


def between(one: LogRatio, other: LogRatio) -> LogRatio:
    """Logarithms of how much a ratio differs between two strata: that of one over that of the other (Welch)."""
    turned = LogRatio(-other.mean, other.error, other.freedom, other.least_p, other.runs)
    mean = over([one, turned])
    return LogRatio(2 * mean.mean, 2 * mean.error, mean.freedom, mean.least_p, mean.runs)


@dataclass(frozen=True)
class Stratified:
    """The cheapest cells of a group over several machines.

    Attributes:
        whole: the confidence set of the cell of least geometric mean over these machines.
        alone: the set of each machine by itself, at alpha.
        joint: the same at alpha over the number of machines, so that all of them hold together.
    """

    whole: BestSet
    alone: Sequence[BestSet]
    joint: Sequence[BestSet]

    @property
    def agree(self) -> bool:
        """Whether some cell may be the cheapest on every machine, by each machine's own set."""
        return bool(_common(self.alone).any())

    @property
    def contradict(self) -> bool:
        """Whether it is known that no cell is the cheapest on every machine."""
        return not _common(self.joint).any()

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Which cells may be the best over all: of least mean, or cheapest on every machine; none where they disagree.

        A cell that some machine excludes is no answer for all of them by itself, however its mean is.
        """
        if not self.agree:
            return np.zeros_like(self.whole.inside)
        return np.asarray(self.whole.inside | _common(self.alone))


def _common(sets: Sequence[BestSet]) -> npt.NDArray[np.bool_]:
    return np.asarray(np.all([one.inside for one in sets], axis=0))


def stratified(
    logs: Sequence[Floats],
    alpha: float,
    *,
    paired: bool,
    looks: Looks = ONCE,
    repetitions: Sequence[Sequence[int]] | None = None,
) -> Stratified:
    """Find the cheapest cells of a group over machines.

    Args:
        logs: of each machine, shape (cells, its blocks), the same cells in the same order, each with a run that counts;
            NaN where a run is missing.
        alpha: largest probability that the set of the whole misses the cell of least geometric mean over machines.
        paired: whether runs at the same index of a machine belong to one block.
        looks: how the study looked at its results before it stopped.
        repetitions: numbers of each machine's blocks; 1, 2, … on each if None.
    """
    blocks = [None] * len(logs) if repetitions is None else repetitions
    pairs = list(zip(logs, blocks, strict=True))
    alone = [best_of(part, alpha, looks, paired=paired, repetitions=of) for part, of in pairs]
    joint = [best_of(part, alpha / len(logs), looks, paired=paired, repetitions=of) for part, of in pairs]
    parts = [one.pairs for one in alone]
    mean = over(parts)
    level = alone[0].level if looks.until_known else None
    if looks.until_known:
        mean = LookedAcross(mean.mean, mean.error, mean.freedom, mean.least_p, mean.runs, parts=parts)
    # A test of one of several looks, as best_of has it.
    divided = alpha if looks.until_known else alpha / looks.most
    together = np.concatenate(logs, axis=-1)
    whole = best_set(together, divided, paired=paired, level=level, test=lambda pairs, logs: mean)
    return Stratified(whole, alone, joint)
