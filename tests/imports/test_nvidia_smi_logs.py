"""Logs of nvidia-smi, well-formed and not."""

from pathlib import Path

import numpy as np
import pytest
from published_data import raw_data

from framewatt.base.errors import FramewattError
from framewatt.imports import nvidia_smi
from framewatt.imports.contract import Log, Options

HEADER = "timestamp, power.draw [W], utilization.gpu [%], memory.used [MiB]"
LINES = [
    "2026/01/01 00:00:00.500, 37.51 W, 40 %, 0 MiB",
    "2026/01/01 00:00:01.500, 100.00 W, 50 %, 1 MiB",
    "2026/01/01 00:00:02.500, 200.25 W, 60 %, 2 MiB",
]


def read(folder: Path, *lines: str, end: str = "\n", **options: object) -> Log:
    path = folder / "gpu.csv"
    path.write_text("\n".join(lines) + end)
    return nvidia_smi.read(path, Options(**options))


def series(log: Log, quantity: str, domain: str = "gpu:0") -> tuple[np.ndarray, np.ndarray]:
    (index,) = [i for i, c in enumerate(log.trace.channels) if (c.quantity, c.domain) == (quantity, domain)]
    return log.trace.read_channel(index)


def test_units_in_header_and_cells(tmp_path: Path) -> None:
    log = read(tmp_path, HEADER, *LINES)
    time_ns, power_w = series(log, "power_w")
    assert power_w.tolist() == [37.51, 100.0, 200.25]
    assert np.diff(time_ns).tolist() == [1_000_000_000, 1_000_000_000]
    assert time_ns[0] == 1_767_225_600_500_000_000
    assert series(log, "memory_used_b")[1].tolist() == [0, 2**20, 2**21]
    assert log.dated
    assert {channel.period_s for channel in log.trace.channels} == {1.0}


@pytest.mark.parametrize(
    ("header", "cell"),
    [("power.draw [W]", "37.51"), ("power.draw", "37.51 W"), ("power.draw", "37510 mW"), ("power.draw", "37.51")],
)
def test_a_unit_may_stand_in_the_header_the_cells_or_nowhere(tmp_path: Path, header: str, cell: str) -> None:
    log = read(tmp_path, f"timestamp, {header}", f"2026/01/01 00:00:00.000, {cell}", f"2026/01/01 00:00:01.000, {cell}")
    assert series(log, "power_w")[1] == pytest.approx([37.51, 37.51])


@pytest.mark.parametrize("word", ["[N/A]", "[Unknown Error]", "[GPU is lost]", "N/A"])
def test_a_failed_reading_is_unknown(tmp_path: Path, word: str) -> None:
    log = read(tmp_path, HEADER, LINES[0], f"2026/01/01 00:00:01.500, {word}, 50 %, 1 MiB", LINES[2])
    power_w = series(log, "power_w")[1]
    assert np.isnan(power_w[1])
    assert power_w[[0, 2]].tolist() == [37.51, 200.25]


@pytest.mark.parametrize(
    "cut", ["2026/01/01 00:00:03.500, 37.5", "2026/01/01 00:0", "2026/01/01 00:00:03.500, 37.51 W, 4"]
)
def test_a_last_line_that_is_cut_short_is_left_out_and_told(tmp_path: Path, cut: str) -> None:
    log = read(tmp_path, HEADER, *LINES, cut, end="")
    assert series(log, "power_w")[1].tolist() == [37.51, 100.0, 200.25]
    assert log.flags == ("line 5 of gpu.csv is cut short and left out",)


