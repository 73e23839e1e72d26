"""The events of a run, read without trust in what the file holds."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from framewatt.base.errors import FramewattError
from framewatt.base.parquet_file import LABEL, UNREADABLE, read_columns

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
        raise FramewattError(f"{path}: found no events: {error}") from error
    if len(rows) > _MOST_EVENTS:
        raise FramewattError(f"{path}: found {len(rows)} events; allowed: at most {_MOST_EVENTS}")
    if any(row[name] is None for row in rows for name in ("monotonic_ns", "window", "edge")):
        raise FramewattError(f"{path}: found an event without its time, window or edge; allowed: all three")
    return [Event(**row) for row in rows]
