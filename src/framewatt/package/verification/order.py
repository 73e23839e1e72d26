"""When runs were measured, and in which order: the chain of their records (runs.chain), and their clocks.

None was changed, taken out or added since the chain was written, and none was measured at the same time as another.
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
        """Cell and repetition."""
        return self.cell, self.repetition

    @property
    def where(self) -> str:
        """Cell and repetition, for messages."""
        return f"{self.cell}/{self.repetition}"


def chain_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:  # study: as the other checks
    """Where the chain is broken, or does not fit the records."""
    if not (package.results / "measure" / NAME).is_file():
        chained = [run.where for run, record in package.records if "chain" in record]
        if chained:
            yield f"measure/{NAME}: not there, and {len(chained)} records say which of its entries is theirs"
        return
    entries = entries_of(package)
    yield from some(_broken(package, entries))
    yield from some(_skipping(entries))
    last = _last(entries)
    for run in package.runs:
        yield from _of_run(run, last.get((run.cell, run.repetition)))
    planned = {(run.cell, run.repetition) for run in package.runs}
    told = {entry.run for entry in entries if entry.kind == LEFT_OUT}
    yield from some(
        f"{entry.where}: was measured (entry {entry.sequence} of the chain), and is left out"
        for entry in last.values()
        if entry.run not in planned | told
    )


def chain_summary(package: Opened) -> str | None:
    """What a chain that nothing is wrong with shows, in words; None where the package has none."""
    if isinstance(package.study, FileStudy) or not (package.results / "measure" / NAME).is_file():
        return None
    entries = entries_of(package)
    measured = [entry for entry in entries if entry.kind == MEASURED]
    found = {entry.run for entry in entries if entry.kind == EARLIER} - {entry.run for entry in measured}
    again = len(measured) - len({entry.run for entry in measured})
    planned = {(run.cell, run.repetition) for run in package.runs}
    without = [entry.where for entry in entries if entry.kind == LEFT_OUT and entry.run not in planned]
    parts = [f"the {len(planned)} records are those of their chain, none was changed or taken out of it since"]
    parts += [f"{again} of them were measured again, as its entries show"] if again else []
    parts += [f"{len(found)} were there before it began"] if found else []
    parts += [f"{len(without)} runs are left out that the study names no more: {_some(without)}"] if without else []
    return ", ".join(parts)


def entries_of(package: Opened) -> list[Entry]:
    """The entries of a package's chain.

    Raises:
        FramewattError: it holds something else.
    """
    path = package.results / "measure" / NAME
    if path.stat().st_size > _LARGEST_B:
        raise FramewattError(f"measure/{NAME} has {path.stat().st_size} bytes. A chain has at most {_LARGEST_B}.")
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(_entry(parse_json(line.decode())))
        except (ValueError, TypeError) as error:
            raise FramewattError(
                f"measure/{NAME}: line {number} is not an entry of the chain. Use the package as it was written."
            ) from error
    return found


def last_entries(package: Opened) -> dict[tuple[str, int], Entry]:
    """The last entry of every run, by cell and repetition; none where the package has no chain.

    Raises:
        FramewattError: its chain holds something else.
    """
    return _last(entries_of(package)) if (package.results / "measure" / NAME).is_file() else {}


def as_planned(package: Opened) -> bool:
    """Whether the planned runs, and none but them, were measured in their order; False without a chain.

    A run that was repeated at once, since others had disturbed it, keeps its place.

    Raises:
        FramewattError: the chain holds something else.
    """
    if not (package.results / "measure" / NAME).is_file():
        return False
    told = [one for one, _ in itertools.groupby((entry.kind, *entry.run) for entry in entries_of(package))]
    return told == [(MEASURED, run.cell, run.repetition) for run in package.runs]


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
    """Entries that do not follow from the one before."""
    previous = FIRST
    lines = (package.results / "measure" / NAME).read_bytes().splitlines()
    for number, (entry, line) in enumerate(zip(entries, lines, strict=True), 1):
        if (entry.sequence, entry.previous_sha256) != (number, previous):
            yield f"measure/{NAME}: entry {number} does not follow from the one before: one was changed or taken out"
        previous = hashlib.sha256(line).hexdigest()


def _skipping(entries: list[Entry]) -> Iterator[str]:
    """Attempts that none came before.

    An attempt has the number of the record that lies there, or the next one, and every record has its entry. Numbers
    may repeat, and begin anew where a run was killed before its record was written, was deleted, or became another job.
    Of a run whose record is older than its chain nobody knows the attempt.
    """
    begun_late = any(entry.kind == EARLIER for entry in entries)
    known: dict[tuple[str, int], set[int]] = {}
    for entry in entries:
        if entry.kind != MEASURED or entry.attempt is None:
            continue
        before = known.setdefault(entry.run, set())
        follows = before & {entry.attempt - 1, entry.attempt} or (begun_late and not before)
        if entry.attempt > 1 and not follows:
            told = ", ".join(map(str, sorted(before))) or "none"
            yield f"{entry.where}: entry {entry.sequence} of the chain is attempt {entry.attempt}; before it: {told}"
        before.add(entry.attempt)


def _of_run(run: RunFolder, entry: Entry | None) -> Iterator[str]:
    """Where a run of the package is not the one of its last entry."""
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


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


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
    def of(cls, where: str, record: RunRecord) -> Self:
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


def order_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:  # study: as the other checks
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
