"""Timelines as files (spans.parquet): a row a span; those of steps have what the program saw around them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_atomically
from framewatt.base.parquet_file import LABEL, UNREADABLE, read_columns
from framewatt.workloads.profilers import STEP, Spans

_WORDS = ("name", "api", "shapes")
_TIMES = ("start_ns", "end_ns")
_AROUND = ("before_ns", "after_ns")
_BY = "by"
"""The row of what launched a kernel; files from before do not have it, and none of theirs is known."""

_SPANS = {
    **dict.fromkeys(_WORDS, LABEL),
    "thread": pa.int32(),
    **dict.fromkeys(_TIMES, pa.float64()),
    **dict.fromkeys(_AROUND, pa.int64()),
    _BY: pa.int32(),
}


def write_spans(path: Path, spans: Spans) -> None:
    """Write a timeline.

    Args:
        path: of the file.
        spans: of a profiler.

    Raises:
        FramewattError: the profiler saw another number of steps than the program took.
    """
    steps = spans.words[spans.name] == STEP
    if steps.sum() != len(spans.steps_ns):
        raise FramewattError(
            f"operators: found {steps.sum()} steps in the profile and {len(spans.steps_ns)} in the run; "
            "allowed: as many"
        )
    words = pa.array(spans.words.tolist(), pa.string())
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array(getattr(spans, name), pa.int32()), words) for name in _WORDS
    }
    for place, name in enumerate(_AROUND):
        values = np.zeros(len(steps), np.int64)
        values[steps] = spans.steps_ns[:, place]
        columns[name] = pa.array(values, pa.int64(), mask=~steps)
    columns |= {name: pa.array(getattr(spans, name)) for name in ("thread", *_TIMES, _BY)}
    table = pa.table({name: columns[name] for name in _SPANS})
    write_atomically(path, lambda partial: pq.write_table(table, partial, compression="zstd"))


def read_spans(path: Path) -> Spans:
    """Read a timeline.

    Raises:
        FramewattError: the file is no timeline, or is too large when decompressed.
    """
    try:
        has_by = _BY in pq.read_metadata(path).schema.names
        table = read_columns(path, {name: kind for name, kind in _SPANS.items() if name != _BY or has_by})
        if any(table[name].null_count for name in table.column_names if name not in _AROUND):
            raise ValueError("spans without a name, a thread or a time")
        start_ns, end_ns = (table[name].to_numpy() for name in _TIMES)
        if not np.isfinite([start_ns, end_ns]).all() or (end_ns < start_ns).any():
            raise ValueError("operators that end before they start")
        steps = pc.equal(table["name"], STEP).to_numpy(zero_copy_only=False)
        around = [table[name].filter(pa.array(steps)) for name in _AROUND]
        if any(column.null_count for column in around):
            raise ValueError("steps without the time around them")
        words: dict[str, int] = {}
        places = {name: _places(table[name], words) for name in _WORDS}
        steps_ns = np.column_stack([column.to_numpy() for column in around]).astype(np.int64)
        thread = table["thread"].to_numpy()
        by = table[_BY].to_numpy() if has_by else np.full(len(table), -1, np.int32)
        if len(by) and not (by.min() >= -1 and by.max() < len(by)):
            raise ValueError("kernels that no operator of it launched")
        times = {"start_ns": start_ns, "end_ns": end_ns, "steps_ns": steps_ns}
        return Spans(np.array(list(words) or [""]), **places, thread=thread, **times, by=by)
    except UNREADABLE as error:
        raise FramewattError(f"{path}: found no timeline: {error}") from error


def _places(column: pa.ChunkedArray, words: dict[str, int]) -> np.ndarray:
    """Places of a column's texts among words, to which new ones are added."""
    parts = [np.zeros(0, np.int32)]
    for chunk in column.chunks:
        of = [words.setdefault(text, len(words)) for text in chunk.dictionary.to_pylist()]
        parts.append(np.array(of, np.int32)[chunk.indices.to_numpy()])
    return np.concatenate(parts)
