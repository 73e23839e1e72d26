"""From readings to the joules of a window: which channel counts, net energy, and what is checked against what."""

from dataclasses import replace

import numpy as np
import pytest

from framewatt.energy.accounting import NO_POWER, spans_of, window_of, windows_of
from framewatt.energy.accounts import energy_channels
from framewatt.energy.gauges import unused_gpus
from framewatt.frames.totals import COUNT, LEAVE_OUT, Scope, domains_of
from framewatt.imports.contract import single_channel
from framewatt.meters.contract import COUNTER, GAUGE, Channel
from framewatt.meters.trace import Trace, joined
from framewatt.runs.verdict import domain_messages

S = 1_000_000_000
NO_IDLE: dict = {"domains": {}}


def channel(quantity: str, kind: str, domain: str = "gpu:0") -> Channel:
    return Channel("nvml", domain, quantity, kind, update_period_s=0.02, period_s=1)


def trace(**series: tuple[str, list[float]]) -> Trace:
    """Readings of gpu:0 once a second, by quantity: its kind and its values."""
    channels = tuple(channel(quantity, kind) for quantity, (kind, _) in series.items())
    values = np.array([values for _, values in series.values()])
    count = values.shape[1]
    time_ns = np.tile(np.arange(count) * S, len(channels))
    return Trace(channels, time_ns, np.repeat(np.arange(len(channels)), count), values.ravel())


def counted_100_w(seconds: int = 21) -> tuple[str, list[float]]:
    return COUNTER, [100.0 * t for t in range(seconds)]


def window(found: Trace, idle: dict | None = None) -> dict:
    return window_of([(0, 20 * S)], found, NO_IDLE if idle is None else idle)


def test_a_counter_comes_before_instant_power_and_that_before_averaged_power() -> None:
    average, instant = channel("power_average_w", GAUGE), channel("power_instant_w", GAUGE)
    counter, other = channel("energy_j", COUNTER), channel("power_average_w", GAUGE, "gpu:1")
    assert energy_channels([average, instant, counter, other]) == {"gpu:0": 2, "gpu:1": 3}
    assert energy_channels([average, instant]) == {"gpu:0": 1}


def test_net_energy_is_gross_less_idle_and_its_spread_is_uncertain() -> None:
    idle = {"domains": {"gpu:0": {"mean_power_w": 30.0, "sd_power_w": 2.0}}}
    energy = window(trace(energy_j=counted_100_w()), idle)["domains"]["gpu:0"]
    assert (energy["energy_gross_j"], energy["energy_idle_j"], energy["energy_net_j"]) == pytest.approx(
        (2000, 600, 1400)
    )
    expected = np.hypot(energy["energy_uncertainty_j"], 2.0 * 20)
    assert energy["energy_net_uncertainty_j"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("idle_w", "flags"),
    [
        (104.0, []),  # 80 J less than nothing, of which 2 W over 20 s are uncertain
        (150.0, ["1000 J less than the idle machine's: more was drawn than at rest while idle power was measured"]),
    ],
)
def test_a_run_that_draws_less_than_the_idle_machine_states_what_that_means(idle_w: float, flags: list[str]) -> None:
    idle = {"domains": {"gpu:0": {"mean_power_w": idle_w, "sd_power_w": 2.0}}}
    energy = window(trace(energy_j=counted_100_w()), idle)["domains"]["gpu:0"]
    assert energy["energy_net_j"] == pytest.approx(2000 - 20 * idle_w)
    assert energy["flags"] == flags


def test_less_than_the_idle_machines_is_reported_also_where_idle_power_is_of_unknown_spread() -> None:
    idle = {"domains": {"gpu:0": {"mean_power_w": 150.0, "sd_power_w": None, "spreads": []}}}
    energy = window(trace(energy_j=counted_100_w()), idle)["domains"]["gpu:0"]
    assert (energy["energy_net_j"], energy["energy_net_uncertainty_j"]) == (pytest.approx(-1000), None)
    assert energy["flags"] == [
        "1000 J less than the idle machine's: more was drawn than at rest while idle power was measured"
    ]


