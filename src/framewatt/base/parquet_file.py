"""Reads untrusted parquet files: known columns only, and no more memory than plausible for the file's size."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from framewatt.base.errors import FramewattError

UNREADABLE = (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError, pa.ArrowException)
"""Errors of pyarrow for a file that is damaged, or that needs more memory than there is."""

_BYTES_A_ROW = 32
_ALWAYS_ALLOWED_B = 2**26
_LARGEST_GROWTH = 200
_LONGEST_LABEL_B = 1000
_ROWS_AT_ONCE = 1 << 18

LABEL = pa.dictionary(pa.int32(), pa.string())
"""Texts of which only a few differ, each stored once."""


def read_columns(path: Path, columns: Mapping[str, pa.DataType]) -> pa.Table:
    """Read a file that has exactly these columns, see `rows_of`."""
    return pa.Table.from_batches(rows_of(path, columns).batches, pa.schema(columns.items()))


@dataclass(frozen=True)
class Rows:
    """The rows of a file.

    Attributes:
        count: how many.
        metadata: of the file, by key.
        batches: some at a time, so that memory stays flat; read once.
    """

    count: int
    metadata: Mapping[bytes, bytes]
    batches: Iterator[pa.RecordBatch]


def rows_of(path: Path, columns: Mapping[str, pa.DataType]) -> Rows:
    """Open a file that has exactly these columns.

    Text columns are read as dictionaries of distinct texts, since 28 kB of parquet can repeat a text of a megabyte in
    five thousand rows.

    Raises:
        FramewattError: it has other columns, or would need an implausible amount of memory.
        Exception: one of UNREADABLE.
    """
    metadata: Any = pq.read_metadata(path)
    _check_growth(path, metadata)
    wanted = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    if metadata.schema.names != list(columns):
        told = ", ".join(metadata.schema.names[:10])
        raise FramewattError(f"{path}: found the columns {told[:300] or 'none'}; allowed: {wanted}")
    labels = [name for name, kind in columns.items() if kind == LABEL]
    file: Any = pq.ParquetFile(path, metadata=metadata, read_dictionary=labels)
    found = {field.name: field.type for field in file.schema_arrow}
    if found != dict(columns):
        told = ", ".join(f"{name} {kind}" for name, kind in found.items())
        raise FramewattError(f"{path}: found the columns {told[:300]}; allowed: {wanted}")
    return Rows(metadata.num_rows, file.schema_arrow.metadata or {}, _read(path, file, labels))


def _read(path: Path, file: Any, labels: list[str]) -> Iterator[pa.RecordBatch]:
    for batch in file.iter_batches(_ROWS_AT_ONCE, use_threads=False):
        for name in labels:
            longest = pc.max(pc.binary_length(batch[name].dictionary)).as_py() or 0
            if longest > _LONGEST_LABEL_B:
                raise FramewattError(f"{path}: {name}: found a text of {longest} bytes; allowed: {_LONGEST_LABEL_B}")
        yield batch


def _check_growth(path: Path, metadata: Any) -> None:
    """Refuse a small file that would fill the memory; timestamps of readings do not compress that well."""
    size_b = path.stat().st_size
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    grown_b = max(metadata.num_rows * _BYTES_A_ROW, sum(group.total_byte_size for group in groups))
    if grown_b > max(_ALWAYS_ALLOWED_B, _LARGEST_GROWTH * size_b):
        raise FramewattError(
            f"{path}: found {metadata.num_rows} rows in {size_b} bytes; "
            f"allowed: no more than {_LARGEST_GROWTH} times its size in memory, not {grown_b} bytes"
        )
