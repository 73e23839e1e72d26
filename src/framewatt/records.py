"""Run records (JSON, schema-checked on write and on read) and traces (parquet)."""

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from jsonschema import Draft202012Validator

from framewatt.errors import FramewattError
from framewatt.files import read_json, write_atomically, write_json
from framewatt.meters.contract import Channel
from framewatt.trace import Trace

SCHEMA_VERSION = 1
_CHANNELS = "framewatt.channels"
_BYTES_A_ROW = 32
_ALWAYS_ALLOWED_B = 1 << 26
_LARGEST_GROWTH = 200
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


def record_paths(paths: str | Iterable[str]) -> list[Path]:
    """Paths of run records: those given, and those in the folders given (`<cell>/<repetition>/run.json`).

    Args:
        paths: what a rule has as its records: one path or several.
    """
    given = [paths] if isinstance(paths, str) else paths
    found = [[path] if (path := Path(name)).is_file() else sorted(path.glob("*/*/run.json")) for name in given]
    return [path for some in found for path in some]


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


def write_trace(path: Path, trace: Trace) -> None:
    """Write a power trace: one row a reading, a failed read as null; what its channels are goes into the metadata."""
    value = np.asarray(trace.value, dtype=np.float64)

    def names(field: str) -> pa.Array:
        labels = pa.array([getattr(channel, field) for channel in trace.channels], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(trace.channel, pa.int32()), labels)

    table = pa.table(
        {
            "monotonic_ns": pa.array(trace.monotonic_ns, pa.int64()),
            "instrument": names("instrument"),
            "domain": names("domain"),
            "quantity": names("quantity"),
            "value": pa.array(value, pa.float64(), mask=~np.isfinite(value)),
        }
    )
    channels = json.dumps([channel.to_dict() for channel in trace.channels])
    table = table.replace_schema_metadata({_CHANNELS: channels})
    write_atomically(path, lambda partial: pq.write_table(table, partial, compression="zstd"))


def read_trace(path: Path) -> Trace:
    """Read a power trace.

    Raises:
        FramewattError: the file is not a trace of framewatt's, or it would grow beyond measure in memory.
    """
    try:
        _check_growth(path)
        table = pq.read_table(path)
        channels = tuple(Channel(**c) for c in json.loads((table.schema.metadata or {})[_CHANNELS.encode()]))
        channel = np.full(table.num_rows, -1, dtype=np.int32)
        for number, one in enumerate(channels):
            its = [pc.equal(table[name], getattr(one, name)) for name in ("instrument", "domain", "quantity")]
            channel[functools.reduce(pc.and_, its).to_numpy(zero_copy_only=False)] = number
        value = table["value"].to_numpy(zero_copy_only=False).astype(np.float64)
        return Trace(channels, table["monotonic_ns"].to_numpy(), channel, value)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise FramewattError(f"{path}: found no power trace: {error}") from error


def _check_growth(path: Path) -> None:
    """Refuse a file that a few bytes would make fill the memory; times of readings alone do not compress that well."""
    rows, bytes_ = pq.ParquetFile(path).metadata.num_rows, path.stat().st_size
    if rows * _BYTES_A_ROW > max(_ALWAYS_ALLOWED_B, _LARGEST_GROWTH * bytes_):
        raise FramewattError(
            f"{path}: found {rows} rows in {bytes_} bytes; "
            f"allowed: no more than {_LARGEST_GROWTH} times its size in memory"
        )


def write_events(path: Path, events: Sequence[Mapping[str, Any]], clock: Clock | None) -> None:
    """Write events: edges of windows, by name, on the monotonic clock and as UTC, which is null where unknown."""
    table = pa.table(
        {
            "monotonic_ns": pa.array([e["monotonic_ns"] for e in events], pa.int64()),
            "utc": pa.array([clock.utc(e["monotonic_ns"]) if clock else None for e in events], pa.string()),
            "window": pa.array([e["window"] for e in events], pa.string()),
            "edge": pa.array([e["edge"] for e in events], pa.string()),
        }
    )
    write_atomically(path, lambda partial: pq.write_table(table, partial, compression="zstd"))