def test_without_idle_power_net_energy_is_unknown() -> None:
    energy = window(trace(energy_j=counted_100_w()))["domains"]["gpu:0"]
    assert energy["energy_net_j"] is None
    assert energy["flags"] == ["no idle power, so no net energy"]


def test_counter_and_integrated_power_that_agree_are_both_kept() -> None:
    energy = window(trace(energy_j=counted_100_w(), power_instant_w=(GAUGE, [102.0] * 21)))["domains"]["gpu:0"]
    assert energy["source"] == "energy_j"
    assert energy["energy_gross_j"] == pytest.approx(2000)
    (check,) = energy["cross_checks"]
    assert (check["source"], check["energy_j"], check["deviation"]) == (
        "power_instant_w",
        pytest.approx(2040),
        pytest.approx(0.02),
    )
    assert not [flag for flag in energy["flags"] if "off" in flag]


def test_counter_and_integrated_power_over_3_percent_apart_are_flagged() -> None:
    energy = window(trace(energy_j=counted_100_w(), power_average_w=(GAUGE, [90.0] * 21)))["domains"]["gpu:0"]
    assert "power_average_w of nvml is -10.0 % off energy_j of nvml" in energy["flags"]


def test_power_that_cannot_be_integrated_states_why() -> None:
    power = (GAUGE, [100.0] * 5 + [np.nan] * 16)
    (check,) = window(trace(energy_j=counted_100_w(), power_instant_w=power))["domains"]["gpu:0"]["cross_checks"]
    assert (check["energy_j"], check["deviation"]) == (None, None)
    assert check["reasons"] == ["trace ends 16 s before the window"]


def test_other_gauges_are_summarised_inside_the_window() -> None:
    temperature = (GAUGE, [20.0] + [60.0] * 19 + [70.0])
    found = window_of([(1 * S, 20 * S)], trace(energy_j=counted_100_w(), temperature_c=temperature), NO_IDLE)
    assert found["gauges"] == {"gpu:0": {"temperature_c": {"mean": pytest.approx((60 * 19 + 70) / 20), "max": 70.0}}}


def test_a_window_that_was_never_closed_is_none() -> None:
    events = [
        {"window": "setup", "edge": "start", "monotonic_ns": 1},
        {"window": "setup", "edge": "end", "monotonic_ns": 5},
        {"window": "steady", "edge": "start", "monotonic_ns": 6},
    ]
    assert spans_of(events) == {"setup": [(1, 5)]}


def test_a_second_end_belongs_to_no_start() -> None:
    events = [("start", 1), ("end", 2), ("end", 9)]
    assert spans_of([{"window": "steady", "edge": edge, "monotonic_ns": t} for edge, t in events]) == {
        "steady": [(1, 2)]
    }


def gpu_trace(counter_j: np.ndarray, power_w: np.ndarray, utilization: np.ndarray) -> Trace:
    """A GPU's counter, power and utilisation, read together every 20 ms."""
    kinds = (("energy_j", COUNTER), ("power_instant_w", GAUGE), ("utilization_percent", GAUGE))
    channels = tuple(Channel("nvml", "gpu:0", quantity, kind, 0.1, period_s=0.02) for quantity, kind in kinds)
    n = len(counter_j)
    time_ns = np.tile(np.arange(n, dtype=np.int64) * 20_000_000, 3)
    return Trace(channels, time_ns, np.repeat([0, 1, 2], n), np.concatenate([counter_j, power_w, utilization]))


def test_a_counter_stuck_at_0_gives_way_to_power_and_reports_it() -> None:
    n = 2001
    found = window_of([(5 * S, 35 * S)], gpu_trace(np.zeros(n), np.full(n, 300.0), np.full(n, 90.0)), {"domains": {}})
    gpu = found["domains"]["gpu:0"]
    assert (gpu["source"], gpu["valid"]) == ("power_instant_w", True)
    assert gpu["energy_gross_j"] == pytest.approx(9000)
    assert "energy_j of nvml does not count: counter has not moved in 40 s" in gpu["flags"]


