"""Traces as files (power.parquet)."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from framewatt.base.errors import FramewattError
from framewatt.base.files import parse_json, write_atomically
from framewatt.base.parquet_file import LABEL, UNREADABLE, read_columns
from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace

_CHANNELS = "framewatt.channels"
_MOST_CHANNELS = 10_000
_TRACE = {"monotonic_ns": pa.int64(), "instrument": LABEL, "domain": LABEL, "quantity": LABEL, "value": pa.float64()}


def write_trace(path: Path, trace: Trace) -> None:
    """Write a power trace: one row per reading, a failed read as null, and the channels in the metadata."""
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
        FramewattError: the file is no framewatt trace, or is too large when decompressed.
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
        ValueError: the metadata describe no channels; the message says why.
    """
    content = parse_json((metadata or {})[_CHANNELS.encode()].decode())
    if not isinstance(content, list) or len(content) > _MOST_CHANNELS:
        raise ValueError(f"its channels are no list of at most {_MOST_CHANNELS}")
    channels = tuple(Channel.of_dict(one) for one in content)
    if len({(one.instrument, one.domain, one.quantity) for one in channels}) != len(channels):
        raise ValueError("a channel is described twice")
    return channels
