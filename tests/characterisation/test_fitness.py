"""The shortest window of a meter, against windows of simulated ones; and what replaces the documentation."""

from dataclasses import replace

import numpy as np
import pytest
from simulated.loads import STEP_S, Load
from simulated.meters import AVERAGE, INSTANT, NVML_COUNTER, RAPL, SimulatedMeter
from simulated.schedules import drawn, schedule

from framewatt.characterisation.channel import as_measured
from framewatt.characterisation.fitness import SHARES, Seen, shortest_windows
from framewatt.characterisation.lateness import Lateness
from framewatt.characterisation.measure import look
from framewatt.characterisation.measured import Measured, unknown
from framewatt.characterisation.schedule import GPU, ONE_CORE
from framewatt.energy.accounts import energy_of
from framewatt.meters.trace import Trace

IDLE_W, LOAD_W = 60.0, 270.0
UNKNOWN = unknown("not looked for")
NOT_LATE = Lateness(UNKNOWN, UNKNOWN, UNKNOWN)


def simulated_error(meter: SimulatedMeter, window_s: float, windows: int = 40) -> float:
    """Uncertainty or error, whichever is more, as a share of the energy of load = window; root mean square."""
    rng, shares = np.random.default_rng(3), []
    for _ in range(windows):
        start_s = 5.0 + rng.random()
        power = np.full(round((start_s + window_s + 5) / STEP_S), IDLE_W)
        power[round(start_s / STEP_S) : round((start_s + window_s) / STEP_S)] = LOAD_W
        load = Load(power, (round(start_s / STEP_S) * STEP_S, round((start_s + window_s) / STEP_S) * STEP_S))
        edges_ns = [round(edge * 1e9) for edge in load.window_s]
        found = energy_of(meter.channel, *meter.read(load, rng), *edges_ns)
        assert found.energy_j is not None
        shares.append(max(found.uncertainty_j, abs(found.energy_j - load.right_j)) / load.right_j)
    return float(np.sqrt(np.mean(np.square(shares))))


@pytest.mark.parametrize("meter", [RAPL, NVML_COUNTER, INSTANT, AVERAGE], ids=["rapl", "counter", "instant", "average"])
def test_the_shortest_window_is_what_simulated_ones_come_to(meter: SimulatedMeter) -> None:
    found = shortest_windows(Seen(meter.channel, float(np.mean(meter.lag_s)), meter.average_s, IDLE_W, LOAD_W))
    assert found["0.01"] > found["0.05"]
    for share in SHARES:
        window_s = found[f"{share:g}"]
        assert simulated_error(meter, window_s) < 1.35 * share
        assert simulated_error(meter, window_s / 2) > 1.2 * share


def test_a_lag_that_windows_know_nothing_of_lengthens_them() -> None:
    late = shortest_windows(Seen(INSTANT.channel, 0.5, 0.0, IDLE_W, LOAD_W))
    # 0.5 s of a rise of 210 W at the begin, and as much of a fall at the end, cancel except their places.
    assert late["0.01"] >= shortest_windows(Seen(INSTANT.channel, 0.0, 0.0, IDLE_W, LOAD_W))["0.01"]


def test_a_last_digit_of_power_that_is_too_coarse_fits_no_window() -> None:
    coarse = replace(INSTANT.channel, resolution=50.0)
    assert shortest_windows(Seen(coarse, 0.0, 0.0, IDLE_W, LOAD_W))["0.01"] is None


@pytest.mark.parametrize("seed", range(6))
def test_an_average_that_documentation_leaves_open_is_settled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stretches = schedule((ONE_CORE, GPU))
    documented = replace(AVERAGE.channel, average_s=0.0, average_most_s=1.0)
    for meter, average_s, most_s in ((AVERAGE, 1.0, 0.0), (INSTANT, 0.0, 0.15)):
        time_ns, value = meter.read(drawn(stretches, 300.0, rng), rng)
        (found,) = look(Trace((documented,), time_ns, np.zeros(len(time_ns), int), value), stretches).characters
        channel = as_measured(documented, found.update_period, found.resolution, found.lateness)
        assert channel.average_s == pytest.approx(average_s, abs=0.08)
        assert channel.average_most_s <= most_s
        assert channel.update_period_s == pytest.approx(0.1, rel=0.03)


def test_what_is_doubtful_replaces_nothing() -> None:
    channel = replace(AVERAGE.channel, average_s=0.0, average_most_s=1.0)
    sound, doubtful, soon = Measured(0.5, 0.01), Measured(0.5, 0.2), Measured(0.01, 0.01)
    assert as_measured(channel, UNKNOWN, UNKNOWN, NOT_LATE) == channel
    assert as_measured(channel, doubtful, UNKNOWN, Lateness(soon, doubtful, sound)) == channel
    assert as_measured(channel, unknown("a bound", 5.0), UNKNOWN, NOT_LATE) == channel
    ramping = Lateness(sound, sound, sound, "power rises later")
    assert as_measured(channel, UNKNOWN, UNKNOWN, ramping) == channel
    finer, coarser = Measured(1e-6), Measured(0.01)
    assert as_measured(channel, UNKNOWN, finer, NOT_LATE).resolution == channel.resolution
    assert as_measured(channel, UNKNOWN, coarser, NOT_LATE).resolution == 0.01
    settled = as_measured(channel, sound, coarser, Lateness(soon, sound, sound))
    assert (settled.update_period_s, settled.average_s, settled.average_most_s) == (0.5, 0.0, 0.52)
    instant = replace(channel, average_most_s=0.0)
    widened = as_measured(instant, Measured(0.1, 0.001), UNKNOWN, Lateness(soon, sound, sound))
    assert (widened.average_s, widened.average_most_s) == (0.0, 0.52)


@pytest.mark.parametrize("average_s", [0.0, 1.0])
def test_uncertainty_includes_a_measured_lag(average_s: float) -> None:
    late = replace(AVERAGE, lag_s=(0.5, 0.5), average_s=average_s)
    documented = replace(late.channel, average_s=0.0, average_most_s=average_s)
    rng, stretches = np.random.default_rng(4), schedule((GPU,))
    time_ns, value = late.read(drawn(stretches, 300.0, rng), rng)
    (found,) = look(Trace((documented,), time_ns, np.zeros(len(time_ns), int), value), stretches).characters
    assert found.lateness.lag.value == pytest.approx(0.5, abs=0.08)
    covered = dict.fromkeys((documented, found.as_measured), 0)
    for _ in range(40):
        load = drawn(schedule((GPU,), 1, 10.0), 300.0, rng)
        stretch = schedule((GPU,), 1, 10.0)[1]
        edges_ns = (stretch.start_ns, stretch.end_ns)
        right_j = float(np.diff(load.energy_to(np.array(edges_ns) * 1e-9))[0])
        readings = late.read(load, rng)
        for channel in covered:
            energy = energy_of(channel, *readings, *edges_ns)
            covered[channel] += abs(energy.energy_j - right_j) <= 2 * energy.uncertainty_j
    assert covered[documented] == 0
    assert covered[found.as_measured] >= 37