def test_power_that_is_frozen_while_the_gpus_other_gauges_move_is_invalid() -> None:
    n = 2001
    counter_j, busy = np.zeros(n), np.linspace(10, 90, n)
    frozen = window_of([(5 * S, 35 * S)], gpu_trace(counter_j, np.full(n, 300.0), busy), {"domains": {}})
    gpu = frozen["domains"]["gpu:0"]
    assert (gpu["valid"], gpu["energy_gross_j"]) == (False, None)
    assert gpu["reasons"] == ["counter has not moved in 40 s"]
    (check,) = gpu["cross_checks"]
    assert check["reasons"] == ["power_instant_w has not moved for 30 s, in which utilization_percent did"]


def test_power_that_freezes_within_a_window_is_invalid() -> None:
    n = 2001
    busy = 50 + 30 * np.sin(np.arange(n) * 0.02)
    watts = 300 + np.random.default_rng(1).normal(0, 5, n).round(3)

    def told(watts: np.ndarray, busy: np.ndarray) -> dict:
        found = gpu_trace(np.zeros(n), watts, busy)
        return window_of([(5 * S, 12 * S), (13 * S, 35 * S)], found, NO_IDLE)["domains"]["gpu:0"]

    frozen = told(np.where(np.arange(n) < 750, watts, watts[750]), busy)
    assert (frozen["valid"], frozen["energy_gross_j"]) == (False, None)
    assert frozen["cross_checks"][0]["reasons"] == [
        "power_instant_w has not moved for 20 s, in which utilization_percent did"
    ]
    # A GPU that does nothing for a while, and one whose power is the same for a few seconds.
    assert told(np.where(np.arange(n) < 750, watts, 25.0), np.where(np.arange(n) < 750, busy, 0.0))["valid"]
    assert told(np.where((np.arange(n) < 750) | (np.arange(n) > 1150), watts, 300.0), busy)["valid"]


def test_a_counter_that_crawls_under_300_w_is_not_believed() -> None:
    n = 2001
    crawling = np.floor(np.arange(n) / 100) * 1e-3
    found = window_of([(5 * S, 35 * S)], gpu_trace(crawling, np.full(n, 300.0), np.full(n, 90.0)), {"domains": {}})
    gpu = found["domains"]["gpu:0"]
    assert (gpu["valid"], gpu["energy_gross_j"]) == (False, None)
    assert gpu["reasons"] == ["energy_j of nvml says 0.015 J, power_instant_w of nvml 9000 J: one of them is wrong"]


def test_a_window_too_short_for_power_leaves_the_counter_its_word() -> None:
    n = 2001
    counter_j = 300 * np.arange(n) * 0.02
    lagging = np.full(n, 30.0)
    found = window_of([(5 * S, 6 * S)], gpu_trace(counter_j, lagging, np.full(n, 90.0)), {"domains": {}})
    assert found["domains"]["gpu:0"]["energy_gross_j"] == pytest.approx(300)


@pytest.mark.parametrize(("busy", "told"), [(0.0, True), (3.0, False), (np.nan, False)])
def test_a_visible_gpu_that_nobody_used_states_what_it_adds(busy: float, told: bool) -> None:
    n = 2001
    found = gpu_trace(50 * np.arange(n) * 0.02, np.full(n, 50.0), np.where(np.arange(n) == 900, busy, 0.0))
    (gpu,) = window_of([(5 * S, 35 * S)], found, NO_IDLE)["domains"].values()
    flag = (
        "unused by this run: its 1500 J are in the total, unless CUDA_VISIBLE_DEVICES or statistics.unused_gpus leaves "
        "them out"
    )
    assert (flag in gpu["flags"], "unused" in gpu) == (told, told)


