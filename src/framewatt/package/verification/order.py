"""When runs were measured: none beside another, in the order of their chain, by a wall clock that fits the others'."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.host.machine import session_of
from framewatt.package.verification.chain import last_entries
from framewatt.package.verification.opened import Opened
from framewatt.runs.chain import MEASURED
from framewatt.runs.clocks import offset_s
from framewatt.study.study import Study

_DAY_S = 86400.0
"""A step of the wall clock that nobody takes and undoes; programs that disagree on the time undo smaller ones."""

_Timed = tuple[str, Mapping[str, Any]]
"""A run's name and its record, which has a window of its process."""


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
            sessions.setdefault((node, session_of(record["machine"])), []).append((run.where, record))
        if (run.cell, run.repetition) in sequence and _had_the_machine(record):
            numbers[run.where] = sequence[run.cell, run.repetition]
    for runs in sessions.values():
        runs.sort(key=lambda run: _began_ns(run[1]))
        yield from _beside(runs)
        yield from _before_the_boot(runs)
        yield from _otherwise_chained(runs, numbers)
        yield from _set_away(runs)


def _had_the_machine(record: Mapping[str, Any]) -> bool:
    """Whether a run held the lock of its machine."""
    return bool((record.get("lock") or {}).get("machine_wide"))


def _began_ns(record: Mapping[str, Any]) -> int:
    return int(record["windows"]["process"]["start_monotonic_ns"])


def _beside(runs: list[_Timed]) -> Iterator[str]:
    """Runs at the same time by both clocks, one of which alone may have been set."""
    spans = []
    for where, record in runs:
        window = record["windows"]["process"]
        if window["start_utc"] and window["end_utc"]:
            times = window["start_monotonic_ns"], window["end_monotonic_ns"], window["start_utc"], window["end_utc"]
            spans.append((*times, where))
    for one, other in itertools.pairwise(sorted(spans)):
        if other[0] < one[1] and one[2] < other[3] and other[2] < one[3]:
            yield f"{other[4]}: measured beside {one[4]}, or its copy: both ran at {other[2]}"


def _before_the_boot(runs: list[_Timed]) -> Iterator[str]:
    """Runs from before their monotonic clock was 0, which is when their machine was booted."""
    for where, record in runs:
        if _began_ns(record) < 0:
            yield f"{where}: measured {-_began_ns(record) * 1e-9:.6g} s before its machine was booted"


def _otherwise_chained(runs: list[_Timed], numbers: Mapping[str, int]) -> Iterator[str]:
    """Runs of one boot whose entries were written in another order than they ran in, one at a time.

    Args:
        runs: of one boot, in the order of their monotonic clock.
        numbers: of the entries of those that had the machine to themselves until their entry was written.
    """
    chained = [(where, numbers[where]) for where, _ in runs if where in numbers]
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
    known = [
        (where, offset_s(record), record["clock"].get("moved_s") or 0.0) for where, record in runs if _dated(record)
    ]
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


def _dated(record: Mapping[str, Any]) -> bool:
    return record["clock"]["utc"] is not None
