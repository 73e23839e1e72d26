"""Adjusts tests and intervals for optional stopping: the study may have looked at its results before it stopped."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from framewatt.statistics.best_set import BestSet, best_set, leader_of
from framewatt.statistics.log_ratios import Floats, LogRatio, all_pairs
from framewatt.statistics.stopping import critical_t, evidence, threshold_of


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
"""A study whose number of blocks was fixed beforehand."""


@dataclass(frozen=True)
class AtLooks(LogRatio):
    """Logarithms of ratios from a study that looked for the best at a few fixed blocks, by t-tests.

    Its interval is that of the last look, which saw all runs.

    Attributes:
        looks: what each look saw. At the level of one look, what any of them shows holds.
    """

    looks: tuple[LogRatio, ...]

    def p_more(self) -> Floats:
        """The smallest p of all looks; NaN where at none enough runs of both cells count."""
        return np.asarray(np.fmin.reduce([look.p_more() for look in self.looks]))


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


def best_of(
    logs: Floats, alpha: float, looks: Looks, *, paired: bool, repetitions: Sequence[int] | None = None
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

    def at_looks(pairs: LogRatio, logs: Floats) -> LogRatio:
        earlier = [all_pairs(logs[:, blocks <= last], paired=True) for last in looks.at if last < blocks.max(initial=0)]
        return AtLooks(**_of(pairs), looks=(*earlier, pairs))

    def after_every_block(pairs: LogRatio, logs: Floats) -> LogRatio:
        differences: npt.NDArray[np.float64] = logs[:, None, :] - logs[None, :, :]
        return LookedAt(**_of(pairs), e_more=evidence(differences).max(axis=-1, initial=1.0))

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


def _of(ratio: LogRatio) -> dict[str, Any]:
    """The fields of a ratio, for one that says more."""
    return {field.name: getattr(ratio, field.name) for field in fields(LogRatio)}
