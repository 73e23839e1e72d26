"""Check when runs were measured, and in which order: the chain of their records (runs.chain), and their clocks.

No record may be changed, taken out or added since the chain was written. No two runs may be measured at the same time.
"""

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from framewatt.base.errors import FramewattError
from framewatt.base.files import parse_json, sha256_of
from framewatt.host.machine import session_of
from framewatt.package.verification.opened import Opened, RunFolder
from framewatt.package.verification.reading import some
from framewatt.runs.chain import EARLIER, FIRST, LEFT_OUT, MEASURED, NAME, hashes_of
from framewatt.runs.clocks import offset_s
from framewatt.study.records import RunRecord
from framewatt.study.study import FileStudy, MeasuredStudy

_LARGEST_B = 2**26
_NAMED = 5


@dataclass(frozen=True)
class Entry:
    """An entry of the chain, see runs.chain."""

    sequence: int
    previous_sha256: str
    kind: str
    cell: str
    repetition: int
    attempt: int | None
    sha256: Mapping[str, str]

    @property
    def run(self) -> tuple[str, int]:
        """Return cell and repetition."""
        return self.cell, self.repetition

    @property
    def where(self) -> str:
        """Return cell and repetition, for messages."""
        return f"{self.cell}/{self.repetition}"


def chain_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:  # study: as the other checks
    """Yield where the chain is broken, or does not fit the records."""
    if not (package.results / "measure" / NAME).is_file():
        chained = [run.where for run, record in package.records if "chain" in record]
        if chained:
            yield f"measure/{NAME}: not there, and {len(chained)} records name their entry in it"
        return
    entries = entries_of(package)
    yield from some(_broken(package, entries))
    yield from some(_skipping(entries))
    last = _last(entries)
    for run in package.runs:
        yield from _run_problems(run, last.get((run.cell, run.repetition)))
    planned = {(run.cell, run.repetition) for run in package.runs}
    left_out = {entry.run for entry in entries if entry.kind == LEFT_OUT}
    yield from some(
        f"{entry.where}: was measured (entry {entry.sequence} of the chain), and is left out"
        for entry in last.values()
        if entry.run not in planned | left_out
    )


def chain_summary(package: Opened) -> str | None:
    """Return a sentence on what a faultless chain shows; None if the package has no chain."""
    if isinstance(package.study, FileStudy) or not (package.results / "measure" / NAME).is_file():
        return None
    entries = entries_of(package)
    measured = [entry for entry in entries if entry.kind == MEASURED]
    earlier = {entry.run for entry in entries if entry.kind == EARLIER} - {entry.run for entry in measured}
    again = len(measured) - len({entry.run for entry in measured})
    planned = {(run.cell, run.repetition) for run in package.runs}
    without = [entry.where for entry in entries if entry.kind == LEFT_OUT and entry.run not in planned]
    parts = [f"the {len(planned)} records are those of their chain, none was changed or taken out of it since"]
    parts += [f"{again} of them were measured again, as its entries show"] if again else []
    parts += [f"{len(earlier)} were there before it started"] if earlier else []
    parts += [f"{len(without)} runs are left out that the study names no more: {_first(without)}"] if without else []
    return ", ".join(parts)


def entries_of(package: Opened) -> list[Entry]:
    """Return the entries of a package's chain.

    Raises:
        FramewattError: it holds something else.
    """
    path = package.results / "measure" / NAME
    if path.stat().st_size > _LARGEST_B:
        raise FramewattError(f"measure/{NAME} has {path.stat().st_size} bytes. A chain has at most {_LARGEST_B}.")
    entries = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            entries.append(_entry(parse_json(line.decode())))
        except (ValueError, TypeError) as error:
            raise FramewattError(
                f"measure/{NAME}: line {number} is not an entry of the chain. Use the package as it was written."
            ) from error
    return entries


def last_entries(package: Opened) -> dict[tuple[str, int], Entry]:
    """Return the last entry of every run, by cell and repetition; empty if the package has no chain.

    Raises:
        FramewattError: its chain holds something else.
    """
    return _last(entries_of(package)) if (package.results / "measure" / NAME).is_file() else {}


