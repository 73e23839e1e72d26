"""Reads untrusted parquet files: known columns only, and no more memory than plausible for the file's size."""

from collections.abc import Iterator, Mapping, Sequence
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
"""Texts with few distinct values, each stored once."""


def read_columns(path: Path, columns: Mapping[str, pa.DataType]) -> pa.Table:
    """Read a file that has exactly these columns, see `rows_of`."""
    return pa.Table.from_batches(rows_of(path, columns).batches(), pa.schema(columns.items()))


@dataclass(frozen=True)
class Rows:
    """The rows of a file.

    Attributes:
        path: of the file.
        count: how many.
        groups: how many groups of rows there are; each group can be read without the others.
        metadata: of the file, by key.
    """

    path: Path
    count: int
    groups: int
    metadata: Mapping[bytes, bytes]
    _file: Any

    def batches(self, columns: Sequence[str] | None = None, group: int | None = None) -> Iterator[pa.RecordBatch]:
        """Read some rows at a time, so that memory stays flat.

        Args:
            columns: names; None for all.
            group: number of a group of rows; None for all.

        Raises:
            FramewattError: a text is implausibly long.
            Exception: one of UNREADABLE.
        """
        groups = None if group is None else [group]
        for batch in self._file.iter_batches(_ROWS_AT_ONCE, groups, columns, use_threads=False):
            for name in batch.schema.names:
                if batch.schema.field(name).type != LABEL:
                    continue
                longest = pc.max(pc.binary_length(batch[name].dictionary)).as_py() or 0
                if longest > _LONGEST_LABEL_B:
                    raise FramewattError(
                        f"{self.path}: {name}: a text of {longest} bytes is longer than {_LONGEST_LABEL_B}. Use a file "
                        "that framewatt wrote."
                    )
            yield batch


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
        names = ", ".join(metadata.schema.names[:10])
        raise FramewattError(f"{path}: the columns are {names[:300] or 'none'}. Use a file with {wanted}.")
    labels = [name for name, kind in columns.items() if kind == LABEL]
    file: Any = pq.ParquetFile(path, metadata=metadata, read_dictionary=labels)
    types = {field.name: field.type for field in file.schema_arrow}
    if types != dict(columns):
        names = ", ".join(f"{name} {kind}" for name, kind in types.items())
        raise FramewattError(f"{path}: the columns are {names[:300]}. Use a file with {wanted}.")
    return Rows(path, metadata.num_rows, metadata.num_row_groups, file.schema_arrow.metadata or {}, file)


def _check_growth(path: Path, metadata: Any) -> None:
    """Refuse a small file that would fill the memory; timestamps of readings do not compress that well."""
    size_b = path.stat().st_size
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    grown_b = max(metadata.num_rows * _BYTES_A_ROW, sum(group.total_byte_size for group in groups))
    if grown_b > max(_ALWAYS_ALLOWED_B, _LARGEST_GROWTH * size_b):
        raise FramewattError(
            f"{path}: its {metadata.num_rows} rows in {size_b} bytes would take {grown_b} bytes of memory, more than "
            f"{_LARGEST_GROWTH} times its size. Use a file that framewatt wrote."
        )
