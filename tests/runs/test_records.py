"""Records and files are whole or not there."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from records_factory import energy, run_record

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of, sha256_of_files, write_atomically, write_json
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import open_trace, write_trace
from framewatt.runs.records import Clock, read_run, write_events, write_run


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_run(path, run_record())
    assert read_run(path) == run_record()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "fine"}, "status: 'fine' is not one of"),
        ({"repetition": 0}, "repetition: 0 is less than the minimum"),
        ({"joules": 3}, "Additional properties are not allowed"),
        ({"schema_version": 7}, r"schema_version: 7 is not one of \[1, 2, 3, 4, 5, 6\]"),
    ],
)
def test_a_record_that_breaks_the_schema_is_neither_written_nor_read(
    tmp_path: Path, change: dict, message: str
) -> None:
    path = tmp_path / "run.json"
    with pytest.raises(FramewattError, match=message):
        write_run(path, run_record(**change))
    assert not path.exists()
    path.write_text(json.dumps(run_record(**change)))
    with pytest.raises(FramewattError, match=message):
        read_run(path)


def test_lengths_of_translations_are_told_of_both_or_of_none(tmp_path: Path) -> None:
    """Records from before they were told have none."""
    told = {"value": 0.0, "unit": "", "better": "higher", "reason": None, "method": "counted so"}
    both = {"output_tokens_per_sentence": 0.0, "reference_tokens_per_sentence": 5.5}
    for known in ({}, both):
        write_run(tmp_path / "run.json", run_record(quality={"bleu": {**told, **known}}))
        assert read_run(tmp_path / "run.json")["quality"]["bleu"] == {**told, **known}
    for name, value in both.items():
        with pytest.raises(FramewattError, match="is a dependency of"):
            write_run(tmp_path / "run.json", run_record(quality={"bleu": {**told, name: value}}))


def test_a_zero_cannot_stand_for_unknown_joules_but_null_can(tmp_path: Path) -> None:
    record = run_record(domains={"cpu:package-0": energy(None)})
    write_run(tmp_path / "run.json", record)
    assert read_run(tmp_path / "run.json")["windows"]["steady"]["domains"]["cpu:package-0"]["energy_gross_j"] is None


def test_not_a_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        write_json(tmp_path / "x.json", {"power_w": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("old")

    def fail(partial: Path) -> None:
        partial.write_text("half")
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, fail)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("x.json", "old")]


def test_hashes_follow_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    both = sha256_of_files([tmp_path / "b", tmp_path / "a"], tmp_path)
    assert both == sha256_of_files([tmp_path / "a", tmp_path / "b"], tmp_path)
    (tmp_path / "b").rename(tmp_path / "c")
    assert both != sha256_of_files([tmp_path / "a", tmp_path / "c"], tmp_path)
    # sha256("1"), by sha256sum
    assert sha256_of(tmp_path / "a") == "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"


def test_a_trace_keeps_every_reading_and_a_failed_one_as_null(tmp_path: Path) -> None:
    channels = tuple(Channel("rapl", f"cpu:package-{i}", "energy_j", COUNTER, 0.001, wrap=9.0) for i in (0, 1))
    trace = Trace(channels, np.array([1, 1, 2, 2]), np.array([0, 1, 0, 1]), np.array([5.0, 6.0, 5.0, np.nan]))
    write_trace(tmp_path / "power.parquet", trace)
    rows = pq.read_table(tmp_path / "power.parquet").to_pylist()
    assert [(row["monotonic_ns"], row["domain"], row["value"]) for row in rows] == [
        (1, "cpu:package-0", 5.0),
        (1, "cpu:package-1", 6.0),
        (2, "cpu:package-0", 5.0),
        (2, "cpu:package-1", None),
    ]


def test_a_trace_comes_back_with_its_channels(tmp_path: Path) -> None:
    channels = tuple(Channel("rapl", f"cpu:package-{i}", "energy_j", COUNTER, 0.001, wrap=9.0) for i in (0, 1))
    trace = Trace(channels, np.array([1, 1, 2, 2]), np.array([0, 1, 0, 1]), np.array([5.0, 6.0, 5.0, np.nan]))
    write_trace(tmp_path / "power.parquet", trace)
    back = open_trace(tmp_path / "power.parquet")
    assert back.channels == channels
    assert list(back.monotonic_ns) == [1, 1, 2, 2]
    assert list(back.channel) == [0, 1, 0, 1]
    assert np.array_equal(back.value, trace.value, equal_nan=True)


def test_a_file_that_is_no_trace_is_named(tmp_path: Path) -> None:
    (tmp_path / "power.parquet").write_text("joules")
    with pytest.raises(FramewattError, match=r"power.parquet is not a power trace"):
        open_trace(tmp_path / "power.parquet")


def test_a_trace_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    rows = 3_000_000
    same = pa.table({"monotonic_ns": pa.array(np.zeros(rows, np.int64)), "value": pa.array(np.zeros(rows))})
    pq.write_table(same, tmp_path / "power.parquet", compression="zstd")
    with pytest.raises(FramewattError, match=rf"power.parquet: its {rows} rows in \d+ bytes would take"):
        open_trace(tmp_path / "power.parquet")


def rewrite(path: Path, **changed: object) -> None:
    """A good trace with columns or channels exchanged, as a forger's own program would write it."""
    write_trace(path, Trace((CHANNEL,), np.arange(3), np.zeros(3, int), np.ones(3)))
    table = pq.read_table(path)
    metadata = {"framewatt.channels": json.dumps(changed.pop("channels", [CHANNEL.to_dict()]))}
    for name, values in changed.items():
        column = pa.array(values)
        table = table.set_column(table.column_names.index(name), name, column)
    pq.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")


