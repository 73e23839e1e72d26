"""A study's meters, characterised on this machine: a wall meter whose log follows the loads that really run."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from framewatt.characterisation.measure import characterise_for_study
from framewatt.characterisation.measured import in_force
from framewatt.characterisation.schedule import ALL_CORES
from framewatt.host.machine import usable_processors
from framewatt.meters.contract import GAUGE, Channel

IDLE_W, BUSY_W = 50.0, 250.0
LINE_S = 0.05


@pytest.fixture
def wall(tmp_path: Path) -> Iterator[Path]:
    """A log of what this process' children would draw, by the processor time that they take."""
    path, ended = tmp_path / "wall.csv", threading.Event()
    path.write_text("time,power_w\n")

    def busy_s() -> float:
        found = 0.0
        for child in psutil.Process().children(recursive=True):
            try:
                times = child.cpu_times()
            except psutil.Error:
                continue
            found += times.user + times.system
        return found

    def log() -> None:
        before_s, then = busy_s(), time.time()
        with path.open("a") as file:
            while not ended.wait(LINE_S):
                after_s, now = busy_s(), time.time()
                share = (after_s - before_s) / (now - then) / usable_processors()
                file.write(f"{now:.6f},{IDLE_W + (BUSY_W - IDLE_W) * max(share, 0):.1f}\n")
                file.flush()
                before_s, then = after_s, now

    thread = threading.Thread(target=log)
    thread.start()
    yield path
    ended.set()
    thread.join()


@pytest.mark.measured(
    twin="tests/characterisation/test_study_simulated.py::test_a_wall_meter_is_characterised_before_a_study"
)
def test_a_wall_meter_is_characterised_before_a_study(
    wall: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    options = {"external": {"path": str(wall), "period_s": LINE_S, "lag_s": 1.0}}
    began = time.monotonic()
    found = characterise_for_study(["external", "estimate"], options, 2.0, tmp_path, tmp_path / "trace.bin")
    assert time.monotonic() - began < 60
    assert found is not None
    (one,) = found["channels"]
    assert one["problems"] == []
    (response,) = one["responses"]
    assert (response["load"], response["seen"]) == (ALL_CORES, True)
    assert response["power_w"] > IDLE_W + 0.1 * (BUSY_W - IDLE_W)
    # The log's line is a mean over the line's time, behind it: that much lag, or less where it is not told apart.
    delay = one["lateness"]["delay"]
    if delay["value"] is None:
        assert "too rarely for steps of" in delay["reason"]  # a busy machine, on which lines are late
    else:
        assert abs(delay["value"]) < 0.3 + 2 * delay["uncertainty"]
    documented = Channel("external", "external:wall", "power_w", GAUGE, LINE_S)
    (channel,) = in_force([documented], {"characterisation": found})
    assert channel.fit_window_s > 0
    assert channel.resolution == pytest.approx(0.1)