def test_a_gpu_is_used_if_any_part_of_the_run_used_it() -> None:
    n = 2001
    found = gpu_trace(50 * np.arange(n) * 0.02, np.full(n, 50.0), np.where(np.arange(n) == 900, 90.0, 0.0))
    windows = windows_of({"process": [(1 * S, 38 * S)], "steady": [(25 * S, 35 * S)]}, found, NO_IDLE)
    assert "unused" not in windows["steady"]["domains"]["gpu:0"]


@pytest.mark.parametrize(("grown_mib", "unused"), [(0, {"gpu:0"}), (60, {"gpu:0"}), (300, set())])
def test_a_gpu_that_holds_a_context_is_used(grown_mib: int, unused: set[str]) -> None:
    time_ns = np.arange(100) * 20_000_000
    channels = [Channel("nvml", "gpu:0", quantity, GAUGE, 0.1) for quantity in ("utilization_percent", "memory_used_b")]
    memory = np.where(np.arange(100) > 50, 1e9 + grown_mib * 2**20, 1e9)
    busy, held = (
        single_channel(channel, time_ns, value)
        for channel, value in zip(channels, (np.zeros(100), memory), strict=True)
    )
    assert unused_gpus(joined([busy, held]), [(0, int(time_ns[-1]))]) == unused
    assert unused_gpus(held, [(0, int(time_ns[-1]))]) == set()


def test_steady_of_a_training_is_its_epochs() -> None:
    events = []
    for n, (start, end) in enumerate([(1, 5), (7, 9)], 1):
        events += [{"window": f"epoch-{n}", "edge": "start", "monotonic_ns": start}]
        events += [{"window": f"epoch-{n}", "edge": "end", "monotonic_ns": end}]
    assert spans_of(events)["steady"] == [(1, 5), (7, 9)]


def test_epochs_that_overlap_count_no_joule_twice() -> None:
    happened = [("epoch-1", "start", 5), ("epoch-2", "start", 15), ("epoch-1", "end", 20), ("epoch-2", "end", 30)]
    happened += [("epoch-3", "start", 30), ("epoch-3", "end", 35)]
    spans = spans_of([{"window": name, "edge": edge, "monotonic_ns": t} for name, edge, t in happened])
    assert spans["epoch-1"] == [(5, 20)]
    assert spans["steady"] == [(5, 30), (30, 35)]


def test_the_same_domain_by_another_instrument_is_checked_against_the_first() -> None:
    channels = tuple(
        Channel(name, "cpu:package-0", "energy_j", COUNTER, 0.001, period_s=1) for name in ("rapl", "perf", "pyrapl")
    )
    joules = [np.arange(21) * watts for watts in (100.0, 101.0, 120.0)]
    found = Trace(channels, np.tile(np.arange(21) * S, 3), np.repeat([0, 1, 2], 21), np.concatenate(joules))
    energy = window(found)["domains"]["cpu:package-0"]
    assert (energy["instrument"], energy["energy_gross_j"]) == ("rapl", pytest.approx(2000))
    assert [(check["instrument"], round(check["deviation"], 3)) for check in energy["cross_checks"]] == [
        ("perf", 0.01),
        ("pyrapl", 0.2),
    ]
    assert [flag for flag in energy["flags"] if " off " in flag] == [
        "energy_j of pyrapl is +20.0 % off energy_j of rapl"
    ]


def two_dies(second_w: float) -> Trace:
    """Two dies of a package by RAPL, every 10 ms for 20 s, that began to count at different times."""
    channels = tuple(
        Channel("rapl", f"cpu:package-0-die-{n}", "energy_j", COUNTER, 0.001, period_s=0.01) for n in (0, 1)
    )
    second = np.arange(2001) * 0.01
    joules = [100 * second + 7000, second_w * (second + 0.0005) + 20]
    time_ns = np.tile(np.arange(2001, dtype=np.int64) * 10_000_000, 2)
    return Trace(channels, time_ns, np.repeat([0, 1], 2001), np.concatenate(joules))


