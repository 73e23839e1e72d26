"""Raw readings as the sampling process writes them: binary, one file per meter, complete up to the last flush.

A row of a polled meter's file holds the time and all values; a row of a streamed meter's file holds time, channel and
value. The file's name holds the index of the first channel and the number of channels per row (0 where rows are single
readings).
"""

import os
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from framewatt.meters.contract import Channel, Reading
from framewatt.meters.trace import Trace

_READING = struct.Struct("<qid")
_READING_DTYPE = np.dtype([("monotonic_ns", "<i8"), ("channel", "<i4"), ("value", "<f8")])


class _Raw:
    """A file to which rows are appended."""

    def __init__(self, path: Path, first: int, count: int) -> None:
        self._file = _path(path, first, count).open("wb")

    def flush(self) -> None:
        """Flush to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """Sync to the disk, and close.

        Raises:
            OSError: the disk is full.
        """
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


class RawRows(_Raw):
    """Rows with one reading of every channel of a meter.

    Args:
        path: common prefix of a run's files.
        first: index of the meter's first channel.
        count: how many channels it has.
    """

    def __init__(self, path: Path, first: int, count: int) -> None:
        super().__init__(path, first, count)
        self._pack = struct.Struct(f"<q{count}d").pack

    def append(self, monotonic_ns: int, values: Sequence[float]) -> None:
        """Write one reading of each channel."""
        self._file.write(self._pack(monotonic_ns, *values))


class RawReadings(_Raw):
    """Rows of single readings with time and channel.

    Args:
        path: common beginning of a run's files.
        first: number of the meter's first channel.
    """

    def __init__(self, path: Path, first: int) -> None:
        super().__init__(path, first, 0)

    def append(self, readings: Sequence[Reading]) -> None:
        """Write readings; their channels are numbered from the first channel of the meter."""
        self._file.write(b"".join([_READING.pack(*reading) for reading in readings]))


def read_raw(path: Path, channels: tuple[Channel, ...]) -> Trace:
    """Read what was written so far; an incomplete reading at the end of a file is left out.

    After a crash, a file system may return zeros for what it had not yet written. The file then counts as ending before
    the zeros and the last reading before them, which may be incomplete.

    Args:
        path: common prefix of the run's files.
        channels: of all meters.
    """
    times, numbers, values = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0)]
    for file in sorted(path.parent.glob(f"{path.name}.*")):
        first, count = map(int, file.name.removeprefix(f"{path.name}.").split("-"))
        dtype = np.dtype([("monotonic_ns", "<i8"), ("value", "<f8", (count,))]) if count else _READING_DTYPE
        data = file.read_bytes()
        rows = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
        rows = rows[: _written(rows, dtype.itemsize)]
        if count:
            times.append(np.tile(rows["monotonic_ns"], count))
            numbers.append(np.repeat(np.arange(first, first + count, dtype=np.int32), len(rows)))
            values.append(rows["value"].T.ravel())
        else:
            times.append(rows["monotonic_ns"])
            numbers.append(rows["channel"] + first)
            values.append(rows["value"])
    return Trace(channels, np.concatenate(times), np.concatenate(numbers), np.concatenate(values))


def _written(rows: np.ndarray, size: int) -> int:
    """Return the number of rows to keep of a file that may end in zeros."""
    if not len(rows) or any(rows[-1:].tobytes()):
        return len(rows)
    written = np.flatnonzero(rows.view(np.uint8).reshape(len(rows), size).any(axis=1))
    return int(written[-1]) if len(written) else 0


def _path(path: Path, first: int, count: int) -> Path:
    return path.with_name(f"{path.name}.{first}-{count}")
