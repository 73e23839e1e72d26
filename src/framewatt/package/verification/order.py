"""When runs were measured: none beside another, in the order of their chain, by a wall clock that fits the others'."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from framewatt.host.machine import session_of
from framewatt.package.verification.chain import last_entries
from framewatt.package.verification.opened import Opened
from framewatt.runs.chain import MEASURED
from framewatt.runs.clocks import offset_s
from framewatt.study.study import Study

_DAY_S = 86400.0
"""A step of the wall clock that nobody takes and undoes; programs that disagree on the time undo smaller ones."""


@dataclass(frozen=True)
class _Timed:
    """When a run was measured; of its record only this is kept, since all runs of a machine are looked at together.

    Attributes:
        where: which run.
        began_ns: of its process, CLOCK_MONOTONIC.
        ended_ns: the same.
        began_utc: by the wall clock; None where that is not known.
        ended_utc: the same.
        offset_s: of the wall clock from the monotonic one; None where it is not known.
        moved_s: by how much the wall clock was set during the run.
    """

    where: str
    began_ns: int
    ended_ns: int
    began_utc: str | None
    ended_utc: str | None
    offset_s: float | None
    moved_s: float

    @classmethod
    def of(cls, where: str, record: Mapping[str, Any]) -> Self:
        """Of a record that has a window of its process."""
        window, clock = record["windows"]["process"], record["clock"]
        return cls(
            where,
            int(window["start_monotonic_ns"]),
            int(window["end_monotonic_ns"]),
            window["start_utc"],
            window["end_utc"],
            offset_s(record) if clock["utc"] is not None else None,
            clock.get("moved_s") or 0.0,
        )


def problems(package: Opened, study: Study) -> Iterator[str]:  # study: as the other checks
    """Runs that one machine made at the same time, in another order than their chain's, or on days that do not fit."""
    entries = last_entries(package)
    sequence = {run: entry.sequence for run, entry in entries.items() if entry.kind == MEASURED}
    sessions: dict[Any, list[_Timed]] = {}
    numbers: dict[str, int] = {}
    for run, record in package.records:
        if "process" in record["windows"]:
            # Only nodes that a test makes of one machine, each with a lock of its own, measure at once in one boot.
            node = None if _had_the_machine(record) else record.get("node")
            sessions.setdefault((node, session_of(record["machine"])), []).append(_Timed.of(run.where, record))
        if (run.cell, run.repetition) in sequence and _had_the_machine(record):
            numbers[run.where] = sequence[run.cell, run.repetition]
    for runs in sessions.values():
        runs.sort(key=lambda run: run.began_ns)
        yield from _beside(runs)
        yield from _before_the_boot(runs)
        yield from _otherwise_chained(runs, numbers)
        yield from _set_away(runs)


def _had_the_machine(record: Mapping[str, Any]) -> bool:
    """Whether a run held the lock of its machine."""
    return bool((record.get("lock") or {}).get("machine_wide"))


def _beside(runs: list[_Timed]) -> Iterator[str]:
    """Runs at the same time by both clocks, one of which alone may have been set."""
    spans = [
        (run.began_ns, run.ended_ns, run.began_utc, run.ended_utc, run.where)
        for run in runs
        if run.began_utc and run.ended_utc
    ]
    for one, other in itertools.pairwise(sorted(spans)):
        if other[0] < one[1] and one[2] < other[3] and other[2] < one[3]:
            yield f"{other[4]}: measured beside {one[4]}, or its copy: both ran at {other[2]}"


def _before_the_boot(runs: list[_Timed]) -> Iterator[str]:
    """Runs from before their monotonic clock was 0, which is when their machine was booted."""
    for run in runs:
        if run.began_ns < 0:
            yield f"{run.where}: measured {-run.began_ns * 1e-9:.6g} s before its machine was booted"


def _otherwise_chained(runs: list[_Timed], numbers: Mapping[str, int]) -> Iterator[str]:
    """Runs of one boot whose entries were written in another order than they ran in, one at a time.

    Args:
        runs: of one boot, in the order of their monotonic clock.
        numbers: of the entries of those that had the machine to themselves until their entry was written.
    """
    chained = [(run.where, numbers[run.where]) for run in runs if run.where in numbers]
    for (one, number), (other, later) in itertools.pairwise(chained):
        if later < number:
            yield f"{other}: measured after {one}, and its entry of the chain ({later}) is from before ({number})"


def _set_away(runs: list[_Timed]) -> Iterator[str]:
    """Runs that another day's clock dates, and before and after which it was as it had been.

    A clock that is set right is not set wrong again by as much, and a machine does not wake before it fell asleep. A
    run during which the clock moved says so itself.

    Args:
        runs: of one boot, in the order of their monotonic clock.
    """
    known = [(run.where, run.offset_s, run.moved_s) for run in runs if run.offset_s is not None]
    last = {round(offset): place for place, (_, offset, _) in enumerate(known)}
    for place, ((_, before, moved_s), (where, offset, _)) in enumerate(itertools.pairwise(known), 1):
        usual = before + moved_s
        again = max(last.get(round(usual) + off, 0) for off in (-1, 0, 1))
        if abs(offset - usual) > _DAY_S and again > place:
            days = (offset - usual) / _DAY_S
            yield (
                f"{where}: dated {days:+.1f} days off the runs before it and {known[again][0]} after it, "
                "and its clock does not say that it was set"
            )
