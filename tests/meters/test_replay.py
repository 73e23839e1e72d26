"""A recorded trace as a meter."""

import math
from pathlib import Path

import numpy as np
import pytest
from meter_values import values

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.replay import Replay
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import write_trace


def test_a_replay_reads_what_was_recorded_when_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Channel("rapl", "cpu:package-0", "energy_j", COUNTER, 0.001, wrap=50.0, max_power_w=100.0)
    recorded = np.array([7, 8, 9]) * 1_000_000_000
    write_trace(tmp_path / "power.parquet", Trace((channel,), recorded, np.zeros(3), np.array([40.0, np.nan, 5.0])))
    now_ns = [0]
    monkeypatch.setattr("time.monotonic_ns", lambda: now_ns[0])
    meter = Replay(tmp_path / "power.parquet", speed=2.0)
    (replayed,) = meter.open()
    assert (replayed.instrument, replayed.wrap, replayed.max_power_w) == ("replay", 50.0, 200.0)
    found = []
    for half_seconds in (0, 0.5, 1, 1.5, 2, 3):
        now_ns[0] = round(half_seconds * 0.5e9)
        found += values(meter)
    assert found == pytest.approx([40, 40, math.nan, math.nan, 5, math.nan], nan_ok=True)


def test_a_replay_without_its_trace_reports_it(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"instruments.replay_trace: .*nowhere does not exist"):
        Replay(tmp_path / "nowhere").open()