def as_planned(package: Opened) -> bool:
    """Return whether exactly the planned runs were measured, in their order; False without a chain.

    A run that was repeated at once, since other programs had disturbed it, stays in its place.

    Raises:
        FramewattError: the chain holds something else.
    """
    if not (package.results / "measure" / NAME).is_file():
        return False
    measured = [one for one, _ in itertools.groupby((entry.kind, *entry.run) for entry in entries_of(package))]
    return measured == [(MEASURED, run.cell, run.repetition) for run in package.runs]


def _last(entries: list[Entry]) -> dict[tuple[str, int], Entry]:
    return {entry.run: entry for entry in entries if entry.kind != LEFT_OUT}


def _entry(content: Any) -> Entry:
    fields: dict[str, Any] = dict(content)
    hashes = {} if fields.get("kind") == LEFT_OUT else fields.get("sha256")
    typed = isinstance(fields.get("cell"), str) and type(fields.get("repetition")) is int and isinstance(hashes, dict)
    attempt = fields.get("attempt")
    counted = type(attempt) is int and attempt > 0 if fields.get("kind") == MEASURED else attempt is None
    if not typed or not counted or fields.get("kind") not in (MEASURED, EARLIER, LEFT_OUT):
        raise ValueError("no entry")
    return Entry(**{name: fields.get(name) for name in Entry.__dataclass_fields__} | {"sha256": hashes})


def _broken(package: Opened, entries: list[Entry]) -> Iterator[str]:
    """Yield the entries that do not follow from the entry before."""
    previous = FIRST
    lines = (package.results / "measure" / NAME).read_bytes().splitlines()
    for number, (entry, line) in enumerate(zip(entries, lines, strict=True), 1):
        if (entry.sequence, entry.previous_sha256) != (number, previous):
            yield f"measure/{NAME}: entry {number} does not follow from the one before: one was changed or taken out"
        previous = hashlib.sha256(line).hexdigest()


def _skipping(entries: list[Entry]) -> Iterator[str]:
    """Yield the attempts without a preceding attempt.

    A run that is measured again has the number of its last record, or the next number, and every record has its entry.
    Numbers may repeat. They start again at 1 if a run was killed before its record was written, was deleted, or became
    another job. If a record is older than its chain, its attempt is unknown.
    """
    late_chain = any(entry.kind == EARLIER for entry in entries)
    known: dict[tuple[str, int], set[int]] = {}
    for entry in entries:
        if entry.kind != MEASURED or entry.attempt is None:
            continue
        before = known.setdefault(entry.run, set())
        follows = before & {entry.attempt - 1, entry.attempt} or (late_chain and not before)
        if entry.attempt > 1 and not follows:
            numbers = ", ".join(map(str, sorted(before))) or "none"
            yield f"{entry.where}: entry {entry.sequence} of the chain is attempt {entry.attempt}; before it: {numbers}"
        before.add(entry.attempt)


def _run_problems(run: RunFolder, entry: Entry | None) -> Iterator[str]:
    """Yield how a run of the package differs from its last entry."""
    if not (run.path / "run.json").is_file():
        if entry:
            yield f"{run.where}: was measured (entry {entry.sequence} of the chain), and is not there"
        return
    if entry is None:
        yield f"{run.where}: has no entry in the chain: it did not come to be as the others did"
        return
    there = hashes_of(run.path, sha256_of(run.path / "run.json"))
    other = sorted(name for name in there.keys() | entry.sha256.keys() if there.get(name) != entry.sha256.get(name))
    if other:
        yield f"{run.where}: {', '.join(other)}: not what was written when entry {entry.sequence} of the chain was"
    elif (record := run.record) is not None:
        link = {"sequence": entry.sequence, "previous_sha256": entry.previous_sha256}
        if record.get("chain") != (link if entry.kind == MEASURED else None):
            yield f"{run.where}: run.json: names another entry of the chain than {entry.sequence}, which is its own"
        if entry.kind == MEASURED and record["attempt"] != entry.attempt:
            yield f"{run.where}: attempt: the record states {record['attempt']}, its entry states {entry.attempt}"


