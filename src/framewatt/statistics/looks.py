"""Adjusts tests and intervals for optional stopping: the study may have looked at its results before it stopped."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framewatt.statistics.best_set import BestSet, best_set
from framewatt.statistics.log_ratios import Floats, LogRatio
from framewatt.statistics.stopping import critical_t, evidence, threshold_of


@dataclass(frozen=True)
class Looks:
    """How a study looked at its results.

    Attributes:
        until_known: it looked after every block and stopped when the best was known; its tests are e-processes.
        most: largest number of looks under any other rule; 1 is a single look at the end.
    """

    until_known: bool = False
    most: int = 1

    @property
    def words(self) -> str:
        """How the tests differ from those of a study that looks once, in words; empty where they do not."""
        if self.until_known:
            return "as an e-process, which may be looked at after every block"
        return f"at one of {self.most} looks" if self.most > 1 else ""


ONCE = Looks()
"""A study whose number of blocks was fixed beforehand."""


@dataclass(frozen=True)
class LookedAt(LogRatio):
    """Logarithms of ratios from a study that looked after every block and might have stopped there.

    Attributes:
        e_more: the largest e-value so far for "a costs more".
    """

    e_more: Floats

    def p_more(self) -> Floats:
        """One over the e-value, a p that is valid whichever block the study stops after."""
        return np.asarray(np.where(self.runs > 0, np.minimum(1.0, 1 / self.e_more), np.nan))

    def within(self, tail: float) -> tuple[Floats, Floats]:
        """Ends of intervals that hold at all blocks simultaneously."""
        critical = np.vectorize(lambda n: critical_t(int(n), 1 / tail) if n > 1 else np.nan, otypes=[float])(self.runs)
        with np.errstate(invalid="ignore", over="ignore"):
            half = critical * np.where(self.error > 0, self.error, np.nan)
            half = np.where(np.isfinite(half), half, np.nan)
            return np.exp(self.mean - half), np.exp(self.mean + half)


def best_of(logs: Floats, alpha: float, looks: Looks, *, paired: bool) -> BestSet:
    """The confidence set of a group's best (see best_set), for a study that may have looked before it stopped.

    Args:
        logs: shape (cells, blocks), logarithms, NaN where a run is missing.
        alpha: largest probability that the set misses the cheapest cell.
        looks: how it looked.
        paired: whether runs at the same index belong to one block.
    """
    if not looks.until_known:
        return best_set(logs, alpha / looks.most, paired=paired)
    level = 1 / threshold_of(int(np.isfinite(logs).any(axis=-1).sum()), alpha)
    return best_set(logs, alpha, paired=True, level=level, test=_looked_at)


def _looked_at(pairs: LogRatio, logs: Floats) -> LookedAt:
    differences: npt.NDArray[np.float64] = logs[:, None, :] - logs[None, :, :]
    e_more = evidence(differences).max(axis=-1, initial=1.0)
    return LookedAt(pairs.mean, pairs.error, pairs.freedom, pairs.least_p, pairs.runs, e_more)
