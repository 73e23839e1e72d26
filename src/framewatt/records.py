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

from framewatt.base.parquet_file import LABEL, UNREADABLE, read_columns
from framewatt.base.schema import Validator
from framewatt.errors import FramewattError
from framewatt.files import json_text, parse_json, read_json, write_atomically, write_text
from framewatt.meters.contract import Channel
from framewatt.trace import Trace

SCHEMA_VERSION = 3
_CHANNELS = "framewatt.channels"
_MOST_CHANNELS = 10_000
_TRACE = {"monotonic_ns": pa.int64(), "instrument": LABEL, "domain": LABEL, "quantity": LABEL, "value": pa.float64()}
SCHEMA_PATH = Path(__file__).parents[2] / "config" / "schemas" / "run.schema.json"


def write_run(path: Path, record: Mapping[str, Any]) -> None:
    """Write a run record, whole or not at all.

    Raises:
        FramewattError: the record breaks its schema.
    """
    write_text(path, run_text(record, path))


def run_text(record: Mapping[str, Any], path: Path) -> str:
    """A run record as its file holds it.

    Raises:
        FramewattError: the record breaks its schema.
    """
    _check(record, path)
    return json_text(record)


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
def _validator() -> Any:
    return Validator(read_json(SCHEMA_PATH))


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
        table = read_columns(path, _TRACE)
        channels = _channels_of(table.schema.metadata)
        channel = np.full(table.num_rows, -1, dtype=np.int32)
        for number, one in enumerate(channels):
            its = [pc.equal(table[name], getattr(one, name)) for name in ("instrument", "domain", "quantity")]
            channel[functools.reduce(pc.and_, its).to_numpy(zero_copy_only=False)] = number
        if table["monotonic_ns"].null_count or (channel < 0).any():
            raise ValueError("readings without a time, or of a channel that it does not describe")
        value = table["value"].to_numpy(zero_copy_only=False).astype(np.float64)
        return Trace(channels, table["monotonic_ns"].to_numpy(), channel, value)
    except UNREADABLE as error:
        raise FramewattError(f"{path}: found no power trace: {error}") from error


def _channels_of(metadata: Mapping[bytes, bytes] | None) -> tuple[Channel, ...]:
    """The channels that a trace's metadata describe.

    Raises:
        ValueError: they are none, in words.
    """
    content = parse_json((metadata or {})[_CHANNELS.encode()].decode())
    if not isinstance(content, list) or len(content) > _MOST_CHANNELS:
        raise ValueError(f"its channels are no list of at most {_MOST_CHANNELS}")
    channels = tuple(Channel.of_dict(one) for one in content)
    if len({(one.instrument, one.domain, one.quantity) for one in channels}) != len(channels):
        raise ValueError("a channel is described twice")
    return channels


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
