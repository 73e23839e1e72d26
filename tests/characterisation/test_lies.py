"""How a characterisation could lie: broken meters, loads that are not what they were to be, and nothing to be seen."""

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from simulated.loads import STEP_S, Load
from simulated.meters import AVERAGE, INSTANT, NVML_COUNTER, RAPL, SimulatedMeter, Values
from simulated.schedules import SHARES, drawn, schedule

from framewatt.characterisation.measure import Characterisation, disturbances, look
from framewatt.characterisation.schedule import ALL_CORES, GPU, IDLE, ONE_CORE, Stretch
from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace

Change = Callable[[Values, Values], Values]
"""What a broken meter makes of times in seconds and right values."""

POWER = replace(INSTANT, channel=replace(INSTANT.channel, domain="cpu:package-0"))


def looked(
    meter: SimulatedMeter, seed: int = 1, change: Change | None = None, load: Load | None = None, noise: float = 0.02
) -> Characterisation:
    """What is found of one meter."""
    rng = np.random.default_rng(seed)
    stretches = schedule()
    time_ns, value = meter.read(load or drawn(stretches, meter.most_w, rng, noise), rng)
    if change:
        value = change(time_ns * 1e-9, value)
    return look(Trace((meter.channel,), time_ns, np.zeros(len(time_ns), np.int64), value), stretches)


def both(a: Channel, b: Channel, values: Callable[[Load, np.random.Generator], tuple]) -> Characterisation:
    """What is found of two channels of one load."""
    rng = np.random.default_rng(1)
    stretches = schedule((ONE_CORE, GPU if a.domain == "gpu:0" else ALL_CORES))
    (t, v), (u, w) = values(drawn(stretches, 300.0, rng), rng)
    number = np.concatenate((np.zeros(len(t), np.int64), np.ones(len(u), np.int64)))
    return look(Trace((a, b), np.concatenate((t, u)), number, np.concatenate((v, w))), stretches)


def test_where_nothing_is_to_be_seen_nothing_is_seen() -> None:
    flat = dict.fromkeys(SHARES, 0.5)
    seen = []
    for seed in range(40):
        load = drawn(schedule(), 300.0, np.random.default_rng(1000 + seed), shares=flat)
        found = looked(POWER, seed, load=load)
        one = found.characters[0]
        seen += [response.seen for response in one.responses]
        if not any(response.seen for response in one.responses):
            assert one.lateness.lag.value is one.lateness.average.value is None
            assert one.lateness.lag.reason == "no step of the load was seen"
            assert "does not show a load of all cores" in found.problems[0][0]
            assert "no more than chance" in found.problems[0][0]
            assert not found.trusted
    assert len(seen) == 80
    assert sum(seen) <= 3  # one in a hundred is allowed: at most 3 of 80 with 99 %


@pytest.mark.parametrize("meter", [RAPL, POWER], ids=["counter", "gauge"])
def test_a_meter_that_is_stuck_is_reported(meter: SimulatedMeter) -> None:
    found = looked(meter, change=lambda t, v: np.full_like(v, v[0]))
    assert found.characters[0].still.startswith("has not moved in 5")
    assert found.problems[0] == [found.characters[0].still]
    assert found.characters[0].shortest_window_s == {}
    assert found.doubted == [found.characters[0].name]


@pytest.mark.parametrize("meter", [RAPL, POWER], ids=["counter", "gauge"])
@pytest.mark.parametrize("until_s", [40.0, 999.0], ids=["comes back", "to the end"])
def test_a_meter_that_freezes_is_reported(meter: SimulatedMeter, until_s: float) -> None:
    def freeze(t: Values, v: Values) -> Values:
        return np.where((t > 20) & (t < until_s), v[np.searchsorted(t, 20)], v)

    still = looked(meter, change=freeze).characters[0].still
    assert still.startswith("has not moved for ")
    assert still.endswith("to the end") is (until_s > 100)
    assert looked(meter).characters[0].still == ""


