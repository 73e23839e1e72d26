"""Studies that stop when they know enough, simulated: how often they are wrong, and how many blocks they take."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from framewatt.statistics.best_set import level_of
from framewatt.statistics.log_ratios import all_pairs
from framewatt.statistics.stopping import evidence, look_at_interval, threshold_of
from framewatt.study.stopping_rule import FIXED, Rule

Values = NDArray[np.float64]
ALPHA, AT_LEAST, AT_MOST = 0.05, 5, 30
NOISE = 0.05
"""Standard deviation of a run, and of a block, on logarithms."""

TARGET = 0.05
CELLS, AHEAD = (2, 7), (0.0, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Case:
    """Studies of one kind.

    Attributes:
        cells: in their one group.
        ahead: share by which every other cell takes more than the first; 0 where all take as much.
        kind: of noise, one of KINDS.
        ties: further cells that take as little as the first.
    """

    cells: int
    ahead: float
    kind: str = "plain"
    ties: int = 0

    @property
    def words(self) -> str:
        """What cells take beside the least."""
        if not self.ahead:
            return "all alike"
        return f"{100 * self.ahead:.0f} %" + (f", {1 + self.ties} alike" if self.ties else "")


def _plain(rng: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    return rng.normal(0, NOISE, shape) + rng.normal(0, NOISE, (*shape[:2], 1))


def _unequal(rng: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    """The second cell's runs vary thrice as much."""
    spread = np.full(shape[2], NOISE)
    spread[1] *= 3
    return rng.normal(0, 1, shape) * spread + rng.normal(0, NOISE, (*shape[:2], 1))


def _disturbed(rng: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    """5 % of the runs take 1.2 to 2 times as much."""
    return _plain(rng, shape) + np.where(rng.random(shape) < 0.05, np.log(rng.uniform(1.2, 2, shape)), 0)


def _drifting(rng: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    """Every run takes 1 % more than the one before, over 30 runs, then anew; blocks are shuffled."""
    places = rng.permuted(np.broadcast_to(np.arange(shape[2]), shape), axis=2)
    return _plain(rng, shape) + 0.01 * ((places + shape[2] * np.arange(shape[1])[None, :, None]) % 30)


def _failing(rng: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    """10 % of the runs do not count."""
    return np.where(rng.random(shape) < 0.1, np.nan, _plain(rng, shape))


def _tied(rng: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    """A meter whose steps are as large as the noise: logarithms are multiples of it."""
    return np.round(_plain(rng, shape) / NOISE) * NOISE


KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int, int]], Values]] = {
    "plain": _plain,
    "unequal noise": _unequal,
    "disturbed runs": _disturbed,
    "drift": _drifting,
    "failed runs": _failing,
    "coarse meter": _tied,
}


def logarithms(case: Case, studies: int, seed: int) -> Values:
    """Logarithms of what runs took, shape (studies, AT_MOST, cells); the first cell takes least, if any."""
    rng = np.random.default_rng([seed, case.cells, round(1000 * case.ahead), list(KINDS).index(case.kind), case.ties])
    logs = KINDS[case.kind](rng, (studies, AT_MOST, case.cells))
    logs[:, :, 1 + case.ties :] += np.log1p(case.ahead)
    return logs


def stopped_for_best(logs: Values) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """After how many blocks each study stops, and which cell it then calls the best; -1 where none.

    As `look_for_best`, all studies at once; tests hold one to the other.
    """
    studies, blocks, cells = logs.shape
    threshold = threshold_of(cells, ALPHA)
    best = np.full(studies, -1)
    after = np.full(studies, blocks)
    known = np.ones((studies, blocks, cells), dtype=bool)
    for one in range(cells):
        for other in range(cells):
            if one != other:
                found = evidence(logs[:, :, other] - logs[:, :, one])
                known[:, :, one] &= np.maximum.accumulate(found, axis=1) >= threshold
    for count in range(AT_LEAST, blocks + 1):
        # Of several that were known at some time, the one that leads now.
        winner = np.where(known[:, count - 1].any(axis=1), _leaders(logs[:, :count]), -1)
        held = (winner >= 0) & known[np.arange(studies), count - 1, winner]
        new = held & (best < 0)
        best[new], after[new] = winner[new], count
    return after, best


def stopped_by_t(logs: Values, at_most: int, *, lost: bool = False) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """The same by t-tests at fixed looks, as `look_for_best_by_t`.

    Args:
        logs: see `stopped_for_best`.
        at_most: blocks.
        lost: whether a cell without a run may be the cheapest, since its runs were set aside; else it cannot run.
    """
    looks = Rule(AT_LEAST, at_most, "energy", None, when=FIXED).looks
    best, after = np.full(len(logs), -1), np.full(len(logs), at_most)
    # Whether some look so far showed that the last cell takes less than the one before it.
    shown = np.zeros((len(logs), logs.shape[2], logs.shape[2]), bool)
    level = level_of(logs.shape[2], ALPHA / len(looks))
    for count in looks:
        seen = logs[:, :count]
        leader = _leaders(seen)
        pairs = all_pairs(np.swapaxes(seen, 1, 2), paired=True)
        shown |= np.nan_to_num(pairs.p_more(), nan=1.0) <= level
        apart = shown[np.arange(len(logs)), :, leader] | (~np.isfinite(seen).any(axis=1) & (not lost))
        apart[np.arange(len(logs)), leader] = True
        new = apart.all(axis=1) & (best < 0)
        best[new], after[new] = leader[new], count
    return after, best


