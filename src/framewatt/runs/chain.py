"""The hash chain of a study's run records: one entry per record, in the order of writing; append-only.

Each entry holds the hash of the one before, so that a record that is changed, removed or inserted later no longer
fits. What a chain cannot show: whoever rewrites every record can rewrite the chain as well, unless somebody else keeps
its last hash, or a signature over the package.

The entry is on the disk before its record is. A run that is killed between the two leaves an entry without a record,
followed by the entry of its next attempt; there is never a record without an entry.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.study.records import Link

NAME = "chain.jsonl"
"""Name of the file, in the folder `measure` next to the folders of the cells."""

MEASURED, EARLIER, LEFT_OUT = "measured", "found", "left_out"
"""Kinds of entries: a record that was written; a record older than the chain; a run that the study no longer has, so
that packages leave it out."""

FIRST = "0" * 64
"""The previous hash in the first entry."""

_FILES = ("run.json", "power.parquet", "events.parquet", PREDICTIONS)


class Chain:
    """A study's chain, open for appending and locked against other writers.

    A last line without a newline was cut short by a kill or a full disk. Its record was never written, so the line is
    removed.

    Args:
        path: the file; where there is none, a new chain begins with the records that are already there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("a+b")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        self._lines = whole.splitlines()
        if not self._lines:
            self._begin()
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self._file.close()

    @property
    def link(self) -> Link:
        """Number of the next entry, and the hash of the one before it."""
        last = hashlib.sha256(self._lines[-1]).hexdigest() if self._lines else FIRST
        return {"sequence": len(self._lines) + 1, "previous_sha256": last}

    def append(self, content: Mapping[str, Any]) -> None:
        """Add an entry; it is on the disk when this returns.

        Raises:
            OSError: the disk is full, or the file cannot be written.
        """
        line = json.dumps({**self.link, **content}, ensure_ascii=False).encode()
        self._file.write(line + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._lines.append(line)

    def leave_out(self, planned: Iterable[tuple[str, int]]) -> None:
        """Append a `left_out` entry for each recorded run that the study no longer has, once per run.

        Args:
            planned: cell and repetition of every run that the study has.

        Raises:
            FramewattError: a line is not a valid entry.
        """
        last: dict[tuple[str, int], str] = {}
        for number, line in enumerate(self._lines, 1):
            try:
                entry = json.loads(line)
                last[str(entry["cell"]), int(entry["repetition"])] = entry["kind"]
            except (ValueError, KeyError, TypeError) as error:
                raise FramewattError(
                    f"{self._path}: line {number} is not an entry of the chain. Restore the file as framewatt wrote it."
                ) from error
        for cell, repetition in sorted(set(last) - set(planned)):
            if last[cell, repetition] != LEFT_OUT:
                self.append({"kind": LEFT_OUT, "cell": cell, "repetition": repetition})

    def _begin(self) -> None:
        """Add entries for the records of a study that is older than the chain."""
        folder = self._path.parent
        for record in sorted(folder.glob("*/*/run.json")):
            cell, repetition = record.relative_to(folder).parts[:2]
            head = {"kind": EARLIER, "cell": cell, "repetition": int(repetition), "attempt": None}
            self.append({**head, "sha256": hashes_of(record.parent, sha256_of(record))})


def hashes_of(folder: Path, run_sha256: str) -> dict[str, str]:
    """Hashes of a run's files, as its entry has them.

    Args:
        folder: the run's.
        run_sha256: hash of its record, which may not be written yet.
    """
    names = {name: folder / name for name in _FILES[1:]}
    return {_FILES[0]: run_sha256} | {name: sha256_of(path) for name, path in names.items() if path.is_file()}
