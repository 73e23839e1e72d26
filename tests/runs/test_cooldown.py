"""When power is back near idle."""

import numpy as np
import pytest
from simulated_time import SimulatedTime

from framewatt.meters.contract import GAUGE, Channel
from framewatt.meters.trace import Trace
from framewatt.runs import calibration
from framewatt.runs.calibration import excess_over_idle, wait_for_idle

S = 1_000_000_000
IDLE = {"domains": {"cpu:package-0": {"mean_power_w": 20.0}, "gpu:0": {"mean_power_w": 50.0}}}


def trace(cpu_w: float, gpu_w: float, seconds: float = 3) -> Trace:
    """Constant power of a processor and a GPU, a reading each 10 ms."""
    channels = tuple(
        Channel("scripted", domain, "power_w", GAUGE, 0.01, period_s=0.01) for domain in ("cpu:package-0", "gpu:0")
    )
    time_ns = (np.arange(0, seconds, 0.01) * S).astype(np.int64)
    count = len(time_ns)
    return Trace(channels, np.tile(time_ns, 2), np.repeat([0, 1], count), np.repeat([cpu_w, gpu_w], count))


class Sampled:
    """A sampler whose trace is another one each time."""

    def __init__(self, *traces: Trace) -> None:
        self.traces = list(traces)

    def trace(self) -> Trace:
        return self.traces.pop(0) if len(self.traces) > 1 else self.traces[0]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimulatedTime:
    clock = SimulatedTime()
    monkeypatch.setattr(calibration, "time", clock)
    return clock


def test_the_domain_that_draws_most_over_idle_decides() -> None:
    assert excess_over_idle(trace(22, 75), IDLE) == pytest.approx(0.5)
    assert excess_over_idle(trace(19, 49), IDLE) == pytest.approx(-0.02)


def test_less_than_a_second_of_readings_tells_nothing() -> None:
    assert excess_over_idle(trace(20, 50, seconds=0.5), IDLE) is None


def test_without_idle_power_nothing_is_known() -> None:
    assert excess_over_idle(trace(20, 50), {"domains": {}}) is None


def test_it_waits_until_power_is_back(clock: SimulatedTime) -> None:
    assert wait_for_idle(Sampled(trace(40, 90), trace(30, 60), trace(20.5, 51)), IDLE, band=0.05, timeout_s=5)
    assert clock.sleeps_s == [0.25] * 3


def test_a_machine_that_stays_busy_runs_into_the_timeout(clock: SimulatedTime) -> None:
    assert not wait_for_idle(Sampled(trace(40, 90)), IDLE, band=0.05, timeout_s=0.6)
    assert clock.sleeps_s == [0.25] * 3
