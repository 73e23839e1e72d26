"""Traces are read some rows, or a channel, at a time: what comes of it does not depend on how rows lie in the file."""

import os
import weakref
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framewatt.base import parquet_file
from framewatt.base.errors import FramewattError
from framewatt.energy.accounting import windows_of
from framewatt.meters import trace_file
from framewatt.meters.contract import COUNTER, GAUGE, Channel
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import StoredTrace, open_trace, write_trace

S = 10**9
CHANNELS = (
    Channel("rapl", "cpu:package-0", "energy_j", COUNTER, 0.001, False, 61e-6, 262143.0, 500.0, 0.01),
    Channel("nvml", "gpu:0", "power_w", GAUGE, 0.02, False, 0.001, None, 700.0, 0.01),
    Channel("rapl", "cpu:dram-0", "energy_j", COUNTER, 0.001, False, 61e-6, 262143.0, 500.0, 0.01),
)
IDLE: dict = {"domains": {}}
WINDOWS = {"epoch-1": [(2 * S, 5 * S)], "epoch-2": [(6 * S, 9 * S)], "steady": [(2 * S, 5 * S), (6 * S, 9 * S)]}


def one_behind_the_other() -> Trace:
    """Ten seconds of three channels; one read failed."""
    rng, count = np.random.default_rng(1), 1000
    time_ns = np.arange(count, dtype=np.int64) * S // 100 + rng.integers(0, 10**6, count)
    joules = [
        np.cumsum(rng.uniform(0.2, 0.6, count)),
        rng.uniform(90, 110, count),
        np.cumsum(rng.uniform(0, 0.1, count)),
    ]
    joules[1][500] = np.nan
    return Trace(CHANNELS, np.tile(time_ns, 3), np.repeat(np.arange(3, dtype=np.int32), count), np.concatenate(joules))


def mixed(trace: Trace) -> Trace:
    """The same readings, reading by reading."""
    order = np.arange(len(trace.value)).reshape(3, -1).T.ravel()
    return Trace(trace.channels, trace.monotonic_ns[order], trace.channel[order], trace.value[order])


@pytest.mark.parametrize("rows", [1, 7, 1000, 1 << 18])
@pytest.mark.parametrize("lie", [lambda trace: trace, mixed])
def test_a_trace_comes_back_whatever_is_read_at_once(tmp_path: Path, monkeypatch, rows: int, lie) -> None:
    monkeypatch.setattr(parquet_file, "_ROWS_AT_ONCE", rows)
    trace = lie(one_behind_the_other())
    trace = Trace(trace.channels, *(part[:1500] for part in (trace.monotonic_ns, trace.channel, trace.value)))
    write_trace(tmp_path / "power.parquet", trace)
    found = open_trace(tmp_path / "power.parquet")
    assert found.channels == trace.channels
    for name in ("monotonic_ns", "channel", "value"):
        np.testing.assert_array_equal(getattr(found, name), getattr(trace, name))


@pytest.fixture
def long_traces(monkeypatch) -> None:
    """Traces are long from a thousand readings on, and more than one channel's are not kept."""
    monkeypatch.setattr(trace_file, "_FEW_ROWS", 1000)
    monkeypatch.setattr(trace_file, "_CACHE_B", 1)


@pytest.mark.parametrize(("group", "rows"), [(7, 1000), (1500, 1), (1 << 20, 1000)])
@pytest.mark.parametrize("lie", [lambda trace: trace, mixed])
@pytest.mark.usefixtures("long_traces")
def test_a_long_trace_gives_each_channel_as_one_in_memory_does(
    tmp_path: Path, monkeypatch, group: int, rows: int, lie
) -> None:
    monkeypatch.setattr(parquet_file, "_ROWS_AT_ONCE", rows)
    path, trace = tmp_path / "power.parquet", lie(one_behind_the_other())
    write_trace(path, trace)
    pq.write_table(pq.read_table(path), path, row_group_size=group)
    found = open_trace(path)
    assert isinstance(found, StoredTrace)
    for number in (0, 2, 1, 2):
        for one, other in zip(found.read_channel(number), trace.read_channel(number), strict=True):
            np.testing.assert_array_equal(one, other)
    assert windows_of(WINDOWS, found, IDLE) == windows_of(WINDOWS, trace, IDLE)