def test_a_gauge_of_whole_watts_that_rests_while_idle_is_not_frozen() -> None:
    coarse = replace(POWER, channel=replace(POWER.channel, resolution=10.0))
    assert looked(coarse, noise=0.001).characters[0].still == ""


def test_ticks_are_a_last_digit_and_no_update_period() -> None:
    ticking = replace(RAPL, channel=replace(RAPL.channel, resolution=360.0))
    one = looked(ticking).characters[0]
    assert one.resolution.value == 360.0
    assert one.update_period.value is None
    coarser = replace(RAPL, channel=replace(RAPL.channel, resolution=3600.0))
    one = looked(coarser).characters[0]
    assert one.resolution.value is None
    assert "changes, at least 10 are needed" in one.resolution.reason
    assert one.lateness.lag.value is None


def test_a_counter_that_wraps_in_the_steps_is_measured_as_a_counter_that_does_not() -> None:
    right = looked(RAPL).characters[0]
    wrapping = replace(RAPL, channel=replace(RAPL.channel, wrap=700.0))
    found = looked(wrapping, change=lambda t, v: v % 700.0)
    assert found.problems == ([],)
    one = found.characters[0]
    assert one.resets == 0
    assert one.lateness.delay.value == pytest.approx(right.lateness.delay.value, abs=1e-4)
    assert one.load_w == pytest.approx(right.load_w, rel=1e-6)


def test_a_reset_is_reported() -> None:
    found = looked(RAPL, change=lambda t, v: np.where(t > 30, v - v[np.searchsorted(t, 30)], v))
    assert found.characters[0].resets == 1
    assert found.problems[0] == ["went back or jumped 1 times by other than a wrap"]


def test_readings_that_cannot_be_are_reported_and_left_out() -> None:
    def glitch(t: Values, v: Values) -> Values:
        return np.where(np.abs(t - 30) < 0.011, 0xFFFFFFFF * 1e-3, np.where(np.abs(t - 31) < 0.011, -1.0, v))

    limited = replace(POWER, channel=replace(POWER.channel, max_power_w=2000.0))
    found = looked(limited, change=glitch)
    assert found.characters[0].absurd >= 2
    assert "that no such domain can have" in found.problems[0][0]
    assert found.characters[0].load_w == pytest.approx(0.9 * 300, rel=0.02)


def test_failed_reads_are_reported() -> None:
    found = looked(POWER, change=lambda t, v: np.where((t * 50).astype(int) % 20 == 0, np.nan, v))
    assert found.problems[0][0].endswith("reads failed")
    nothing = looked(POWER, change=lambda t, v: np.full_like(v, np.nan))
    assert nothing.problems == (["not one reading was good"],)
    assert nothing.characters[0].load_w is None


def test_a_neighbour_in_one_step_moves_little() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        load = drawn(schedule(), 300.0, rng)
        fifth = schedule()[5].start_ns * 1e-9
        power = load.power_w.copy()
        power[round((fifth + 0.5) / STEP_S) : round((fifth + 2.5) / STEP_S)] += 0.4 * 300
        late = looked(POWER, seed, load=Load(power, load.window_s)).characters[0].lateness
        assert late.delay.value == pytest.approx(0.01, abs=max(2.5 * late.delay.uncertainty, 0.02))
        assert late.delay.uncertainty < 0.1


def test_a_clock_that_is_raised_slowly_is_no_lag_of_the_meter() -> None:
    for seed in range(8):
        load = drawn(schedule(), 300.0, np.random.default_rng(seed))
        power = load.power_w.copy()
        for stretch in schedule():
            if stretch.load != IDLE:
                first = round(stretch.start_ns * 1e-9 / STEP_S)
                ramp = np.linspace(0, 1, 800)
                power[first : first + 800] = power[first - 1] + ramp * (power[first + 900] - power[first - 1])
        found = looked(POWER, seed, load=Load(power, load.window_s)).characters[0]
        late = found.lateness
        assert "power rises" in late.note
        assert "the load itself ramps" in late.note
        assert late.delay.value == pytest.approx(0.01, abs=2.5 * late.delay.uncertainty)
        assert late.delay.uncertainty < 0.05


