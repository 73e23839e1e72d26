"""The real sampling process in real time: how often it reads, how late it is, and what it takes of a core."""

import gc
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from framewatt.meters.contract import GAUGE, Channel
from framewatt.meters.rapl import Rapl
from framewatt.sampling.client import Sampler
from framewatt.sampling.loop import sample
from framewatt.sampling.opening import open_meters
from framewatt.sampling.raw import read_raw

OPTIONS = {"period_s": 0.02, "estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0}


@pytest.fixture
def sampler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sampler:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    return Sampler(["estimate"], OPTIONS, tmp_path / "trace.bin")


@pytest.mark.measured(twin="tests/sampling/test_loop.py::test_it_reads_at_the_times_of_its_grid_and_reports_how_it_did")
def test_it_samples_at_its_pace_and_reports_how_it_did(sampler: Sampler) -> None:
    sampler.start()
    begin = time.monotonic_ns()
    time.sleep(1)
    end = time.monotonic_ns()
    summary = sampler.stop()
    time_ns, joules = sampler.trace().read_channel(0)
    inside = (time_ns >= begin) & (time_ns <= end)
    # 50 samples a second by the grid.
    assert 25 <= np.count_nonzero(inside) <= 51
    assert (np.diff(time_ns) > 0).all()
    assert (np.diff(joules) > 0).all()
    assert "error" not in summary
    assert summary["reads"] + 1 == len(time_ns)
    assert 0 < summary["core_share"] < 0.5
    assert summary["lateness_p50_s"] <= summary["lateness_p99_s"] <= summary["lateness_max_s"]


class Steady:
    """A meter that shows 1.

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
    """Run what the sampling process does, in this one, for some seconds; its summary."""
    reader, writer = os.pipe()
    with os.fdopen(reader) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        threading.Timer(seconds, os.close, [writer]).start()
        try:
            return sample(tasks)
        finally:
            gc.enable()


@pytest.mark.measured(twin="tests/sampling/test_loop.py::test_a_meter_that_has_not_answered_keeps_no_other_waiting")
def test_a_slow_meter_keeps_no_other_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # 8 GPUs, asked 10 things of 1 ms each, and a counter that answers at once.
    channels, tasks = open_meters([Steady(0.08), Steady(0.0)], tmp_path / "trace.bin")
    sample_for(1.5, tasks, monkeypatch)
    slow, quick = (read_raw(tmp_path / "trace.bin", tuple(channels)).read_channel(index)[0] for index in (0, 1))
    # By itself the slow one is read 18 times in that time and the other 75 times; behind it, both would be 18 times.
    assert 10 <= len(slow) <= 20
    assert len(quick) >= 45


@pytest.mark.measured(twin="tests/sampling/test_loop.py::test_a_reading_each_millisecond_shows_how_late_it_was")
def test_a_reading_each_millisecond_shows_how_late_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zone = tmp_path / "powercap" / "intel-rapl:0"
    zone.mkdir(parents=True)
    for name, content in (("name", "package-0"), ("energy_uj", "5000000"), ("max_energy_range_uj", "262143328850")):
        (zone / name).write_text(content)
    channels, tasks = open_meters([Rapl(zone.parent, period_s=0.001)], tmp_path / "trace.bin")
    summary = sample_for(1, tasks, monkeypatch)
    assert channels[0].period_s == 0.001
    *times_ns, _ = read_raw(tmp_path / "trace.bin", tuple(channels)).read_channel(0)[0]
    # Each period has a reading or a missed one; the first and the last reading may be late.
    periods = (times_ns[-1] - times_ns[0]) / 1e6
    assert summary["reads"] + summary["missed_reads"] == pytest.approx(
        periods + 1, abs=2 + 1000 * summary["lateness_max_s"]
    )
    assert summary["reads"] >= 300
    assert summary["lateness_p50_s"] > 0
