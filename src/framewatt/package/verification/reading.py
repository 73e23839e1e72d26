"""Reading files of a package without trust in what they hold, and comparing two accounts of one thing."""

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from framewatt.base.errors import FramewattError
from framewatt.base.parquet_file import LABEL, UNREADABLE, read_columns
from framewatt.meters.trace import Readings
from framewatt.study.wordings import same_meaning

RELATIVE, ABSOLUTE = 1e-6, 1e-7
"""How far two numbers may lie apart: the last digits of floating point, on another processor and another numpy."""

_SHOWN = 5
_LONGEST = 80
_WITHOUT_PARTS = frozenset((bool, int, float, str, type(None)))


def differences(told: Any, found: Any, at: str = "", *, by: str = "the record states", why: str) -> Iterator[str]:
    """Where two accounts part, a line each.

    Whole numbers and truth values have to be equal, other numbers but for RELATIVE and ABSOLUTE. Of texts, sentences
    may have another wording that framewatt has given them (study.wordings).

    Args:
        told: what the package says, of JSON.
        found: what follows from the rest of it.
        at: where in the account this is, keys joined by dots.
        by: who told.
        why: what it follows from, with its verb: `the trace gives`.
    """
    if isinstance(told, Mapping) and isinstance(found, Mapping):
        for key in dict.fromkeys([*found, *told]):
            if key in told and key in found and _equal(told[key], found[key]):
                continue
            place = f"{at}.{key}" if at else str(key)
            if key not in told:
                yield f"{place}: {by} nothing, {why} {_text(found[key])}"
            elif key not in found:
                yield f"{place}: {by} {_text(told[key])}, {why} nothing"
            else:
                yield from differences(told[key], found[key], place, by=by, why=why)
    elif isinstance(told, list | tuple) and isinstance(found, list | tuple) and len(told) == len(found):
        for number, (one, other) in enumerate(zip(told, found, strict=True)):
            yield from differences(one, other, f"{at}.{number}", by=by, why=why)
    elif not _same(told, found):
        yield f"{at}: {by} {_text(told)}, {why} {_text(found)}"


def same(told: Any, found: Any) -> bool:
    """Return whether two accounts are the same, see differences."""
    return next(differences(told, found, why=""), None) is None


def some(lines: Iterable[str], where: str = "") -> Iterator[str]:
    """The first lines, each with where it was found, and how many more there are."""
    more = 0
    for number, line in enumerate(lines):
        if number < _SHOWN:
            yield f"{where}: {line}" if where else line
        else:
            more += 1
    if more:
        yield f"{where or 'there'}: and {more} more of that kind"


def _equal(told: Any, found: Any) -> bool:
    """Whether two values have no parts and are equal in kind and value, as nearly all are; quicker than `_same`."""
    return type(told) is type(found) and type(told) in _WITHOUT_PARTS and told == found


def _same(told: Any, found: Any) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (told, found))
    if numbers and (isinstance(told, float) or isinstance(found, float)):
        return math.isclose(told, found, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(told, str) and isinstance(found, str):
        return same_meaning(told, found)
    return type(told) is type(found) and told == found


def same_texts(told: str, found: str) -> bool:
    """Return whether two CSV texts have the same cells, but for the wording of sentences."""
    if told == found:
        return True
    rows, others = (list(csv.reader(io.StringIO(text, newline=""))) for text in (told, found))
    return len(rows) == len(others) and all(
        len(row) == len(other) and all(map(same_meaning, row, other)) for row, other in zip(rows, others, strict=True)
    )


def same_tables(told: pa.Table, found: pa.Table) -> bool:
    """Return whether two Parquet tables have the same columns, but for the wording of sentences.

    What pandas notes in the metadata is not compared.
    """
    if told.column_names != found.column_names or told.num_rows != found.num_rows:
        return False
    return all(map(_same_column, told.columns, found.columns))


def _same_column(told: pa.ChunkedArray, found: pa.ChunkedArray) -> bool:
    if told.equals(found):
        return True
    if told.type != found.type:
        return False
    if pa.types.is_floating(told.type):
        # Missing numbers equal each other.
        return bool(np.array_equal(told.to_numpy(), found.to_numpy(), equal_nan=True))
    if not (pa.types.is_string(told.type) or pa.types.is_large_string(told.type)):
        return False
    return all(
        one == other or (one is not None and other is not None and same_meaning(one, other))
        for one, other in zip(told.to_pylist(), found.to_pylist(), strict=True)
    )


def _text(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_FEW = 50
"""Readings below which two runs may have the same by chance."""


class Seen:
    """The traces that were seen so far."""

    def __init__(self) -> None:
        self._runs: dict[str, str] = {}

    def problems(self, trace: Readings, where: str) -> Iterator[str]:
        """Says so where the readings of a trace, and their distances in time, are all those of one seen before.

        Args:
            trace: of a run.
            where: which run.
        """
        count, held = 0, hashlib.sha256()
        for index in range(len(trace.channels)):
            time_ns, value = trace.read_channel(index)
            count += len(value)
            held.update(np.diff(np.nan_to_num(value, nan=-1.0)).round(6).tobytes())
            held.update(np.diff(time_ns).tobytes())
        if count < _FEW:
            return
        digest = held.hexdigest()
        if digest in self._runs:
            yield f"{where}: its trace holds the readings of {self._runs[digest]}"
        self._runs.setdefault(digest, where)


_COLUMNS = {"monotonic_ns": pa.int64(), "utc": LABEL, "window": LABEL, "edge": LABEL}
_MOST_EVENTS = 100_000
"""Edges of windows; a training of a thousand epochs has two thousand."""


@dataclass(frozen=True)
class Event:
    """An edge of a window.

    Attributes:
        monotonic_ns: when, on the monotonic clock of the run.
        utc: when, ISO 8601; None where no clock is known.
        window: its name.
        edge: `start` or `end`.
    """

    monotonic_ns: int
    utc: str | None
    window: str
    edge: str

    def to_dict(self) -> dict[str, Any]:
        """As `accounting.spans_of` takes it."""
        return {"window": self.window, "edge": self.edge, "monotonic_ns": self.monotonic_ns}


def read_events(path: Path) -> list[Event]:
    """Read the events of a run, in the order in which they happened.

    Raises:
        FramewattError: the file holds something else, or more than a run has.
    """
    try:
        rows = read_columns(path, _COLUMNS).to_pylist()
    except UNREADABLE as error:
        raise FramewattError(f"{path} holds no events ({error}). Use the package as it was written.") from error
    if len(rows) > _MOST_EVENTS:
        raise FramewattError(f"{path} has {len(rows)} events. A run has at most {_MOST_EVENTS}.")
    if any(row[name] is None for row in rows for name in ("monotonic_ns", "window", "edge")):
        raise FramewattError(f"{path}: an event lacks its time, window or edge. Use the package as it was written.")
    return [Event(**row) for row in rows]
