"""Read files of a package without trust in their content, and compare stated with expected values."""

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
"""Largest difference of two numbers: last digits of floating point, on another processor with another numpy."""

_SHOWN = 5
_LONGEST = 80
_WITHOUT_PARTS = frozenset((bool, int, float, str, type(None)))


def differences(stated: Any, expected: Any, at: str = "", *, by: str = "the record states", why: str) -> Iterator[str]:
    """Yield a line for each difference between two values.

    Whole numbers and truth values have to be equal, other numbers within RELATIVE and ABSOLUTE. Sentences may have
    another wording of framewatt's (study.wordings).

    Args:
        stated: the package's value, of JSON.
        expected: the value that follows from the rest of the package.
        at: place of the value, keys joined by dots.
        by: source of the stated value, with its verb: `the record states`.
        why: source of the expected value, with its verb: `the trace gives`.
    """
    if isinstance(stated, Mapping) and isinstance(expected, Mapping):
        for key in dict.fromkeys([*expected, *stated]):
            if key in stated and key in expected and _equal(stated[key], expected[key]):
                continue
            place = f"{at}.{key}" if at else str(key)
            if key not in stated:
                yield f"{place}: {by} nothing, {why} {_text(expected[key])}"
            elif key not in expected:
                yield f"{place}: {by} {_text(stated[key])}, {why} nothing"
            else:
                yield from differences(stated[key], expected[key], place, by=by, why=why)
    elif isinstance(stated, list | tuple) and isinstance(expected, list | tuple) and len(stated) == len(expected):
        for number, (one, other) in enumerate(zip(stated, expected, strict=True)):
            yield from differences(one, other, f"{at}.{number}", by=by, why=why)
    elif not _same(stated, expected):
        yield f"{at}: {by} {_text(stated)}, {why} {_text(expected)}"


def same(stated: Any, expected: Any) -> bool:
    """Return whether two values are the same, see differences."""
    return next(differences(stated, expected, why=""), None) is None


def some(lines: Iterable[str], where: str = "") -> Iterator[str]:
    """Yield the first lines, each after its place, and a line with the number of further ones."""
    more = 0
    for number, line in enumerate(lines):
        if number < _SHOWN:
            yield f"{where}: {line}" if where else line
        else:
            more += 1
    if more:
        yield f"{where or 'there'}: and {more} more of that kind"


def _equal(stated: Any, expected: Any) -> bool:
    """Return whether two values have no parts and are equal in kind and value; quicker than `_same` for most."""
    return type(stated) is type(expected) and type(stated) in _WITHOUT_PARTS and stated == expected


def _same(stated: Any, expected: Any) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (stated, expected))
    if numbers and (isinstance(stated, float) or isinstance(expected, float)):
        return math.isclose(stated, expected, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(stated, str) and isinstance(expected, str):
        return same_meaning(stated, expected)
    return type(stated) is type(expected) and stated == expected


def same_texts(stated: str, expected: str) -> bool:
    """Return whether two CSV texts have the same cells, except for the wording of sentences."""
    if stated == expected:
        return True
    try:
        rows, others = (list(csv.reader(io.StringIO(text, newline=""))) for text in (stated, expected))
    except csv.Error:
        # A cell is longer than any that framewatt writes.
        return False
    return len(rows) == len(others) and all(
        len(row) == len(other) and all(map(same_meaning, row, other)) for row, other in zip(rows, others, strict=True)
    )


def same_tables(stated: pa.Table, expected: pa.Table) -> bool:
    """Return whether two Parquet tables have the same columns, except for the wording of sentences.

    Notes of pandas in the metadata are not compared.
    """
    if stated.column_names != expected.column_names or stated.num_rows != expected.num_rows:
        return False
    return all(map(_same_column, stated.columns, expected.columns))


def _same_column(stated: pa.ChunkedArray, expected: pa.ChunkedArray) -> bool:
    if stated.equals(expected):
        return True
    if stated.type == expected.type and pa.types.is_floating(stated.type):
        # Missing numbers equal each other.
        return bool(np.array_equal(stated.to_numpy(), expected.to_numpy(), equal_nan=True))
    # Versions of pandas differ in the Arrow type of texts.
    if not all(pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in (stated.type, expected.type)):
        return False
    return all(
        one == other or (one is not None and other is not None and same_meaning(one, other))
        for one, other in zip(stated.to_pylist(), expected.to_pylist(), strict=True)
    )


def _text(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_FEW = 50
"""Fewest readings that two runs do not share by chance."""


class Seen:
    """The traces that were seen so far."""

    def __init__(self) -> None:
        self._runs: dict[str, str] = {}

    def problems(self, trace: Readings, where: str) -> Iterator[str]:
        """Yield a line if a trace has the same readings, at the same distances in time, as an earlier one.

        Args:
            trace: of a run.
            where: which run.
        """
        count, hashed = 0, hashlib.sha256()
        for index in range(len(trace.channels)):
            time_ns, value = trace.read_channel(index)
            count += len(value)
            hashed.update(np.diff(np.nan_to_num(value, nan=-1.0)).round(6).tobytes())
            hashed.update(np.diff(time_ns).tobytes())
        if count < _FEW:
            return
        digest = hashed.hexdigest()
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
        """Return the event in the form of `accounting.spans_of`."""
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
