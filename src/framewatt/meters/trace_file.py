"""Traces as files (power.parquet)."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.base.files import parse_json, write_atomically
from framewatt.base.parquet_file import LABEL, UNREADABLE, rows_of
from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace

_CHANNELS = "framewatt.channels"
_MOST_CHANNELS = 10_000
_TRACE = {"monotonic_ns": pa.int64(), "instrument": LABEL, "domain": LABEL, "quantity": LABEL, "value": pa.float64()}
_NAMES = ("instrument", "domain", "quantity")
_UNDESCRIBED = "readings without a time, or of a channel that it does not describe"


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
        found = rows_of(path, _TRACE)
        channels, count = _channels_of(found.metadata), found.count
        time_ns, channel, value = np.empty(count, np.int64), np.empty(count, np.int32), np.empty(count)
        numbers, first = _Numbers(channels), 0
        for batch in found.batches:
            rows = slice(first, first + len(batch))
            if any(batch[name].null_count for name in ("monotonic_ns", *_NAMES)):
                raise ValueError(_UNDESCRIBED)
            time_ns[rows], channel[rows] = batch["monotonic_ns"].to_numpy(), numbers.of(batch)
            value[rows] = batch["value"].to_numpy(zero_copy_only=False)
            first = rows.stop
        if first != count or (channel < 0).any():
            raise ValueError(_UNDESCRIBED)
        return Trace(channels, time_ns, channel, value)
    except UNREADABLE as error:
        raise FramewattError(f"{path}: found no power trace: {error}") from error


class _Numbers:
    """Numbers of the channels of rows, by the names in their columns.

    Args:
        channels: of the trace.
    """

    def __init__(self, channels: Sequence[Channel]) -> None:
        self._known = [list(dict.fromkeys(getattr(one, name) for one in channels)) for name in _NAMES]
        # One place more along each axis is for names of no channel.
        self._number = np.full([len(known) + 1 for known in self._known], -1, np.int32)
        for number, one in enumerate(channels):
            place = [known.index(getattr(one, name)) for known, name in zip(self._known, _NAMES, strict=True)]
            self._number[tuple(place)] = number

    def of(self, batch: pa.RecordBatch) -> NDArray[np.int32]:
        """Of each row, shape (n,); -1 where no channel has its names."""
        places = []
        for known, name in zip(self._known, _NAMES, strict=True):
            texts = batch[name].dictionary.to_pylist()
            at = np.array([known.index(text) if text in known else len(known) for text in texts] or [len(known)])
            places.append(at[batch[name].indices.to_numpy()])
        numbers: NDArray[np.int32] = self._number[tuple(places)]
        return numbers


def _channels_of(metadata: Mapping[bytes, bytes] | None) -> tuple[Channel, ...]:
    """The channels that a trace's metadata describe.

    Raises:
        ValueError: the metadata describe no channels; the message says why.
    """
    described = (metadata or {}).get(_CHANNELS.encode())
    if described is None:
        raise ValueError("it describes no channels")
    return _described(described)


@lru_cache(maxsize=8)  # the runs of a study mostly have the same
def _described(described: bytes) -> tuple[Channel, ...]:
    content = parse_json(described.decode())
    if not isinstance(content, list) or len(content) > _MOST_CHANNELS:
        raise ValueError(f"its channels are no list of at most {_MOST_CHANNELS}")
    channels = tuple(Channel.of_dict(one) for one in content)
    if len({(one.instrument, one.domain, one.quantity) for one in channels}) != len(channels):
        raise ValueError("a channel is described twice")
    return channels
