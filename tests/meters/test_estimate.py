"""The estimate, on a scripted /proc/stat."""

import math
import os
from pathlib import Path

import pytest
from meter_values import values

from framewatt.meters.estimate import Estimate


def stat(busy_ticks: int) -> str:
    """The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice."""
    return f"cpu  {busy_ticks} 0 0 999 50 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n"


def test_the_estimate_books_idle_and_busy_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "stat"
    file.write_text(stat(0))
    now_ns = [0]
    monkeypatch.setattr("time.monotonic_ns", lambda: now_ns[0])
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    meter = Estimate(idle_w_per_core=1.0, busy_w_per_core=5.0, stat=file)
    (channel,) = meter.open()
    assert channel.estimated
    now_ns[0] = 10_000_000_000
    file.write_text(stat(400))
    # 2 processors x 10 s x 1 W, and 400 ticks of 10 ms busy x (5 - 1) W.
    assert values(meter) == [pytest.approx(20 + 4 * 4)]
    file.write_text("garbage")
    assert math.isnan(values(meter)[0])
    meter.close()
