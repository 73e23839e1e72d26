"""The sampling process: its loop on simulated time, and the real process on the estimate, which every Linux has.

Nothing here depends on how busy the machine is; what needs real time is in tests/measured/test_sampler_in_time.py.
"""

import gc
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from simulated_time import S, SimulatedSelect, SimulatedTime

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import COUNTER, GAUGE, Channel, Meter
from framewatt.meters.rapl import Rapl
from framewatt.sampling import client, loop, opening, turns
from framewatt.sampling.client import Sampler
from framewatt.sampling.loop import sample
from framewatt.sampling.opening import open_meters
from framewatt.sampling.raw import RawReadings, RawRows, read_raw
from framewatt.sampling.turns import OnTime

OPTIONS = {"period_s": 0.02, "estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0}
HANGS_S = 120.0
"""Seconds after which something that a test waits for is taken for something that never happens."""


@pytest.fixture
def sampler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sampler:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    # It starts and ends at its leisure: what it has written is synced to a disk that others may keep busy.
    for limit in ("_START_TIMEOUT_S", "_STOP_TIMEOUT_S"):
        monkeypatch.setattr(client, limit, HANGS_S)
    return Sampler(["estimate"], OPTIONS, tmp_path / "trace.bin")


def wait_until(happened: Callable[[], object]) -> None:
    """Return when something has happened, however long that takes; fail where it does not happen."""
    deadline = time.monotonic() + HANGS_S
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def has_read_after(sampler: Sampler, instant_ns: int, count: int = 1) -> Callable[[], bool]:
    """Whether a sampler has written so many readings of after an instant."""
    return lambda: np.count_nonzero(sampler.trace().of(0)[0] > instant_ns) >= count


def state_of(pid: int) -> str:
    """The letter by which the kernel shows what a process does: T where it is stopped (proc(5))."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimulatedTime:
    """Simulated time for the whole sampling process."""
    clock = SimulatedTime()
    for module in (loop, opening, turns):
        monkeypatch.setattr(module, "time", clock)
    return clock


def simulated(
    meters: list[Meter],
    path: Path,
    seconds: float,
    clock: SimulatedTime,
    monkeypatch: pytest.MonkeyPatch,
    late_s: Callable[[], float] = lambda: 0.0,
) -> tuple[dict, list[np.ndarray]]:
    """Run the loop of the sampling process for some simulated seconds.

    Returns:
        its summary, and the times of the readings of every channel, in nanoseconds since the loop began.
    """
    channels, tasks = open_meters(meters, path)
    began_ns = clock.now_ns
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(fileno=lambda: 0))
    monkeypatch.setattr(loop, "select", SimulatedSelect(clock, 0, began_ns + round(seconds * S), late_s))
    try:
        summary = sample(tasks)
    finally:
        gc.enable()
    trace = read_raw(path, tuple(channels))
    return summary, [trace.of(index)[0] - began_ns for index in range(len(channels))]


def test_it_reads_at_the_times_of_its_grid_and_reports_how_it_did(
    tmp_path: Path, clock: SimulatedTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter = Timed(clock, takes_s=0.0)
    summary, (time_ns,) = simulated([meter], tmp_path / "trace.bin", 1.0, clock, monkeypatch)
    # 50 readings a second, and one more when standard input has closed.
    assert time_ns.tolist() == [*range(0, S, 20_000_000), S]
    assert summary == {
        "reads": 50,
        "missed_reads": 0,
        "duration_s": pytest.approx(1.0),
        "rate_per_s": pytest.approx(50.0),
        "core_share": pytest.approx(0.1),
        "lateness_p50_s": 0.0,
        "lateness_p99_s": 0.0,
        "lateness_max_s": 0.0,
    }


def test_a_process_that_is_not_scheduled_for_a_while_shows_the_gap_and_keeps_to_its_grid(
    tmp_path: Path, clock: SimulatedTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    wakes = iter([0.0] * 9 + [1.005])
    summary, (time_ns,) = simulated(
        [Timed(clock, takes_s=0.0)], tmp_path / "trace.bin", 2.0, clock, monkeypatch, lambda: next(wakes, 0.0)
    )
    late = int(np.argmax(np.diff(time_ns)))
    assert time_ns[late + 1] - time_ns[late] == pytest.approx(1.025 * S)
    assert summary["lateness_max_s"] == pytest.approx(1.005)
    assert summary["missed_reads"] == 50
    # Later readings are where they would have been.
    assert (time_ns[late + 2 : -1] % 20_000_000 == 0).all()
    assert summary["reads"] + summary["missed_reads"] == 100


def test_a_real_sampler_reads_on_and_reports_how_it_did(sampler: Sampler) -> None:
    sampler.start()
    wait_until(has_read_after(sampler, time.monotonic_ns(), 3))
    summary = sampler.stop()
    time_ns, joules = sampler.trace().of(0)
    assert (np.diff(time_ns) > 0).all()
    assert (np.diff(joules[np.isfinite(joules)]) > 0).all()
    assert "error" not in summary
    assert summary["reads"] + 1 == len(time_ns)
    assert summary["core_share"] > 0
    assert summary["lateness_p50_s"] <= summary["lateness_p99_s"] <= summary["lateness_max_s"]


def test_a_killed_sampler_leaves_what_it_had_and_no_summary(sampler: Sampler) -> None:
    sampler.start()
    wait_until(has_read_after(sampler, 0, 11))
    os.kill(sampler.pid, signal.SIGKILL)
    assert sampler.stop() == {"error": "the sampling process died or hung"}
    assert len(sampler.trace().monotonic_ns) > 10


def test_a_sampler_stopped_for_a_while_shows_the_gap(sampler: Sampler) -> None:
    sampler.start()
    wait_until(has_read_after(sampler, 0))
    os.kill(sampler.pid, signal.SIGSTOP)
    wait_until(lambda: state_of(sampler.pid) == "T")
    time.sleep(1)
    continued_ns = time.monotonic_ns()
    os.kill(sampler.pid, signal.SIGCONT)
    wait_until(has_read_after(sampler, continued_ns))
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
    assert sampler.wait(timeout=HANGS_S) == (0 if opened else 1)


def test_ctrl_c_in_the_terminal_does_not_end_it_before_the_run_has_ended(sampler: Sampler) -> None:
    sampler.start()
    os.kill(sampler.pid, signal.SIGINT)
    # The kernel hands a signal over before a process goes on, so a later reading is one of after it.
    wait_until(has_read_after(sampler, time.monotonic_ns()))
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


class Timed:
    """A meter whose every reading shows its number, and takes as long as the test says, on simulated time.

    Args:
        time: the clock.
        takes_s: how long each reading takes, or that of each reading, as it does where the process is stopped in the
            middle of it.
    """

    def __init__(self, time: SimulatedTime, takes_s: float | list[float]) -> None:
        self.name, self.period_s = "timed", 0.02
        self.readings = 0
        self._time, self._takes_s = time, takes_s

    def available(self) -> tuple[bool, str]:
        return True, ""

    def open(self) -> list[Channel]:
        return [Channel(self.name, "gpu:0", "power_w", GAUGE, 0.1)]

    def values(self) -> list[float]:
        self._time.advance(self._takes_s if isinstance(self._takes_s, float) else self._takes_s[self.readings])
        self.readings += 1
        return [float(self.readings)]

    def close(self) -> None: ...


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
    tmp_path: Path, clock: SimulatedTime, pauses_s: list[float], values: list[float]
) -> None:
    file = RawRows(tmp_path / "trace.bin", 0, 1)
    reads = OnTime(Timed(clock, pauses_s), file)
    for _ in range(3):
        reads.turn()
    file.close()
    channels = (Channel("timed", "cpu:package-0", "energy_j", COUNTER, 0.001),)
    assert np.array_equal(read_raw(tmp_path / "trace.bin", channels).value, values, equal_nan=True)


def test_a_meter_that_is_slow_by_itself_is_read_once_a_reading(tmp_path: Path, clock: SimulatedTime) -> None:
    meter = Timed(clock, 0.03)
    reads = OnTime(meter, RawRows(tmp_path / "trace.bin", 0, 1), takes_s=0.03)
    for _ in range(3):
        reads.turn()
    assert meter.readings == 3


class Steady:
    """A meter that shows 1, in real time.

    Args:
        takes_s: least seconds of the first readings, by which a meter is found to be slow or quick.
        then: called by every later reading.
    """

    def __init__(self, takes_s: float, then: Callable[[], object] = lambda: None) -> None:
        self.name, self.period_s = f"takes {takes_s} s", 0.02
        self.readings = 0
        self._takes_s, self._then = takes_s, then

    def available(self) -> tuple[bool, str]:
        return True, ""

    def open(self) -> list[Channel]:
        return [Channel(self.name, "gpu:0", "power_w", GAUGE, 0.1)]

    def values(self) -> list[float]:
        self.readings += 1
        if self.readings <= TRIES:
            time.sleep(self._takes_s)
        else:
            self._then()
        return [1.0]

    def close(self) -> None: ...


TRIES = 3
"""Readings by which it is found how long a meter takes to answer, see sampling.opening."""


def sample_until_closed(tasks: list, monkeypatch: pytest.MonkeyPatch, reader: int) -> dict:
    """Run what the sampling process does, in this one, until the other end of its standard input is closed.

    Args:
        reader: descriptor of its standard input; closed afterwards.

    Returns:
        its summary.
    """
    with os.fdopen(reader) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        try:
            return sample(tasks)
        finally:
            gc.enable()


def test_a_meter_that_has_not_answered_keeps_no_other_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow meter answers once the other has been read often; behind the slow one it would never be."""
    reader, writer = os.pipe()
    others_read = threading.Event()

    def count() -> None:
        # A reading that was held up is read again, so that 40 of them are 20 rows at least.
        if quick.readings == TRIES + 40:
            others_read.set()
            os.close(writer)

    slow, quick = Steady(0.002, lambda: others_read.wait(HANGS_S)), Steady(0.0, count)
    channels, tasks = open_meters([slow, quick], tmp_path / "trace.bin")
    sample_until_closed(tasks, monkeypatch, reader)
    trace = read_raw(tmp_path / "trace.bin", tuple(channels))
    assert len(trace.of(1)[0]) >= 20
    # The one that waited for them, and the last one of all; in between the slow meter may have been read again.
    assert len(trace.of(0)[0]) >= 2
    assert np.count_nonzero(trace.of(1)[0] < trace.of(0)[0][1]) >= 19


def test_an_error_of_a_slow_meter_ends_the_sampling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, tasks = open_meters([Steady(0.002)], tmp_path / "trace.bin")
    reader, writer = os.pipe()

    def full(*_: object) -> None:
        os.close(writer)
        raise OSError("no space left on device")

    monkeypatch.setattr(tasks[0].file, "append", full)
    with pytest.raises(OSError, match="no space left"):
        sample_until_closed(tasks, monkeypatch, reader)


def test_a_reading_each_millisecond_tells_how_late_it_was(
    tmp_path: Path, clock: SimulatedTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = tmp_path / "powercap" / "intel-rapl:0"
    zone.mkdir(parents=True)
    for name, content in (("name", "package-0"), ("energy_uj", "5000000"), ("max_energy_range_uj", "262143328850")):
        (zone / name).write_text(content)
    rng = np.random.default_rng(1)
    lateness_s: list[float] = []

    def late_s() -> float:
        # Mostly a tenth of a millisecond, and sometimes several periods.
        lateness_s.append(float(rng.choice([1e-4, 5.3e-3], p=[0.95, 0.05])))
        return lateness_s[-1]

    meter = Rapl(zone.parent, period_s=0.001)
    summary, times_ns = simulated([meter], tmp_path / "trace.bin", 1.0, clock, monkeypatch, late_s)
    assert meter.period_s == 0.001
    *times_ns, _ = times_ns[0]
    # Each period has a reading or a missed one; the last reading may be late.
    periods = (times_ns[-1] - times_ns[0]) / 1e6
    assert summary["reads"] + summary["missed_reads"] == pytest.approx(
        periods + 1, abs=1 + 1000 * summary["lateness_max_s"]
    )
    assert summary["reads"] == len(times_ns)
    assert summary["missed_reads"] >= 5 * lateness_s.count(5.3e-3) - 5
    assert summary["lateness_p50_s"] == pytest.approx(1e-4)
    assert summary["lateness_max_s"] == pytest.approx(5.3e-3)
    assert summary["rate_per_s"] == pytest.approx(summary["reads"] / summary["duration_s"])
