"""The chain of a study's run records: an entry a record, in the order in which they were written, none ever changed.

Each entry holds the hash of the one before, so that a record that is changed, taken out or slipped in later does not
fit any more. What a chain cannot show: whoever rewrites every record can rewrite the chain as well, unless somebody
else keeps its last hash, or a signature over the package.

The entry is on the disk before its record is. A run that is killed between the two leaves an entry without a record,
which the entry of its next attempt follows; never a record without an entry.
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

NAME = "chain.jsonl"
"""Name of the file, beside the cells of `measure`."""

MEASURED, FOUND, LEFT_OUT = "measured", "found", "left_out"
"""What an entry tells of: a record that was written; one that was there when the chain began; a run that the study
does not name any more, and that packages leave out since then."""

FIRST = "0" * 64
"""What the first entry has as the hash of the one before."""

_FILES = ("run.json", "power.parquet", "events.parquet", PREDICTIONS)


class Chain:
    """A study's chain, open for one more entry; nobody else can write to it meanwhile.

    A last line without an end was cut short by a kill or a full disk. Its record was never put in place, so it is cut
    off.

    Args:
        path: the file; where there is none it is begun with the records that are there already.
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
    def link(self) -> dict[str, Any]:
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
        """Tell of runs that were recorded, and that the study does not name any more; of each once.

        Args:
            planned: cell and repetition of every run that the study has.

        Raises:
            FramewattError: a line is no entry.
        """
        last: dict[tuple[str, int], str] = {}
        for number, line in enumerate(self._lines, 1):
            try:
                entry = json.loads(line)
                last[str(entry["cell"]), int(entry["repetition"])] = entry["kind"]
            except (ValueError, KeyError, TypeError) as error:
                raise FramewattError(
                    f"{self._path}: line {number}: found no entry; allowed: the file as it was"
                ) from error
        for cell, repetition in sorted(set(last) - set(planned)):
            if last[cell, repetition] != LEFT_OUT:
                self.append({"kind": LEFT_OUT, "cell": cell, "repetition": repetition})

    def _begin(self) -> None:
        """Name the records of a study that was begun before there were chains."""
        folder = self._path.parent
        for record in sorted(folder.glob("*/*/run.json")):
            cell, repetition = record.relative_to(folder).parts[:2]
            head = {"kind": FOUND, "cell": cell, "repetition": int(repetition), "attempt": None}
            self.append({**head, "sha256": hashes_of(record.parent, sha256_of(record))})


def hashes_of(folder: Path, run_sha256: str) -> dict[str, str]:
    """Hashes of what a run leaves behind, as its entry has them.

    Args:
        folder: the run's.
        run_sha256: hash of its record, which may not be there yet.
    """
    names = {name: folder / name for name in _FILES[1:]}
    return {_FILES[0]: run_sha256} | {name: sha256_of(path) for name, path in names.items() if path.is_file()}
