"""Timelines as files: what is written is read, and files from elsewhere are refused in a line."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framewatt.base.errors import FramewattError
from framewatt.runs.timelines import read_spans, write_spans
from framewatt.workloads.profilers import ON_HOST, STEP, UNKNOWN, Span, Spans

SPANS_LISTED = [Span(STEP, "", "", 0, 10, 90), Span("conv", "f", "[8]", 0, 20, 50), Span("conv", "", "", 7, 60, 80)]
SPANS = Spans.from_spans(SPANS_LISTED, [(5, 95)])


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
    with pytest.raises(FramewattError, match="the profile has 1 steps and the run 2"):
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
        "the columns are": table.drop_columns(["api"]),
    }
    for words, content in forged.items():
        pq.write_table(content, path)
        with pytest.raises(FramewattError, match=words):
            read_spans(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(FramewattError, match="found no timeline"):
        read_spans(path)


def test_what_launched_a_kernel_is_kept(tmp_path: Path) -> None:
    listed = [*SPANS_LISTED, Span("gemm", "", "", -1, 60, 70, 1), Span("memset", "", "", -1, 70, 71, UNKNOWN)]
    spans = Spans.from_spans(listed, [(5, 95)])
    write_spans(tmp_path / "spans.parquet", spans)
    assert read_spans(tmp_path / "spans.parquet").origin.tolist() == [ON_HOST, ON_HOST, ON_HOST, 1, UNKNOWN]


@pytest.mark.parametrize("origin", [3, 7, -3])
def test_kernels_that_nothing_of_the_host_launched_are_refused(tmp_path: Path, origin: int) -> None:
    listed = [*SPANS_LISTED, Span("gemm", "", "", -1, 60, 70, origin)]
    write_spans(tmp_path / "spans.parquet", Spans.from_spans(listed, [(5, 95)]))
    with pytest.raises(FramewattError, match="found no timeline"):
        read_spans(tmp_path / "spans.parquet")
