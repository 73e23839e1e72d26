"""The chain of a study's records: none was changed, taken out or slipped in since they were written.

See runs.chain for what that shows, and what it does not.
"""

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.files import parse_json, sha256_of
from framewatt.imports.file_study import FileStudy
from framewatt.package.verification.compare import some
from framewatt.package.verification.opened import Opened, RunFolder
from framewatt.runs.chain import FIRST, FOUND, LEFT_OUT, MEASURED, NAME, hashes_of
from framewatt.study.study import Study

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


def problems(package: Opened, study: Study) -> Iterator[str]:  # study: as the other checks
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


def told_of(package: Opened) -> str | None:
    """What a chain that nothing is wrong with shows, in words; None where the package has none."""
    if isinstance(package.study, FileStudy) or not (package.results / "measure" / NAME).is_file():
        return None
    entries = entries_of(package)
    measured = [entry for entry in entries if entry.kind == MEASURED]
    found = {entry.run for entry in entries if entry.kind == FOUND} - {entry.run for entry in measured}
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
        raise FramewattError(f"measure/{NAME}: found {path.stat().st_size} bytes; allowed: at most {_LARGEST_B}")
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(_entry(parse_json(line.decode())))
        except (ValueError, TypeError) as error:
            raise FramewattError(f"measure/{NAME}: line {number}: found no entry; allowed: entries") from error
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
    if not typed or not counted or fields.get("kind") not in (MEASURED, FOUND, LEFT_OUT):
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
    begun_late = any(entry.kind == FOUND for entry in entries)
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
            yield f"{run.where}: attempt: the record says {record['attempt']}, its entry says {entry.attempt}"


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
