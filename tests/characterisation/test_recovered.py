"""What is found of simulated meters is what they were made with, within twice the uncertainty and a bound."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from simulated.meters import AVERAGE, INSTANT, NVML_COUNTER, PERF_CSV, RAPL, SimulatedMeter, late
from simulated.schedules import drawn, schedule

from framewatt.characterisation.channel import Character
from framewatt.characterisation.measure import look
from framewatt.characterisation.schedule import ALL_CORES, GPU, ONE_CORE
from framewatt.meters.trace import Trace

SEEDS = range(12)
WATT_HOUR_J = 3600.0


@dataclass(frozen=True)
class Truth:
    """A meter, and what must be found of it.

    Attributes:
        meter: the simulated one.
        update_s: mean seconds between two updates, or None where it is read no more often than it changes.
        lag_s: mean lag.
        average_s: averaging span.
        delay_u_s: the largest uncertainty of the delay that is of any use.
        digit: last digit.
    """

    meter: SimulatedMeter
    update_s: float | None
    lag_s: float
    average_s: float
    delay_u_s: float
    digit: float


SLOW = replace(INSTANT, updates_s=(0.95, 1.05), lag_s=(0.0, 0.0))
TRUTHS = {
    "RAPL": Truth(RAPL, None, 0.0005, 0.0, 0.02, 61e-6),
    "perf, two decimals": Truth(PERF_CSV, None, 0.0005, 0.0, 0.06, 0.01),
    "NVML's counter": Truth(NVML_COUNTER, 0.1, 0.01, 0.0, 0.03, 1e-3),
    "NVML's counter, 0.4 s late": Truth(late(NVML_COUNTER, 0.4), 0.1, 0.4, 0.0, 0.05, 1e-3),
    "instant power": Truth(INSTANT, 0.1, 0.01, 0.0, 0.03, 1e-3),
    "averaged over 1 s": Truth(AVERAGE, 0.1, 0.01, 1.0, 0.05, 1e-3),
    "averaged over 1 s, 0.5 s late": Truth(late(AVERAGE, 0.5, 1.0), 0.1, 0.5, 1.0, 0.05, 1e-3),
    "updates each second": Truth(SLOW, 1.0, 0.0, 0.0, 0.3, 1e-3),
    "watts without decimals": Truth(late(INSTANT, 0.1, resolution=1.0), 0.1, 0.1, 0.0, 0.04, 1.0),
}


def characterised(meter: SimulatedMeter, seed: int, noise: float = 0.02) -> Character:
    """What is found of a meter under the loads of `make preflight METERS=1`."""
    rng = np.random.default_rng(seed)
    stretches = schedule((ONE_CORE, GPU if meter.channel.domain == "gpu:0" else ALL_CORES))
    time_ns, value = meter.read(drawn(stretches, meter.most_w, rng, noise), rng)
    trace = Trace((meter.channel,), time_ns, np.zeros(len(time_ns), np.int64), value)
    return look(trace, stretches).characters[0]


@pytest.mark.parametrize("name", TRUTHS)
def test_the_properties_of_a_simulated_meter_are_recovered(name: str) -> None:
    truth = TRUTHS[name]
    within = []
    for seed in SEEDS:
        found = characterised(truth.meter, seed)
        assert not found.still
        assert [one.seen for one in found.responses] == [True, True]
        assert found.resolution.value == pytest.approx(truth.digit, rel=0.01)
        if truth.update_s is None:
            assert found.update_period.value is None
            assert found.update_period.at_most == pytest.approx(truth.meter.channel.period_s, rel=0.1)
            assert "as often as it is read" in found.update_period.reason
        else:
            assert found.update_period.value == pytest.approx(truth.update_s, rel=0.02)
        late = found.lateness
        assert late.note == ""
        assert late.delay.uncertainty is not None
        assert late.delay.uncertainty < truth.delay_u_s
        expected = {"lag": truth.lag_s, "average": truth.average_s, "delay": truth.lag_s + truth.average_s / 2}
        for what, right in expected.items():
            measured = getattr(late, what)
            within.append(abs(measured.value - right) <= 2 * measured.uncertainty)
            assert abs(measured.value - right) <= 4 * measured.uncertainty, (seed, what, measured, right)
    assert np.mean(within) >= 0.9
