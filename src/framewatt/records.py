"""Run records (JSON, schema-checked on write and on read) and traces (parquet)."""

import functools
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jsonschema import Draft202012Validator

from framewatt.errors import FramewattError
from framewatt.files import read_json, write_atomically, write_json
from framewatt.meters.contract import Channel

SCHEMA_VERSION = 1
SCHEMA_PATH = Path(__file__).parents[2] / "config" / "schemas" / "run.schema.json"


def write_run(path: Path, record: Mapping[str, Any]) -> None:
    """Write a run record, whole or not at all.

    Raises:
        FramewattError: the record breaks its schema.
    """
    _check(record, path)
    write_json(path, record)


def read_run(path: Path) -> dict[str, Any]:
    """Read a run record.

    Raises:
        FramewattError: the file is not JSON or breaks the schema.
    """
    try:
        record = read_json(path)
    except ValueError as error:
        raise FramewattError(f"{path}: not JSON: {error}") from error
    _check(record, path)
    return dict(record)


@functools.cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(read_json(SCHEMA_PATH))


def _check(record: Mapping[str, Any], path: Path) -> None:
    for error in _validator().iter_errors(record):
        key = ".".join(str(part) for part in error.absolute_path) or "the record"
        raise FramewattError(f"{path}: {key}: {error.message}; allowed: what {SCHEMA_PATH.name} says")


class Clock:
    """Turns CLOCK_MONOTONIC nanoseconds into UTC by one pair of readings taken together.

    Args:
        monotonic_ns: CLOCK_MONOTONIC at an instant.
        utc: the wall clock at that instant, ISO 8601.
    """

    def __init__(self, monotonic_ns: int, utc: str) -> None:
        self.monotonic_ns = monotonic_ns
        self._utc = datetime.fromisoformat(utc)

    def utc(self, monotonic_ns: int) -> str:
        """ISO 8601 with microseconds."""
        moment = self._utc + timedelta(microseconds=(monotonic_ns - self.monotonic_ns) / 1000)
        return moment.astimezone(UTC).isoformat(timespec="microseconds")


def write_trace(path: Path, channels: Sequence[Channel], time_ns: Any, channel: Any, value: Any) -> None:
    """Write a power trace: one row a reading, a failed read as null.

    Args:
        path: the parquet file.
        channels: what `channel` numbers.
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds.
        channel: shape (n,), index into `channels`.
        value: shape (n,), in the channel's unit, NaN where the read failed.
    """
    value = np.asarray(value, dtype=np.float64)

    def names(field: str) -> pa.Array:
        return pa.DictionaryArray.from_arrays(
            pa.array(channel, pa.int32()), pa.array([getattr(c, field) for c in channels], pa.string())
        )

    table = pa.table(
        {
            "monotonic_ns": pa.array(time_ns, pa.int64()),
            "instrument": names("instrument"),
            "domain": names("domain"),
            "quantity": names("quantity"),
            "value": pa.array(value, pa.float64(), mask=~np.isfinite(value)),
        }
    )
    write_atomically(path, lambda partial: pq.write_table(table, partial, compression="zstd"))


def write_events(path: Path, events: Sequence[Mapping[str, Any]], clock: Clock) -> None:
    """Write events: edges of windows, by name, on the monotonic clock and as UTC."""
    table = pa.table(
        {
            "monotonic_ns": pa.array([e["monotonic_ns"] for e in events], pa.int64()),
            "utc": pa.array([clock.utc(e["monotonic_ns"]) for e in events], pa.string()),
            "window": pa.array([e["window"] for e in events], pa.string()),
            "edge": pa.array([e["edge"] for e in events], pa.string()),
        }
    )
    write_atomically(path, lambda partial: pq.write_table(table, partial, compression="zstd"))
