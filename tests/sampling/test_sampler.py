"""The real sampling process, on the estimate, which every Linux machine has."""

import gc
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import COUNTER, GAUGE, Channel
from framewatt.meters.rapl import Rapl
from framewatt.sampling.client import Sampler
from framewatt.sampling.loop import sample
from framewatt.sampling.opening import open_meters
from framewatt.sampling.raw import RawReadings, RawRows, read_raw
from framewatt.sampling.turns import OnTime

OPTIONS = {"period_s": 0.02, "estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0}


@pytest.fixture
def sampler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sampler:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    return Sampler(["estimate"], OPTIONS, tmp_path / "trace.bin")


def test_it_samples_at_its_pace_and_tells_how_it_did(sampler: Sampler) -> None:
    sampler.start()
    begin = time.monotonic_ns()
    time.sleep(1)
    end = time.monotonic_ns()
    summary = sampler.stop()
    time_ns, joules = sampler.trace().of(0)
    inside = (time_ns >= begin) & (time_ns <= end)
    # 50 samples a second by the grid; a busy machine may cost some.
    assert 25 <= np.count_nonzero(inside) <= 51
    assert (np.diff(time_ns) > 0).all()
    assert (np.diff(joules) > 0).all()
    assert "error" not in summary
    assert summary["reads"] + 1 == len(time_ns)
    assert 0 < summary["core_share"] < 0.5
    assert summary["lateness_p50_s"] <= summary["lateness_p99_s"] <= summary["lateness_max_s"]


def test_a_killed_sampler_leaves_what_it_had_and_no_summary(sampler: Sampler) -> None:
    sampler.start()
    time.sleep(1.2)
    os.kill(sampler.pid, signal.SIGKILL)
    assert sampler.stop() == {"error": "the sampling process died or hung"}
    assert len(sampler.trace().monotonic_ns) > 10


def test_a_sampler_stopped_for_a_while_shows_the_gap(sampler: Sampler) -> None:
    sampler.start()
    time.sleep(0.3)
    os.kill(sampler.pid, signal.SIGSTOP)
    time.sleep(1)
    os.kill(sampler.pid, signal.SIGCONT)
    time.sleep(0.3)
    summary = sampler.stop()
    time_ns, joules = sampler.trace().of(0)
    # Where it was stopped in the middle of a reading, that one has no time, and counts as failed.
    assert np.diff(time_ns[np.isfinite(joules)]).max() > 0.9e9
    assert "error" not in summary
    assert summary["missed_reads"] >= 40


def test_it_ends_when_its_parent_lets_go(sampler: Sampler) -> None:
    sampler.start()
    pid = sampler.pid
    assert "error" not in sampler.stop()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("opened", [True, False], ids=["while it samples", "before it could say why it does not"])
def test_a_sampler_whose_parent_died_ends_without_a_word(tmp_path: Path, opened: bool) -> None:
    meter = "estimate" if opened else "no-such-meter"
    request = json.dumps({"meters": [meter], "options": OPTIONS, "path": str(tmp_path / "trace.bin")})
    sampler = subprocess.Popen(
        [sys.executable, "-m", "framewatt.sampling", request],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if opened:
        sampler.stdout.readline()
    # What the kernel does when a parent is killed: both ends of its pipes go.
    sampler.stdout.close()
    sampler.stdin.close()
    assert sampler.stderr.read() == b""
    assert sampler.wait(timeout=20) == (0 if opened else 1)


def test_ctrl_c_in_the_terminal_does_not_end_it_before_the_run_has_ended(sampler: Sampler) -> None:
    sampler.start()
    os.kill(sampler.pid, signal.SIGINT)
    time.sleep(0.3)
    assert "error" not in sampler.stop()


def test_a_meter_that_cannot_be_opened_is_an_error_not_an_empty_trace(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    sampler = Sampler(["nvml"], OPTIONS, tmp_path / "trace.bin")
    with pytest.raises(FramewattError, match="meter nvml: "):
        sampler.start()
    assert not list(tmp_path.iterdir())


def test_a_reading_cut_short_is_left_out(sampler: Sampler) -> None:
    sampler.channels = (Channel("estimate", "cpu:estimate", "energy_j", COUNTER, 0.01),)
    file = RawRows(sampler.path, 0, 1)
    for second in (1, 2, 3):
        file.append(second, [10.0 * second])
    file.close()
    (written,) = sampler.path.parent.iterdir()
    written.write_bytes(written.read_bytes()[:-5])
    time_ns, joules = sampler.trace().of(0)
    assert (list(time_ns), list(joules)) == ([1, 2], [10.0, 20.0])


@pytest.mark.parametrize(
    ("tail", "left"), [(b"", [10.0, 20.0, 30.0]), (b"\0" * 40, [10.0, 20.0]), (b"\0" * 3, [10.0, 20.0, 30.0])]
)
def test_a_tail_of_zeros_ends_a_file_and_takes_the_last_reading_with_it(
    tmp_path: Path, tail: bytes, left: list[float]
) -> None:
    file = RawRows(tmp_path / "trace", 0, 1)
    for second in (1, 2, 3):
        file.append(second, [10.0 * second])
    file.close()
    (written,) = tmp_path.iterdir()
    written.write_bytes(written.read_bytes() + tail)
    _, joules = read_raw(tmp_path / "trace", (Channel("m", "d", "energy_j", COUNTER, 0.01),)).of(0)
    assert list(joules) == left


def test_a_file_of_zeros_alone_has_no_reading(tmp_path: Path) -> None:
    (tmp_path / "trace.0-1").write_bytes(b"\0" * 64)
    time_ns, _ = read_raw(tmp_path / "trace", (Channel("m", "d", "energy_j", COUNTER, 0.01),)).of(0)
    assert len(time_ns) == 0


def test_rows_and_single_readings_are_one_trace(tmp_path: Path) -> None:
    rows, readings = RawRows(tmp_path / "trace", 0, 2), RawReadings(tmp_path / "trace", 2)
    rows.append(5, [1.0, math.nan])
    readings.append([(7, 0, 3.0), (6, 1, 4.0)])
    rows.close()
    readings.close()
    channels = tuple(Channel("m", f"d{n}", "energy_j", COUNTER, 0.01) for n in range(4))
    trace = read_raw(tmp_path / "trace", channels)
    found = [(list(time_ns), list(values)) for time_ns, values in map(trace.of, range(4))]
    assert found[0] == ([5], [1.0])
    assert math.isnan(found[1][1][0])
    assert found[2:] == [([7], [3.0]), ([6], [4.0])]


class HeldUp:
    """A meter of which every reading shows its number, and takes as long as it is told.

    Args:
        pauses_s: how long each reading takes, as it does where the process is stopped in the middle of it.
    """

    name = "held-up"
    period_s = 0.02

    def __init__(self, pauses_s: list[float]) -> None:
        self.pauses_s = pauses_s
        self.readings = 0

    def values(self) -> list[float]:
        time.sleep(self.pauses_s[self.readings])
        self.readings += 1
        return [float(self.readings)]


@pytest.mark.parametrize(
    ("pauses_s", "values"),
    [
        pytest.param([0.0, 0.01, 0.0], [1.0, 2.0, 3.0], id="in time"),
        pytest.param([0.0, 0.1, 0.0, 0.0], [1.0, 3.0, 4.0], id="held up once: read again"),
        pytest.param([0.0, 0.3, 0.3, 0.0], [1.0, math.nan, 4.0], id="held up again: a failed one"),
        pytest.param([0.0, 0.05, 0.05, 0.0], [1.0, 3.0, 4.0], id="held up twice, not for long: the second counts"),
    ],
)
def test_a_reading_whose_time_is_not_known_does_not_count(
    tmp_path: Path, pauses_s: list[float], values: list[float]
) -> None:
    file = RawRows(tmp_path / "trace.bin", 0, 1)
    reads = OnTime(HeldUp(pauses_s), file)
    for _ in range(3):
        reads.turn()
    file.close()
    channels = (Channel("held-up", "cpu:package-0", "energy_j", COUNTER, 0.001),)
    assert np.array_equal(read_raw(tmp_path / "trace.bin", channels).value, values, equal_nan=True)


def test_a_meter_that_is_slow_by_itself_is_read_once_a_reading(tmp_path: Path) -> None:
    meter = HeldUp([0.03] * 3)
    reads = OnTime(meter, RawRows(tmp_path / "trace.bin", 0, 1), takes_s=0.03)
    for _ in range(3):
        reads.turn()
    assert meter.readings == 3


class Steady:
    """A meter that shows 1, and takes as long as it is told.

    Args:
        takes_s: how long each reading takes.
    """

    def __init__(self, takes_s: float) -> None:
        self.name = f"takes {takes_s} s"
        self.period_s = 0.02
        self._takes_s = takes_s

    def available(self) -> tuple[bool, str]:
        return True, ""

    def open(self) -> list[Channel]:
        return [Channel(self.name, "gpu:0", "power_w", GAUGE, 0.1)]

    def values(self) -> list[float]:
        time.sleep(self._takes_s)
        return [1.0]

    def close(self) -> None: ...


def sample_for(seconds: float, tasks: list, monkeypatch: pytest.MonkeyPatch) -> dict:
    """What the sampling process does, in this one; its summary."""
    end, held = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(end))
    threading.Timer(seconds, os.close, [held]).start()
    try:
        return sample(tasks)
    finally:
        gc.enable()


def test_a_slow_meter_keeps_no_other_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # 8 GPUs, asked 10 things of 1 ms each, and a counter that answers at once.
    channels, tasks = open_meters([Steady(0.08), Steady(0.0)], tmp_path / "trace.bin")
    sample_for(1.5, tasks, monkeypatch)
    slow, quick = (read_raw(tmp_path / "trace.bin", tuple(channels)).of(index)[0] for index in (0, 1))
    # By itself one is read 18 times in that time and the other 75 times; behind the first, both would be 18 times.
    assert 10 <= len(slow) <= 20
    assert len(quick) >= 45


def test_an_error_of_a_slow_meter_ends_the_sampling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, tasks = open_meters([Steady(0.01)], tmp_path / "trace.bin")

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(tasks[0].file, "append", full)
    with pytest.raises(OSError, match="no space left"):
        sample_for(0.3, tasks, monkeypatch)


def test_a_reading_each_millisecond_tells_how_late_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zone = tmp_path / "powercap" / "intel-rapl:0"
    zone.mkdir(parents=True)
    for name, content in (("name", "package-0"), ("energy_uj", "5000000"), ("max_energy_range_uj", "262143328850")):
        (zone / name).write_text(content)
    channels, tasks = open_meters([Rapl(zone.parent, period_s=0.001)], tmp_path / "trace.bin")
    summary = sample_for(1, tasks, monkeypatch)
    assert channels[0].period_s == 0.001
    *times_ns, _ = read_raw(tmp_path / "trace.bin", tuple(channels)).of(0)[0]
    # Each period has a reading or a missed one; the first and the last reading may be late.
    periods = (times_ns[-1] - times_ns[0]) / 1e6
    assert summary["reads"] + summary["missed_reads"] == pytest.approx(
        periods + 1, abs=2 + 1000 * summary["lateness_max_s"]
    )
    assert summary["reads"] >= 300
    assert summary["lateness_p50_s"] > 0