CHANNEL = Channel("rapl", "cpu:package-0", "energy_j", COUNTER, 0.001)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            {"value": ["5"] * 3},
            "the columns are monotonic_ns int64, .* value string. Use a file with monotonic_ns int64",
        ),
        ({"value": [[1.0]] * 3}, "the columns are monotonic_ns, instrument, domain, quantity, element. Use"),
        ({"monotonic_ns": [1, None, 2]}, "readings without a time"),
        ({"domain": pa.array(["cpu:dram-0"] * 3).dictionary_encode()}, "of a channel that it does not describe"),
        ({"channels": {}}, "its channels are no list"),
        ({"channels": [7]}, "a channel has unknown fields, or lacks some"),
        ({"channels": [{**CHANNEL.to_dict(), "update_period_s": "1"}]}, "a channel has '1' as its update_period_s"),
        ({"channels": [{**CHANNEL.to_dict(), "wrap": -1.0}]}, "a channel has -1.0 as its wrap"),
        ({"channels": [{**CHANNEL.to_dict(), "estimated": 0}]}, "a channel has 0 as its estimated"),
        ({"channels": [{**CHANNEL.to_dict(), "kind": "meter"}]}, "a channel has 'meter' as its kind"),
        ({"channels": [CHANNEL.to_dict()] * 2}, "a channel is described twice"),
    ],
)
def test_a_trace_of_another_form_is_one_line(tmp_path: Path, changed: dict, reason: str) -> None:
    rewrite(tmp_path / "power.parquet", **changed)
    with pytest.raises(FramewattError, match=reason):
        open_trace(tmp_path / "power.parquet")


def test_texts_that_would_fill_the_memory_are_refused_before_they_are_read(tmp_path: Path) -> None:
    rewrite(tmp_path / "power.parquet")
    table = pq.read_table(tmp_path / "power.parquet")
    long = pa.array([f"{n % 9}{'x' * 2_000_000}" for n in range(60)])
    few = pa.table({name: pa.concat_arrays([table[name].chunk(0)] * 20) for name in table.column_names})
    pq.write_table(
        few.set_column(1, "instrument", long), tmp_path / "power.parquet", compression="zstd", use_dictionary=False
    )
    assert (tmp_path / "power.parquet").stat().st_size < 100_000
    with pytest.raises(FramewattError, match=r"its 60 rows in .* bytes would take .*, more than 200 times its size"):
        open_trace(tmp_path / "power.parquet")


def test_events_carry_both_clocks(tmp_path: Path) -> None:
    clock = Clock(1_000_000_000, "2026-01-01T00:00:00+00:00")
    events = [{"window": "steady", "edge": "start", "monotonic_ns": 2_500_000_000}]
    write_events(tmp_path / "events.parquet", events, clock)
    (row,) = pq.read_table(tmp_path / "events.parquet").to_pylist()
    assert row == {**events[0], "utc": "2026-01-01T00:00:01.500000+00:00"}
