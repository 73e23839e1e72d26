"""Timelines as files: what is written is read, and files from elsewhere are refused in a line."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framewatt.base.errors import FramewattError
from framewatt.runs.spans_file import read_spans, write_spans
from framewatt.workloads.profilers import STEP, Span, Spans

SPANS = Spans.of(
    [Span(STEP, "", "", 0, 10, 90), Span("conv", "f", "[8]", 0, 20, 50), Span("conv", "", "", 7, 60, 80)], [(5, 95)]
)


def told(spans: Spans) -> list[tuple[object, ...]]:
    columns = [spans.words[getattr(spans, name)].tolist() for name in ("name", "api", "shapes")]
    numbers = [getattr(spans, name).tolist() for name in ("thread", "start_ns", "end_ns")]
    return list(zip(*columns, *numbers, strict=True))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_spans(tmp_path / "spans.parquet", SPANS)
    found = read_spans(tmp_path / "spans.parquet")
    assert told(found) == told(SPANS)
    assert found.steps_ns.tolist() == [[5, 95]]


def test_a_profile_of_other_steps_than_the_runs_is_refused(tmp_path: Path) -> None:
    missed = Spans(**{**vars(SPANS), "steps_ns": np.array([[5, 95], [96, 99]])})
    with pytest.raises(FramewattError, match="found 1 steps in the profile and 2 in the run"):
        write_spans(tmp_path / "spans.parquet", missed)
    assert not (tmp_path / "spans.parquet").exists()


def test_files_from_elsewhere_are_refused_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "spans.parquet"
    write_spans(path, SPANS)
    table = pq.read_table(path)
    end = table.schema.get_field_index("end_ns")
    before = table.schema.get_field_index("before_ns")
    forged = {
        "operators that end before they start": table.set_column(end, "end_ns", pa.array([1.0, 2.0, 3.0])),
        "operators that end": table.set_column(end, "end_ns", pa.array([90.0, np.nan, 80.0])),
        "without a name, a thread or a time": table.set_column(end, "end_ns", pa.array([90.0, None, 80.0])),
        "steps without the time around": table.set_column(before, "before_ns", pa.nulls(3, pa.int64())),
        "found the columns": table.drop_columns(["api"]),
    }
    for words, content in forged.items():
        pq.write_table(content, path)
        with pytest.raises(FramewattError, match=words):
            read_spans(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(FramewattError, match="found no timeline"):
        read_spans(path)
