"""Studies on a machine that others use: which rule still finds the cheapest cell, and how often it is wrong.

A fifth of the time is disturbed, in bursts that last as long as four runs, so that a burst hits neighbours in the order
of the study. In a burst, work takes 1.1 to 25 times as long. A run is flagged where others took more than a quarter of
the processors; a fifth of these flags are missed.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.statistics.stopping import Looks, best_of
from framewatt.study.stopping_rule import FIXED, Rule
from simulated.stopping import ALPHA, AT_LEAST, NOISE, TARGET, Values, stopped_by_t, stopped_for_best

COVERAGE = 0.94
SHARE_OF_QUIET = 0.8
SEVEN = (1.0, 1.12, 1.3, 1.6, 2.0, 2.5, 4.0)
COSTS = {
    "7 cells, 1 to 4": SEVEN,
    "2 cells, 1 and 1.5": (1.0, 1.5),
    "2 cells, 1 and 1.1": (1.0, 1.1),
    "2 cells, equal": (1.0, 1.0),
    "7 cells, equal": (1.0,) * 7,
}
_DISTURBED, _BURST_RUNS = 0.2, 4.0
_SLOWED = (1.1, 25.0)
_LIMIT, _MISSED = 0.25, 0.2


@dataclass(frozen=True)
class Busy:
    """Studies on a busy machine: arrays of shape (studies, blocks, cells).

    Attributes:
        quiet: logarithms of what the runs would have taken alone.
        busy: the same with what others did.
        flagged: whether a run is known to have been disturbed beyond the limit.
        after_load: whether a burst of the kind that is flagged was under way when a run began.
        places: cell at each place in the order of a block.
    """

    quiet: Values
    busy: Values
    flagged: NDArray[np.bool_]
    after_load: NDArray[np.bool_]
    places: NDArray[np.int64]

    @property
    def set_aside(self) -> NDArray[np.bool_]:
        """The runs that framewatt sets aside (runs.aside): as `with_neighbours`, but not where it was quiet between."""
        studies, blocks, cells = self.flagged.shape
        flagged, load = (
            np.take_along_axis(one, self.places, axis=2).reshape(studies, -1) for one in (self.flagged, self.after_load)
        )
        aside = flagged.copy()
        aside[:, 1:] |= flagged[:, :-1] & load[:, 1:]
        # A run says nothing of one of an earlier block.
        same_block = np.arange(1, blocks * cells) % cells > 0
        aside[:, :-1] |= flagged[:, 1:] & load[:, 1:] & same_block
        found = np.empty_like(self.flagged)
        np.put_along_axis(found, self.places, aside.reshape(found.shape), axis=2)
        return found

    @property
    def with_neighbours(self) -> NDArray[np.bool_]:
        """The flagged runs, and those just before and after one in the order of the study."""
        flagged = np.take_along_axis(self.flagged, self.places, axis=2).reshape(len(self.flagged), -1)
        around = flagged.copy()
        around[:, 1:] |= flagged[:, :-1]
        around[:, :-1] |= flagged[:, 1:]
        found = np.empty_like(self.flagged)
        np.put_along_axis(found, self.places, around.reshape(found.shape), axis=2)
        return found


def measured(
    costs: Values, blocks: int, studies: int, rng: np.random.Generator, *, by_length: bool, missed: float = _MISSED
) -> Busy:
    """Draw studies on a busy machine.

    Args:
        costs: of each cell.
        blocks: of each study.
        studies: how many.
        rng: draws everything.
        by_length: whether a run of a cell that costs more lasts longer, so that bursts hit it more often.
        missed: share of the flags that are missed.
    """
    shape, runs = (studies, blocks, len(costs)), blocks * len(costs)
    quiet = rng.normal(0, NOISE, shape) + rng.normal(0, NOISE, (studies, blocks, 1)) + np.log(costs)
    places = rng.permuted(np.broadcast_to(np.arange(len(costs)), shape).copy(), axis=2)
    lengths = costs[places].reshape(studies, runs) if by_length else np.ones((studies, runs))
    ends = np.cumsum(lengths, axis=1)
    extra, load = _bursts(ends - lengths, ends, rng)
    slowed = 1.0 + extra
    flagged = (1 - 1 / slowed > _LIMIT) & (rng.random((studies, runs)) >= missed)
    busy, known, after_load = quiet.copy(), np.empty(shape, bool), np.empty(shape, bool)
    np.put_along_axis(known, places, flagged.reshape(shape), axis=2)
    np.put_along_axis(after_load, places, load.reshape(shape), axis=2)
    longer = np.empty(shape)
    np.put_along_axis(longer, places, np.log(slowed).reshape(shape), axis=2)
    return Busy(quiet, busy + longer, known, after_load, places)


def _bursts(starts: Values, ends: Values, rng: np.random.Generator) -> tuple[Values, NDArray[np.bool_]]:
    """How much longer each run takes, as a share of its time alone, and whether it begins in a burst beyond the limit.

    Bursts come and go at random.
    """
    studies, on = len(starts), _BURST_RUNS * (ends - starts).mean()
    off = on * (1 - _DISTURBED) / _DISTURBED
    count = int(ends.max() / (on + off) * 3) + 20
    pauses, bursts = rng.exponential(off, (studies, count)), rng.exponential(on, (studies, count))
    pauses[:, 0] *= rng.random(studies) >= _DISTURBED
    stops = np.cumsum(pauses + bursts, axis=1)
    factors = np.exp(rng.uniform(*np.log(_SLOWED), (studies, count)))
    extra, load = np.zeros_like(starts), np.zeros(starts.shape, bool)
    for burst in range(count):
        first, last = stops[:, burst] - bursts[:, burst], stops[:, burst]
        shared = np.minimum(ends, last[:, None]) - np.maximum(starts, first[:, None])
        extra += np.clip(shared, 0, None) / (ends - starts) * (factors[:, burst, None] - 1)
        much = 1 - 1 / factors[:, burst, None] > _LIMIT
        load |= (first[:, None] <= starts) & (starts < last[:, None]) & much
    return extra, load


Treated = Callable[[Busy, Callable[[], Busy]], Values]
"""What a rule keeps of a study: logarithms, NaN where a run is set aside. It may have the study measured again."""


def all_runs(study: Busy, again: Callable[[], Busy]) -> Values:
    """Every run stays."""
    return study.busy


def set_aside(study: Busy, again: Callable[[], Busy]) -> Values:
    """Flagged runs are set aside."""
    return np.where(study.flagged, np.nan, study.busy)


def measured_again(study: Busy, again: Callable[[], Busy]) -> Values:
    """Flagged runs are measured once more, and set aside where they are flagged again."""
    second = again()
    return np.where(study.flagged, set_aside(second, again), study.busy)


def neighbours_too(study: Busy, again: Callable[[], Busy]) -> Values:
    """The same, of flagged runs and those just before and after them."""
    second = again()
    return np.where(study.with_neighbours, np.where(second.with_neighbours, np.nan, second.busy), study.busy)


def as_framewatt(study: Busy, again: Callable[[], Busy]) -> Values:
    """What framewatt sets aside is set aside."""
    return np.where(study.set_aside, np.nan, study.busy)


def as_framewatt_again(study: Busy, again: Callable[[], Busy]) -> Values:
    """What framewatt sets aside is measured once more, by a second call, and set aside where it must be again."""
    return np.where(study.set_aside, as_framewatt(again(), again), study.busy)


@dataclass(frozen=True)
class Procedure:
    """A way to find the cheapest cell.

    Attributes:
        name: for the table.
        treat: what it keeps.
        at_most: blocks.
        fixed: whether it looks at fixed blocks by t-tests, and not after every block by an e-process.
    """

    name: str
    treat: Treated
    at_most: int
    fixed: bool = True

    @property
    def looks(self) -> Looks:
        """How it looks."""
        if not self.fixed:
            return Looks(until_known=True, confirmed=True)
        at = Rule(AT_LEAST, self.at_most, "energy", None, when=FIXED).looks
        return Looks(most=len(at), at=at, confirmed=True)

    def stop(self, logs: Values) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
        """After how many blocks studies stop, and the cell that they call the cheapest; -1 where none."""
        return stopped_by_t(logs, self.at_most, lost=True) if self.fixed else stopped_for_best(logs[:, : self.at_most])


PROCEDURES = (
    Procedure("all runs, a look after every block", all_runs, 12, fixed=False),
    Procedure("all runs", all_runs, 12),
    Procedure("flagged runs set aside", set_aside, 12),
    Procedure("and measured again", measured_again, 12),
    Procedure("and their neighbours", neighbours_too, 12),
    Procedure("and their neighbours, at most 20 blocks", neighbours_too, 20),
    Procedure("framewatt's, one call", as_framewatt, 12),
    Procedure("framewatt's, two calls", as_framewatt_again, 12),
    Procedure("framewatt's, one call, at most 20 blocks", as_framewatt, 20),
)


def rows(studies: int = 4000, seed: int = 19) -> Iterator[dict[str, Any]]:
    """One row per kind of study and procedure.

    Yields:
        costs, by_length, procedure; `wrong` (named a cell that is not the cheapest, or one of equals), `covered` (the
        interval of the ratio of the nearest cell to the leader holds it, of those that are known), `named`, `of_quiet`
        (the same as a share of what quiet studies name; None where nothing is to be named), mean `blocks`; `aside`, the
        share of runs that the rule does not keep.
    """
    for by_length in (False, True):
        for name, costs in COSTS.items():
            for procedure in PROCEDURES:
                head = {"costs": name, "by_length": by_length, "procedure": procedure.name}
                yield head | row_of(procedure, np.array(costs), studies, seed, by_length=by_length)


def row_of(
    procedure: Procedure, costs: Values, studies: int, seed: int, *, by_length: bool, missed: float = _MISSED
) -> dict[str, Any]:
    """What studies of a kind come to with a procedure, see `rows`."""
    rng = np.random.default_rng([seed, len(costs), round(100 * costs[1]), by_length])

    def draw() -> Busy:
        return measured(costs, procedure.at_most, studies, rng, by_length=by_length, missed=missed)

    study = draw()
    logs = procedure.treat(study, draw)
    after, best = procedure.stop(logs)
    equal = costs[0] == costs[1]
    named = float((best >= 0).mean())
    quiet = float((procedure.stop(study.quiet)[1] >= 0).mean())
    return {
        "wrong": float((best >= 0 if equal else best > 0).mean()),
        "covered": covered(procedure, logs[: studies // 4], after, costs),
        "named": named,
        "of_quiet": None if equal else named / quiet,
        "blocks": float(after.mean()),
        "aside": float(np.isnan(logs).mean()),
    }


def covered(procedure: Procedure, logs: Values, after: NDArray[np.int_], costs: Values) -> float:
    """Share of known intervals of the cheapest other cell's ratio to the leader that hold it."""
    held = known = 0
    for one, blocks in zip(logs, after, strict=False):
        there = np.isfinite(one[:blocks]).any(axis=1)
        if not np.isfinite(one[:blocks]).any(axis=0).all():
            continue
        numbers = np.flatnonzero(there) + 1
        found = best_of(one[:blocks][there].T, ALPHA, procedure.looks, paired=True, repetitions=numbers.tolist())
        leader = int(found.reference)
        nearest = min((cell for cell in range(len(costs)) if cell != leader), key=lambda cell: costs[cell])
        low, high = (ends[nearest, leader] for ends in found.pairs.within(found.level))
        if np.isfinite(low):
            known += 1
            held += bool(low <= costs[nearest] / costs[leader] <= high)
    return held / known if known else float("nan")


def main(studies: int) -> None:
    """Print the table as Markdown; bold is what misses its target.

    Args:
        studies: of each kind.
    """
    print("| cells | bursts hit | rule | wrong | ratio covered | named | of quiet studies | blocks | set aside |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|")
    for row in rows(studies):
        wrong = _marked(row["wrong"], row["wrong"] <= TARGET)
        share = "" if row["of_quiet"] is None else _marked(row["of_quiet"], row["of_quiet"] >= SHARE_OF_QUIET)
        held = _marked(row["covered"], row["covered"] >= COVERAGE)
        hit = "long runs more often" if row["by_length"] else "every run alike"
        print(
            f"| {row['costs']} | {hit} | {row['procedure']} | {wrong} | {held} | {100 * row['named']:.0f} % | {share} "
            f"| {row['blocks']:.1f} | {100 * row['aside']:.0f} % |",
            flush=True,
        )


def _marked(share: float, met: bool) -> str:
    return f"{100 * share:.1f} %" if met else f"**{100 * share:.1f} %**"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
