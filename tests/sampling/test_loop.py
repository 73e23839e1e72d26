"""The loop of the sampling process on simulated time: when it reads, and what slow or failing meters do to others."""

import gc
import math
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from simulated_time import S, SimulatedSelect, SimulatedTime

from framewatt.meters.contract import COUNTER, GAUGE, Channel, Meter
from framewatt.meters.rapl import Rapl
from framewatt.sampling import loop, opening, turns
from framewatt.sampling.loop import sample
from framewatt.sampling.opening import open_meters
from framewatt.sampling.raw import RawRows, read_raw
from framewatt.sampling.turns import OnTime

HANGS_S = 120.0
"""Seconds after which something that a test waits for is taken for something that never happens."""


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
    started_ns = clock.now_ns
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(fileno=lambda: 0))
    monkeypatch.setattr(loop, "select", SimulatedSelect(clock, 0, started_ns + round(seconds * S), late_s))
    try:
        summary = sample(tasks)
    finally:
        gc.enable()
    trace = read_raw(path, tuple(channels))
    return summary, [trace.read_channel(index)[0] - started_ns for index in range(len(channels))]


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
    assert len(trace.read_channel(1)[0]) >= 20
    # The one that waited for them, and the last one of all; in between the slow meter may have been read again.
    assert len(trace.read_channel(0)[0]) >= 2
    assert np.count_nonzero(trace.read_channel(1)[0] < trace.read_channel(0)[0][1]) >= 19


def test_an_error_of_a_slow_meter_ends_the_sampling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, tasks = open_meters([Steady(0.002)], tmp_path / "trace.bin")
    reader, writer = os.pipe()

    def full(*_: object) -> None:
        os.close(writer)
        raise OSError("no space left on device")

    monkeypatch.setattr(tasks[0].file, "append", full)
    with pytest.raises(OSError, match="no space left"):
        sample_until_closed(tasks, monkeypatch, reader)


def test_a_reading_each_millisecond_shows_how_late_it_was(
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