def test_a_die_whose_counter_grows_as_anothers_does_not_count() -> None:
    found = window_of([(S, 19 * S)], two_dies(100.0), NO_IDLE)["domains"]
    assert found["cpu:package-0-die-0"]["energy_gross_j"] == pytest.approx(1800)
    assert found["cpu:package-0-die-1"]["reasons"] == [
        "cpu:package-0-die-1 shows the counter of cpu:package-0-die-0 again"
    ]


def test_a_die_that_shows_anothers_counter_is_detected_in_short_windows_and_across_a_wrap() -> None:
    found = two_dies(100.0)
    assert not window_of([(S, 3 * S)], found, NO_IDLE)["domains"]["cpu:package-0-die-1"]["valid"]
    wrapping = tuple(replace(one, wrap=8000.0, max_power_w=500.0, resolution=61e-6) for one in found.channels)
    again = Trace(wrapping, found.monotonic_ns, found.channel, found.value % 8000.0)
    assert not window_of([(S, 19 * S)], again, NO_IDLE)["domains"]["cpu:package-0-die-1"]["valid"]


def test_two_dies_that_differ_by_a_thousandth_are_two() -> None:
    found = window_of([(S, 19 * S)], two_dies(100.1), NO_IDLE)["domains"]
    assert [energy["valid"] for energy in found.values()] == [True, True]


def test_throttling_is_a_flag_with_its_share_of_the_window() -> None:
    bits = (GAUGE, [0.0] * 11 + [float(0x4 | 0x1)] * 10)
    found = window(trace(energy_j=counted_100_w(), throttle_reasons_bits=bits))
    assert "throttled in 48 % of readings: software power cap" in found["domains"]["gpu:0"]["flags"]
    assert found["gauges"] == {}


def test_what_a_channel_notes_is_a_flag_of_its_windows() -> None:
    noted = Channel("nvml", "gpu:0", "energy_j", COUNTER, 0.02, period_s=1, note="the GPU is divided")
    found = Trace((noted,), np.arange(21) * S, np.zeros(21, dtype=int), np.arange(21) * 100.0)
    assert "the GPU is divided" in window(found)["domains"]["gpu:0"]["flags"]


def test_a_gpu_without_power_is_a_domain_without_energy_and_its_total_is_unknown() -> None:
    other = Channel("nvml", "gpu:1", "utilization_percent", GAUGE, update_period_s=0.02, period_s=1)
    time_ns = np.arange(21) * S

    def domains(percent: float) -> dict:
        busy = Trace((other,), time_ns, np.zeros(21, np.int64), np.full(21, percent))
        return dict(window(joined([trace(energy_j=counted_100_w()), busy]))["domains"])

    used, unused = domains(80.0), domains(0.0)
    assert used["gpu:0"]["energy_gross_j"] == pytest.approx(2000)
    for found in (used, unused):
        assert (found["gpu:1"]["valid"], found["gpu:1"]["energy_gross_j"]) == (False, None)
        assert found["gpu:1"]["reasons"] == [NO_POWER]
    assert f"gpu:1: {NO_POWER}" in domain_messages(used, "reasons")
    whole = used | {"external:wall": used["gpu:0"]}
    assert domain_messages(whole, "reasons") == [], "a wall meter has its energy, too"
    # What the run did not use is no fault of the run; whether totals have it, the study says.
    assert domain_messages(unused, "reasons") == []
    assert f"gpu:1: does not count: {NO_POWER}" in domain_messages(unused, "flags")
    counted, left_out = (domains_of(unused, Scope(rule))[0] for rule in (COUNT, LEAVE_OUT))
    assert (counted["valid"], counted["energy_gross_j"]) == (False, None)
    assert counted["uncovered"].startswith("gpu:1: not used, and no meter tells its power")
    assert left_out["energy_gross_j"] == pytest.approx(2000)