@pytest.mark.parametrize("step_s", [2.0, 3.5, 8.0])
def test_a_gpu_that_warms_and_keeps_its_clocks_for_a_while_misleads_little(step_s: float) -> None:
    averaged = replace(AVERAGE, channel=replace(AVERAGE.channel, average_s=0.0, average_most_s=1.0))
    for seed, (meter, average_s) in itertools.product(range(4), ((INSTANT, 0.0), (averaged, 1.0))):
        rng, stretches = np.random.default_rng(seed), schedule((GPU,), step_s=step_s)
        load = drawn(stretches, 700.0, rng, noise=0.01)
        for stretch in stretches:
            if stretch.load == GPU:
                first, last = (round(edge * 1e-9 / STEP_S) for edge in (stretch.start_ns, stretch.end_ns))
                load.power_w[first:last] -= 56 * (1 - np.exp(-np.arange(last - first) * STEP_S / 3))
                load.power_w[last : last + round(2.5 / STEP_S)] += 55
        time_ns, value = meter.read(load, rng)
        (found,) = look(Trace((meter.channel,), time_ns, np.zeros(len(time_ns), int), value), stretches).characters
        assert found.lateness.average.value == pytest.approx(average_s, abs=0.08)
        assert found.lateness.lag.value == pytest.approx(0.01, abs=0.06)
        # Where falling power was seen to be slower, windows stay as wide as the documentation makes them.
        told = meter.channel if found.lateness.note else replace(meter.channel, average_s=average_s)
        assert found.as_measured.average_s == pytest.approx(told.average_s, abs=0.08)
        assert step_s > 5 or not found.lateness.note


def test_a_meter_whose_clock_is_ahead_has_a_negative_lag() -> None:
    late = looked(replace(POWER, lag_s=(-0.3, -0.3))).characters[0].lateness
    assert late.delay.value == pytest.approx(-0.3, abs=2 * late.delay.uncertainty)


def test_a_meter_slower_than_the_steps_reports_it() -> None:
    late = looked(replace(POWER, updates_s=(2.4, 2.6))).characters[0].lateness
    assert late.lag.value is None
    assert "too rarely for steps of" in late.lag.reason


def test_one_counter_under_two_names_is_reported() -> None:
    other = replace(RAPL.channel, domain="cpu:package-1")

    def twice(load: Load, rng: np.random.Generator) -> tuple:
        t, v = RAPL.read(load, rng)
        return (t, v), (t, v + 1000)

    found = both(RAPL.channel, other, twice)
    assert found.problems == (["cpu:package-0 and cpu:package-1 show one counter"],) * 2

    def unlike(load: Load, rng: np.random.Generator) -> tuple:
        t, v = RAPL.read(load, rng)
        return (t, v), (t, v * 1.01)

    apart = both(RAPL.channel, other, unlike)
    assert apart.problems == ([], [])


@pytest.mark.parametrize("factor", [1.0, 1.06])
def test_two_accounts_of_one_domain_are_held_against_each_other(factor: float) -> None:
    def values(load: Load, rng: np.random.Generator) -> tuple:
        t, v = INSTANT.read(load, rng)
        return NVML_COUNTER.read(load, rng), (t, factor * v)

    found = both(replace(NVML_COUNTER.channel, domain="gpu:0"), INSTANT.channel, values)
    (agreement,) = found.agreements
    assert agreement.ratio == pytest.approx(factor, abs=2 * agreement.uncertainty)
    assert agreement.uncertainty < 0.02
    assert set(agreement.by_load) == {IDLE, ONE_CORE, GPU}
    if factor == 1.0:
        assert found.problems == ([], [])
    else:
        assert all("% between power_instant_w of nvml and energy_j of nvml" in wrong[0] for wrong in found.problems)


def test_other_work_is_reported() -> None:
    quiet = Stretch(IDLE, 0, 4_000_000_000, others=0.03)
    assert disturbances([quiet]) == []
    (said,) = disturbances([quiet, replace(quiet, load=ALL_CORES, others=0.9)])
    assert said == "other work kept 0.9 processors busy in stretch 2 (all cores)"