def _first(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


_DAY_S = 86400.0
"""A larger step of the wall clock is not undone later; programs that disagree on the time undo smaller steps."""


@dataclass(frozen=True)
class _Timed:
    """When a run was measured: the part of its record that is compared with all other runs of the machine.

    Attributes:
        where: which run.
        started_ns: start of its process, CLOCK_MONOTONIC.
        ended_ns: its end, by the same clock.
        started_utc: start by the wall clock; None if it is not known.
        ended_utc: end by the wall clock; None if it is not known.
        offset_s: of the wall clock from the monotonic clock; None if it is not known.
        moved_s: by how much the wall clock was set during the run.
    """

    where: str
    started_ns: int
    ended_ns: int
    started_utc: str | None
    ended_utc: str | None
    offset_s: float | None
    moved_s: float

    @classmethod
    def from_record(cls, where: str, record: RunRecord) -> Self:
        """Return the times of a record that has a window of its process."""
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


def order_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:  # study: as the other checks
    """Yield the runs of one machine at the same time, in another order than their chain, or on days that do not fit."""
    entries = last_entries(package)
    sequence = {run: entry.sequence for run, entry in entries.items() if entry.kind == MEASURED}
    sessions: dict[Any, list[_Timed]] = {}
    numbers: dict[str, int] = {}
    for run, record in package.records:
        if "process" in record["windows"]:
            # Only a test has several nodes on one machine, each with its own lock, that measure at the same time.
            node = None if _had_the_machine(record) else record.get("node")
            sessions.setdefault((node, session_of(record["machine"])), []).append(_Timed.from_record(run.where, record))
        if (run.cell, run.repetition) in sequence and _had_the_machine(record):
            numbers[run.where] = sequence[run.cell, run.repetition]
    for runs in sessions.values():
        runs.sort(key=lambda run: run.started_ns)
        yield from _at_the_same_time(runs)
        yield from _before_the_boot(runs)
        yield from _chained_in_another_order(runs, numbers)
        yield from _dated_elsewhere(runs)


def _had_the_machine(record: Mapping[str, Any]) -> bool:
    """Return whether a run held the lock of its machine."""
    return bool((record.get("lock") or {}).get("machine_wide"))


def _at_the_same_time(runs: list[_Timed]) -> Iterator[str]:
    """Yield the runs that were measured at the same time by both clocks; a single clock may have been set."""
    spans = [
        (run.started_ns, run.ended_ns, run.started_utc, run.ended_utc, run.where)
        for run in runs
        if run.started_utc and run.ended_utc
    ]
    for one, other in itertools.pairwise(sorted(spans)):
        if other[0] < one[1] and one[2] < other[3] and other[2] < one[3]:
            yield f"{other[4]}: measured at the same time as {one[4]}, or its copy: both ran at {other[2]}"


def _before_the_boot(runs: list[_Timed]) -> Iterator[str]:
    """Yield the runs with a start before 0 of their monotonic clock, which is the boot of their machine."""
    for run in runs:
        if run.started_ns < 0:
            yield f"{run.where}: measured {-run.started_ns * 1e-9:.6g} s before its machine was booted"


def _chained_in_another_order(runs: list[_Timed], numbers: Mapping[str, int]) -> Iterator[str]:
    """Yield the runs of one boot with entries in another order than they were measured in.

    Args:
        runs: of one boot, in the order of their monotonic clock.
        numbers: of the entries of those that had the machine to themselves until their entry was written.
    """
    chained = [(run.where, numbers[run.where]) for run in runs if run.where in numbers]
    for (one, number), (other, later) in itertools.pairwise(chained):
        if later < number:
            yield f"{other}: measured after {one}, and its entry of the chain ({later}) is from before ({number})"


def _dated_elsewhere(runs: list[_Timed]) -> Iterator[str]:
    """Yield the runs that are dated to another day, while the runs before and after them agree on the clock.

    A corrected clock is not set wrong again by the same amount, and a machine does not wake before it fell asleep. If
    the clock moved during a run, its record has that step.

    Args:
        runs: of one boot, in the order of their monotonic clock.
    """
    known = [(run.where, run.offset_s, run.moved_s) for run in runs if run.offset_s is not None]
    last = {round(offset): place for place, (_, offset, _) in enumerate(known)}
    for place, ((_, before, moved_s), (where, offset, _)) in enumerate(itertools.pairwise(known), 1):
        expected = before + moved_s
        again = max(last.get(round(expected) + off, 0) for off in (-1, 0, 1))
        if abs(offset - expected) > _DAY_S and again > place:
            days = (offset - expected) / _DAY_S
            yield (
                f"{where}: dated {days:+.1f} days off the runs before it and {known[again][0]} after it, "
                "and its record has no step of the clock"
            )