@pytest.mark.usefixtures("long_traces")
def test_of_a_long_trace_one_channel_is_in_memory_at_a_time(tmp_path: Path) -> None:
    write_trace(tmp_path / "power.parquet", one_behind_the_other())
    found = open_trace(tmp_path / "power.parquet")
    held = [weakref.ref(found.read_channel(number)[1]) for number in (0, 1, 2)]
    assert [one() is None for one in held] == [True, True, False]


@pytest.mark.usefixtures("long_traces")
def test_a_long_trace_that_is_cut_off_meanwhile_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "power.parquet"
    write_trace(path, one_behind_the_other())
    found = open_trace(path)
    os.truncate(path, 100)
    with pytest.raises(FramewattError, match=r"power\.parquet is not a power trace: "):
        found.read_channel(0)


@pytest.mark.usefixtures("long_traces")
def test_a_long_trace_that_has_other_readings_meanwhile_is_reported(tmp_path: Path, monkeypatch) -> None:
    write_trace(tmp_path / "power.parquet", one_behind_the_other())
    found = open_trace(tmp_path / "power.parquet")
    monkeypatch.setattr(trace_file._Numbers, "number_rows", lambda self, batch: np.zeros(len(batch), np.int32))
    with pytest.raises(FramewattError, match="0 readings of a channel that had 1000 when it was opened"):
        found.read_channel(1)
    with pytest.raises(FramewattError, match=r"power\.parquet is not a power trace: "):
        found.read_channel(0)


def test_windows_are_the_same_to_the_last_digit_however_channels_lie() -> None:
    trace = one_behind_the_other()
    assert windows_of(WINDOWS, trace, IDLE) == windows_of(WINDOWS, mixed(trace), IDLE)


def test_a_channel_is_its_own_readings_where_some_channel_has_none() -> None:
    trace = Trace(CHANNELS, np.array([1, 2, 3]), np.array([0, 2, 2], np.int32), np.array([5.0, 6.0, 7.0]))
    assert [trace.read_channel(number)[1].tolist() for number in range(3)] == [[5.0], [], [6.0, 7.0]]


@pytest.mark.parametrize("few", [1000, 1 << 22])
@pytest.mark.parametrize("column", ["monotonic_ns", "instrument", "quantity"])
def test_a_reading_without_a_time_or_a_name_is_refused(tmp_path: Path, monkeypatch, column: str, few: int) -> None:
    monkeypatch.setattr(trace_file, "_FEW_ROWS", few)
    path = tmp_path / "power.parquet"
    write_trace(path, one_behind_the_other())
    table = pq.read_table(path)
    values = table[column].to_pylist()
    values[1234] = None
    kind = table.schema.field(column).type
    changed = (
        pa.array(values, kind.value_type).dictionary_encode()
        if pa.types.is_dictionary(kind)
        else pa.array(values, kind)
    )
    pq.write_table(table.set_column(table.column_names.index(column), column, changed), path)
    with pytest.raises(FramewattError, match="readings without a time, or of a channel that it does not describe"):
        open_trace(path)


@pytest.mark.parametrize("few", [1000, 1 << 22])
def test_names_of_two_channels_do_not_make_a_third(tmp_path: Path, monkeypatch, few: int) -> None:
    """rapl and gpu:0 are names of channels, but no channel has both."""
    monkeypatch.setattr(trace_file, "_FEW_ROWS", few)
    path = tmp_path / "power.parquet"
    write_trace(path, one_behind_the_other())
    table = pq.read_table(path)
    names = table["domain"].to_pylist()
    names[0] = "gpu:0"
    changed = pa.array(names).dictionary_encode()
    pq.write_table(table.set_column(table.column_names.index("domain"), "domain", changed), path)
    with pytest.raises(FramewattError, match="of a channel that it does not describe"):
        open_trace(path)