def test_a_last_number_without_its_unit_is_cut_short(tmp_path: Path) -> None:
    log = read(tmp_path, HEADER, *LINES, "2026/01/01 00:00:03.500, 37.51 W, 40 %, 1", end="")
    assert len(series(log, "power_w")[1]) == 3


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("2026/01/01 00:00:01.500, 37,51 W, 40 %, 0 MiB", "line 3: found 5 fields (a comma as decimal mark?)"),
        ("2026/01/01 00:00:01.500, 37.51 mW, 40 %, 0 MiB", "line 3: found power.draw in mW; allowed: W, as above"),
        ("2026/01/01 00:00:01.500, much, 40 %, 0 MiB", "line 3: found power.draw 'much'"),
        ("2026/01/01 00:00:00.100, 37.51 W, 40 %, 0 MiB", "line 3: found 2026/01/01 00:00:00.100, before the reading"),
        ("yesterday, 37.51 W, 40 %, 0 MiB", "line 3: found time 'yesterday'"),
        (HEADER, "line 3: found time 'timestamp'"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(FramewattError) as error:
        read(tmp_path, HEADER, LINES[0], line, LINES[2])
    assert f"gpu.csv: {told}" in str(error.value)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([""], "found an empty file"),
        ([HEADER], "found no reading below the header"),
        (["timestamp, temperature.gpu", *LINES], "line 1: found no power among timestamp, temperature.gpu"),
        (["power.draw [W]", "1 W", "2 W"], "line 1: found no timestamp"),
    ],
)
def test_a_file_without_what_is_needed_is_told(tmp_path: Path, lines: list[str], told: str) -> None:
    with pytest.raises(FramewattError, match=r"gpu\.csv: ") as error:
        read(tmp_path, *lines)
    assert told in str(error.value)


def test_columns_have_other_names(tmp_path: Path) -> None:
    log = read(tmp_path, "when,GPU Power", "2026-01-01T00:00:00,5 W", "2026-01-01T00:00:01,6 W",
               columns={"timestamp": "when", "power.draw": "GPU Power"})  # fmt: skip
    assert series(log, "power_w")[1].tolist() == [5, 6]
    with pytest.raises(FramewattError, match="line 1: found no column 'Watts'; allowed: one of when, GPU Power"):
        read(tmp_path, "when,GPU Power", "2026-01-01T00:00:00,5 W", columns={"power.draw": "Watts"})


def test_columns_of_a_file_without_header_have_numbers(tmp_path: Path) -> None:
    log = read(tmp_path, *LINES, columns={"timestamp": 1, "power.draw": 2})
    assert series(log, "power_w")[1].tolist() == [37.51, 100.0, 200.25]


def test_every_gpu_is_a_domain(tmp_path: Path) -> None:
    log = read(tmp_path, "timestamp, index, power.draw [W]",
               "2026/01/01 00:00:00.000, 0, 10.00 W", "2026/01/01 00:00:00.001, 1, 50.00 W",
               "2026/01/01 00:00:01.000, 0, 11.00 W", "2026/01/01 00:00:01.001, 1, 51.00 W")  # fmt: skip
    assert series(log, "power_w", "gpu:0")[1].tolist() == [10, 11]
    assert series(log, "power_w", "gpu:1")[1].tolist() == [50, 51]


def test_lines_are_dropped_at_head_and_tail_but_keep_their_numbers(tmp_path: Path) -> None:
    log = read(tmp_path, HEADER, *LINES, drop_head=1, drop_tail=1)
    assert series(log, "power_w")[1].tolist() == [100.0]
    with pytest.raises(FramewattError, match="line 4"):
        read(tmp_path, HEADER, *LINES[:2], "bad", drop_head=1)


def test_without_a_clock_times_come_from_the_interval(tmp_path: Path) -> None:
    log = read(tmp_path, "power.draw [W]", "1.00 W", "2.00 W", interval_s=0.5)
    assert series(log, "power_w")[0].tolist() == [0, 500_000_000]
    assert log.paced
    assert not log.dated


def test_reads_the_logs_of_a_published_study() -> None:
    folder = raw_data("itu", "experiments")
    paths = sorted(folder.glob("experiments/*/*/*-ENERGY.csv"))
    assert len(paths) >= 96
    logs = [nvidia_smi.read(path, Options()) for path in paths]
    assert sum(len(log.trace.value) for log in logs) == 5 * sum(path.read_text().count("\n") - 1 for path in paths)
    assert all(np.isfinite(log.trace.value).all() and not log.flags for log in logs)


def test_both_ways_of_reading_agree(tmp_path: Path) -> None:
    quick = read(tmp_path, HEADER, *LINES)
    slow = read(tmp_path, HEADER, *LINES, "")  # a blank line at the end
    assert quick.trace.value.tolist() == slow.trace.value.tolist()
    assert quick.trace.monotonic_ns.tolist() == slow.trace.monotonic_ns.tolist()