def _leaders(logs: Values) -> NDArray[np.int_]:
    complete = np.isfinite(logs).all(axis=2, keepdims=True)
    used = np.where(complete, logs, 0)
    return (used.sum(axis=1) / np.maximum(1, complete.sum(axis=1))).argmin(axis=1)


def stopped_naively(logs: Values) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """The same by a t-test at alpha over the number of others, each look as if it were the only one."""
    studies, blocks, cells = logs.shape
    best, after = np.full(studies, -1), np.full(studies, blocks)
    for count in range(AT_LEAST, blocks + 1):
        seen = logs[:, :count]
        leader = _leaders(seen)
        differences = seen - np.take_along_axis(seen, leader[:, None, None], axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            n = np.isfinite(differences).sum(axis=1)
            t = np.nanmean(differences, axis=1) / (np.nanstd(differences, axis=1, ddof=1) / np.sqrt(n))
        apart = t > stats.t.ppf(1 - ALPHA / (cells - 1), n - 1)
        apart[np.arange(studies), leader] = True
        new = apart.all(axis=1) & (best < 0)
        best[new], after[new] = leader[new], count
    return after, best


def row_of_best(
    case: Case, studies: int, seed: int, stop: Callable[[Values], Any] = stopped_for_best, rule: str = "every block"
) -> dict[str, Any]:
    """What studies of a kind come to, see `rows`.

    Args:
        case: their kind.
        studies: how many.
        seed: of their noise.
        stop: after how many blocks they stop, and which cell they then call the best.
        rule: its name.
    """
    after, best = stop(logarithms(case, studies, seed))
    wrong = best >= 0 if case.ahead == 0 or case.ties else best > 0
    return {
        "rule": rule,
        "cells": case.cells,
        "others_take_more": case.words,
        "noise": case.kind,
        "studies": studies,
        "error": float(wrong.mean()),
        "target": TARGET,
        "met": bool(wrong.mean() <= TARGET),
        "known": float((best >= 0).mean()),
        "mean_blocks": float(after.mean()),
        "known_within_8": float(((best >= 0) & (after <= 8)).mean()),
    }


def row_of_interval(case: Case, width: float, studies: int, seed: int) -> dict[str, Any]:
    """The same of studies that stop when their intervals are narrow: wrong is a study in which one does not hold."""
    rule = Rule(AT_LEAST, AT_MOST, "energy", width)
    wrong, known, blocks = 0, 0, 0
    truth = np.log1p(case.ahead) * (np.arange(case.cells) > 0)
    for logs in logarithms(case, studies, seed):
        for count in rule.looks:
            look = look_at_interval(logs[:count], ALPHA, len(rule.looks), width)
            if look.settled or count == AT_MOST:
                break
        ends = ((np.exp(truth[cell] - truth[look.leader]), one) for cell, one in look.others.items())
        wrong += any(not one.low <= true <= one.high for true, one in ends)
        known += look.settled
        blocks += count
    head = {"rule": f"interval {width:g}", "cells": case.cells, "others_take_more": case.words, "noise": case.kind}
    told = {"studies": studies, "error": wrong / studies, "target": TARGET, "met": wrong / studies <= TARGET}
    return head | told | {"known": known / studies, "mean_blocks": blocks / studies, "known_within_8": None}


def rows(studies: int = 4000, seed: int = 17) -> Iterator[dict[str, Any]]:
    """One row per kind of study.

    Yields:
        rule, cells, others_take_more, noise; studies; error (called a best that is not, or one of equals; or has an
        interval that does not hold) beside its target; known (share that stopped since they knew), mean_blocks, and
        known_within_8 (share that knew after at most 8 blocks).
    """
    for cells in CELLS:
        for kind in KINDS:
            for ahead in AHEAD:
                yield row_of_best(Case(cells, ahead, kind), studies, seed)
                for at_most in (12, 20):
                    stop = functools.partial(stopped_by_t, at_most=at_most)
                    yield row_of_best(Case(cells, ahead, kind), studies, seed, stop, f"fixed, at most {at_most}")
        hardest = Case(cells, 0.0) if cells == 2 else Case(cells, 0.5, ties=1)
        yield row_of_best(hardest, studies, seed, stopped_naively, "t at every look")
        if hardest.ties:
            yield row_of_best(hardest, studies, seed)
        for ahead in (0.0, 0.2):
            yield row_of_interval(Case(cells, ahead), 0.05, studies // 4, seed)
