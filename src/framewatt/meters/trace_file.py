"""Traces as files (power.parquet)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.base.files import parse_json, write_atomically
from framewatt.base.parquet_file import LABEL, UNREADABLE, Rows, rows_of
from framewatt.meters.contract import Channel
from framewatt.meters.trace import Readings, Trace

_CHANNELS = "framewatt.channels"
_MOST_CHANNELS = 10_000
_TRACE = {"monotonic_ns": pa.int64(), "instrument": LABEL, "domain": LABEL, "quantity": LABEL, "value": pa.float64()}
_NAMES = ("instrument", "domain", "quantity")
_FEW_ROWS = 1 << 22
"""Up to so many readings are loaded into memory, where they take 80 MiB."""

_CACHE_B = 1 << 27
_GROUP_ROWS = 1 << 20
_UNDESCRIBED = "readings without a time, or of a channel that it does not describe"


def write_trace(path: Path, trace: Trace) -> None:
    """Write a power trace: one row per reading, a failed read as null, and the channels in the metadata."""
    channels = json.dumps([channel.to_dict() for channel in trace.channels])
    schema = pa.schema(_TRACE.items(), {_CHANNELS: channels})
    labels = {name: pa.array([getattr(one, name) for one in trace.channels], pa.string()) for name in _NAMES}

    def table(rows: slice) -> pa.Table:
        value, number = np.asarray(trace.value[rows], np.float64), pa.array(trace.channel[rows], pa.int32())
        names = [pa.DictionaryArray.from_arrays(number, labels[name]) for name in _NAMES]
        values = pa.array(value, pa.float64(), mask=~np.isfinite(value))
        return pa.table([pa.array(trace.monotonic_ns[rows], pa.int64()), *names, values], schema)

    def write(partial: Path) -> None:
        with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
            for first in range(0, max(len(trace.value), 1), _GROUP_ROWS):
                writer.write_table(table(slice(first, first + _GROUP_ROWS)))

    write_atomically(path, write)


def open_trace(path: Path) -> Readings:
    """Return a power trace; a short trace is loaded into memory, a long trace is read channel by channel.

    Raises:
        FramewattError: the file is no framewatt trace, or is too large when decompressed.
    """
    with _as_framewatt_error(path):
        rows, channels = _opened(path)
        return StoredTrace(rows, channels) if rows.count > _FEW_ROWS else _load_trace(rows, channels)


class StoredTrace(Readings):
    """Readings in a file, which are read one channel at a time.

    The channels that were read last stay in memory, up to 128 MiB.

    Args:
        rows: of the file.
        channels: that it describes.

    Raises:
        ValueError: readings have no time, or are of no such channel.
        Exception: one of UNREADABLE.
    """

    def __init__(self, rows: Rows, channels: tuple[Channel, ...]) -> None:
        self.channels = channels
        self._rows, self._numbers = rows, _Numbers(channels)
        # By channel, how many readings each group of rows has of it.
        self._counts: list[dict[int, int]] = [{} for _ in channels]
        for group in range(rows.groups):
            for batch in rows.batches(("monotonic_ns", *_NAMES), group):
                for number, count in zip(*np.unique(self._numbers.number_rows(batch), return_counts=True), strict=True):
                    self._counts[number][group] = self._counts[number].get(group, 0) + int(count)
        if sum(sum(counts.values()) for counts in self._counts) != rows.count:
            raise ValueError(_UNDESCRIBED)
        self._cache: dict[int, tuple[Any, Any]] = {}

    def read_channel(self, index: int) -> tuple[Any, Any]:
        """Return times and values of a channel, see Readings.

        Raises:
            FramewattError: the file cannot be read any more.
        """
        readings = self._cache.pop(index, None)
        if readings is None:
            with _as_framewatt_error(self._rows.path):
                readings = self._read(index)
        self._cache[index] = readings
        while (
            sum(part.nbytes for cached in self._cache.values() for part in cached) > _CACHE_B and len(self._cache) > 1
        ):
            del self._cache[next(iter(self._cache))]
        return readings

    def _read(self, index: int) -> tuple[Any, Any]:
        counts = self._counts[index]
        time_ns, value = np.empty(sum(counts.values()), np.int64), np.empty(sum(counts.values()))
        first = 0
        for group in counts:
            for batch in self._rows.batches(None, group):
                its = np.flatnonzero(self._numbers.number_rows(batch) == index)
                rows = slice(first, first + len(its))
                time_ns[rows] = batch["monotonic_ns"].to_numpy()[its]
                value[rows] = batch["value"].to_numpy(zero_copy_only=False)[its]
                first = rows.stop
        if first != len(value):
            raise ValueError(f"{first} readings of a channel that had {len(value)} when it was opened")
        return time_ns, value


@contextmanager
def _as_framewatt_error(path: Path) -> Iterator[None]:
    """Raise a FramewattError instead of any error that makes a trace unreadable."""
    try:
        yield
    except UNREADABLE as error:
        raise FramewattError(f"{path} is not a power trace: {error}. Use a trace that framewatt wrote.") from error


def _opened(path: Path) -> tuple[Rows, tuple[Channel, ...]]:
    rows = rows_of(path, _TRACE)
    return rows, _channels_of(rows.metadata)


def _load_trace(stored: Rows, channels: tuple[Channel, ...]) -> Trace:
    time_ns, channel, value = np.empty(stored.count, np.int64), np.empty(stored.count, np.int32), np.empty(stored.count)
    numbers, first = _Numbers(channels), 0
    for batch in stored.batches():
        rows = slice(first, first + len(batch))
        channel[rows], time_ns[rows] = numbers.number_rows(batch), batch["monotonic_ns"].to_numpy()
        value[rows] = batch["value"].to_numpy(zero_copy_only=False)
        first = rows.stop
    if first != stored.count:
        raise ValueError(_UNDESCRIBED)
    return Trace(channels, time_ns, channel, value)


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

    def number_rows(self, batch: pa.RecordBatch) -> NDArray[np.int32]:
        """Return the number of the channel of each row, shape (n,).

        Raises:
            ValueError: a row has no time, or names of no channel.
        """
        if any(batch[name].null_count for name in ("monotonic_ns", *_NAMES)):
            raise ValueError(_UNDESCRIBED)
        places = []
        for known, name in zip(self._known, _NAMES, strict=True):
            texts = batch[name].dictionary.to_pylist()
            at = np.array([known.index(text) if text in known else len(known) for text in texts] or [len(known)])
            places.append(at[batch[name].indices.to_numpy()])
        numbers: NDArray[np.int32] = self._number[tuple(places)]
        if (numbers < 0).any():
            raise ValueError(_UNDESCRIBED)
        return numbers


def _channels_of(metadata: Mapping[bytes, bytes] | None) -> tuple[Channel, ...]:
    """Return the channels that the metadata of a trace describe.

    Raises:
        ValueError: the metadata describe no channels, with the reason.
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
    channels = tuple(Channel.from_dict(one) for one in content)
    if len({(one.instrument, one.domain, one.quantity) for one in channels}) != len(channels):
        raise ValueError("a channel is described twice")
    return channels
