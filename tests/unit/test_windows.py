"""Energy of a window, against integrals done by hand."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from framewatt.energy.counter_windows import counter_energies
from framewatt.energy.gauge_windows import gauge_energies
from framewatt.energy.windows import combine
from framewatt.meters.contract import COUNTER, GAUGE, Channel

S = 1_000_000_000


def times(*seconds: float) -> np.ndarray:
    """Seconds as nanoseconds."""
    return np.array([round(s * S) for s in seconds], dtype=np.int64)


def every(step: float, end: float) -> np.ndarray:
    """0, step, 2 step, … up to `end`, in nanoseconds."""
    return times(*np.arange(0, end + step / 2, step))


def gauge(
    t: np.ndarray, watts: np.ndarray, start: float, end: float, period: float = 0.01, planned: float = 1.0, **options
):
    channel = Channel("m", "gpu:0", "power_w", GAUGE, period, period_s=planned, **options)
    (found,) = gauge_energies(channel, t, watts, [(round(start * S), round(end * S))])
    return found


def counter(
    t: np.ndarray, joules: np.ndarray, start: float, end: float, period: float = 0.001, planned: float = 1.0, **options
):
    channel = Channel("m", "cpu:package-0", "energy_j", COUNTER, period, period_s=planned, **options)
    (found,) = counter_energies(channel, t, joules, [(round(start * S), round(end * S))])
    return found


def test_constant_100_w_for_10_s_is_1000_j() -> None:
    t = every(0.1, 12)
    assert gauge(t, np.full(len(t), 100.0), 1, 11).energy_j == pytest.approx(1000)
    assert counter(t, 100 * t / S, 1, 11).energy_j == pytest.approx(1000)


def test_a_step_from_100_to_300_w_at_half_of_20_s_is_4000_j() -> None:
    t = every(0.01, 20)
    watts = np.where(t < 10 * S, 100.0, 300.0)
    # The step falls somewhere in one sampling interval of 10 ms: at most half of 200 W x 10 ms is uncertain.
    assert gauge(t, watts, 0, 20).energy_j == pytest.approx(4000, abs=1.001)
    joules = np.where(t < 10 * S, 100 * t / S, 1000 + 300 * (t / S - 10))
    assert counter(t, joules, 0, 20).energy_j == pytest.approx(4000)


def test_edges_between_samples_are_interpolated() -> None:
    t = times(0, 1, 2, 3)
    # Power rises from 0 to 30 W; between 0.5 s (5 W) and 2.5 s (25 W) the mean is 15 W.
    assert gauge(t, np.array([0.0, 10, 20, 30]), 0.5, 2.5).energy_j == pytest.approx(30)
    assert counter(t, np.array([0.0, 10, 30, 60]), 0.5, 2.5, period=0).energy_j == pytest.approx(45 - 5)


def test_a_window_between_two_samples_has_energy_too() -> None:
    assert gauge(times(0, 1), np.array([10.0, 20]), 0.25, 0.75).energy_j == pytest.approx(7.5)
    assert counter(times(0, 1), np.array([0.0, 8]), 0.25, 0.75).energy_j == pytest.approx(4)


def test_samples_need_not_be_evenly_spaced() -> None:
    t = times(0, 0.1, 0.2, 5, 10)
    assert gauge(t, np.array([10.0, 10, 10, 10, 30]), 0, 10, planned=2).energy_j == pytest.approx(50 + 100)


def test_bursts_of_1_s_are_seen_whole() -> None:
    t = every(0.01, 10)
    watts = np.where((t // S) % 2 == 0, 50.0, 250.0)
    assert gauge(t, watts, 0, 10).energy_j == pytest.approx(5 * 50 + 5 * 250, rel=0.005)


def test_repeated_values_are_kept() -> None:
    t = times(0, 1, 2, 3, 4)
    assert counter(t, np.array([0.0, 0, 0, 300, 400]), 0, 4).energy_j == pytest.approx(400)
    assert gauge(t, np.array([7.0, 7, 7, 7, 7]), 0, 4).samples == 5


def test_a_counter_that_wraps_once_goes_on() -> None:
    t = times(0, 1, 2, 3)
    found = counter(t, np.array([900.0, 980, 60, 140]), 0, 3, wrap=1000.0, max_power_w=200)
    assert found.energy_j == pytest.approx(240)
    assert found.reasons == ()


def test_a_wrap_exactly_at_an_edge_changes_nothing() -> None:
    t = times(0, 1, 2, 3)
    joules = np.array([900.0, 0, 100, 200])
    assert counter(t, joules, 0, 1, period=0, wrap=1000.0).energy_j == pytest.approx(100)
    assert counter(t, joules, 1, 3, period=0, wrap=1000.0).energy_j == pytest.approx(200)


def test_a_gap_in_which_a_second_wrap_is_possible_is_invalid() -> None:
    t = times(0, 1, 60, 61)
    found = counter(t, np.array([0.0, 100, 300, 400]), 0, 61, wrap=1000.0, max_power_w=100)
    assert found.energy_j is None
    assert found.reasons == ("more than one wrap possible in a gap of 59 s",)


def test_a_counter_that_was_reset_is_invalid() -> None:
    t = times(0, 1, 2)
    assert counter(t, np.array([500.0, 600, 3]), 0, 2).reasons == ("counter went back: it was reset",)
    wrapped = counter(t, np.array([500.0, 600, 3]), 0, 2, wrap=262_143.0, max_power_w=300)
    assert wrapped.energy_j is None
    assert wrapped.reasons == ("counter went back by other than a wrap: it was reset",)


def test_a_counter_that_goes_up_faster_than_the_domain_can_draw_is_invalid() -> None:
    found = counter(times(0, 1, 2, 3), np.array([0.0, 100, 900, 1000]), 0, 3, wrap=1e6, max_power_w=200)
    assert found.energy_j is None
    assert found.reasons == ("counter went up by more than 200 W can: it was reset, or wrapped unseen",)


def test_two_late_readings_close_together_are_not_a_counter_that_jumps() -> None:
    t, joules = times(0, 0.01, 0.0101, 0.02), np.array([0.0, 1, 4, 5])
    assert counter(t, joules, 0, 0.02, planned=0.0, max_power_w=400).energy_j is None
    assert counter(t, joules, 0, 0.02, planned=0.01, max_power_w=400).energy_j == pytest.approx(5)


def test_a_counter_goes_on_through_a_gap_inside_the_window() -> None:
    t = np.concatenate((every(0.01, 4), every(0.01, 4) + 6 * S))
    found = counter(t, 100 * t / S, 1, 9, planned=0.01)
    assert (found.energy_j, found.reasons) == (pytest.approx(800), ())
    assert found.largest_gap_s == pytest.approx(2)


def test_a_gap_at_an_edge_leaves_open_whose_joules_they_are() -> None:
    t = np.concatenate((every(0.01, 4), every(0.01, 4) + 6 * S))
    found = counter(t, 100 * t / S, 5, 9, planned=0.01)
    assert found.energy_j is None
    assert found.reasons == ("no reading for 2 s at an edge: gaps are 50 % of the window, at most 3 % may be",)


def test_power_in_a_gap_is_known_to_nobody() -> None:
    t = np.concatenate((every(0.01, 4), every(0.01, 4) + 6 * S))
    found = gauge(t, np.full(len(t), 100.0), 0, 10, planned=0.01)
    assert found.energy_j is None
    assert found.reasons == ("no reading for 2 s between readings: gaps are 20 % of the window, at most 3 % may be",)


def test_a_short_gap_is_flagged_and_as_uncertain_as_power_was_elsewhere() -> None:
    t = np.concatenate((every(0.01, 50), every(0.01, 49) + 51 * S))
    watts = np.where(t < 20 * S, 50.0, 250.0)
    found = gauge(t, watts, 0, 100, planned=0.01)
    assert found.energy_j == pytest.approx(20 * 50 + 80 * 250, rel=1e-3)
    assert found.flags == ("no reading for 1 s between readings",)
    # 1 s in which power may have been anything between 50 and 250 W.
    assert found.uncertainty_j == pytest.approx(200 / np.sqrt(12), rel=0.01)


@given(
    joules=st.lists(st.floats(0.1, 50), min_size=3, max_size=30),
    cuts=st.tuples(st.floats(0.01, 0.98), st.floats(0.01, 0.98), st.floats(0.01, 0.98)),
)
def test_the_energies_of_two_halves_are_the_energy_of_the_whole(joules: list[float], cuts: tuple) -> None:
    t = every(1, len(joules))
    cumulative = np.concatenate(([0.0], np.cumsum(joules))) % 60
    a, b, c = (cut * len(joules) for cut in sorted(cuts))
    assume(b - a > 1e-6 and c - b > 1e-6)
    whole, left, right = (counter(t, cumulative, *span, wrap=60.0).energy_j for span in ((a, c), (a, b), (b, c)))
    assert whole == pytest.approx(left + right, abs=1e-6)


def test_a_failed_read_is_bridged_and_counted() -> None:
    t = times(0, 1, 2, 3)
    found = counter(t, np.array([0.0, np.nan, 20, 30]), 0, 3)
    assert (found.energy_j, found.failed_reads, found.samples) == (pytest.approx(30), 1, 3)
    assert found.largest_gap_s == pytest.approx(2)
    assert "1 failed reads bridged" in found.flags


def test_reads_that_fail_from_some_time_on_make_the_window_invalid() -> None:
    found = counter(times(0, 1, 2, 3), np.array([0.0, 10, np.nan, np.nan]), 0, 3)
    assert found.energy_j is None
    assert found.reasons == ("trace ends 2 s before the window",)


@pytest.mark.parametrize("values", [[], [5.0], [np.nan, np.nan]])
def test_too_few_samples_are_unknown_never_zero(values: list[float]) -> None:
    for found in (
        gauge(times(*range(len(values))), np.array(values), 0, 1),
        counter(times(*range(len(values))), np.array(values), 0, 1),
    ):
        assert found.energy_j is None
        assert found.reasons[0].endswith("good samples, at least 2 are needed")


def test_a_trace_that_starts_late_is_invalid() -> None:
    assert gauge(times(1, 2), np.array([1.0, 1]), 0, 2).reasons == ("trace begins 1 s after the window",)


def test_negative_power_is_invalid() -> None:
    assert gauge(times(0, 1, 2), np.array([5.0, -1, 5]), 0, 2).reasons == ("negative power",)


def test_a_window_under_20_update_periods_or_20_readings_is_flagged() -> None:
    t = every(0.1, 3)
    watts = np.full(len(t), 10.0)
    told = "window of 1.9 s is shorter than 20 "
    assert gauge(t, watts, 0, 1.9, period=0.1, planned=0.02).flags == (f"{told}update periods",)
    assert gauge(t, watts, 0, 1.9, period=0.01, planned=0.1).flags == (f"{told}readings",)
    assert gauge(t, watts, 0, 2.1, period=0.1, planned=0.1).flags == ()


def test_constant_power_is_as_uncertain_as_the_instants_of_updates() -> None:
    t = every(0.1, 12)
    # An edge in the middle between two updates, each of which was somewhere in 0.1 s: half of either counts.
    of_an_edge = 100 * 0.1 / np.sqrt(12) * np.sqrt(0.5)
    found = counter(t + S // 20, 100 * t / S, 1.05, 11.05, period=0.1)
    assert found.energy_j == pytest.approx(1000)
    assert found.uncertainty_j == pytest.approx(of_an_edge * np.sqrt(2))
    # Where the window is all of the trace, an update may have been just before or just after its end.
    whole = counter(t, 100 * t / S, 0, 12, period=0.1)
    assert (whole.energy_j, whole.uncertainty_j) == (
        pytest.approx(1200),
        pytest.approx(100 * 0.1 / np.sqrt(12) * np.sqrt(2)),
    )


def test_a_gauge_is_known_to_half_its_last_digit() -> None:
    t = every(0.1, 12)
    assert gauge(t, np.full(len(t), 100.0), 1, 11, resolution=1.0).uncertainty_j == pytest.approx(5)


def test_a_counter_that_stands_still_is_invalid() -> None:
    t = every(0.01, 30)
    assert counter(t, np.zeros(len(t)), 5, 25, planned=0.01).reasons == ("counter has not moved in 30 s",)
    frozen = np.minimum(100 * t / S, 1500)
    assert counter(t, frozen, 5, 25, planned=0.01).reasons == ("counter has not moved for 15 s",)
    assert counter(t, frozen, 2, 12, planned=0.01).energy_j == pytest.approx(1000)


def test_a_counter_with_ticks_of_a_watt_hour_moves_seldom_and_is_right() -> None:
    t = every(0.5, 600)
    found = counter(t, np.floor(100 * t / S / 3600) * 3600, 20, 500, period=0.5, planned=0.5, resolution=3600.0)
    assert found.reasons == ()
    assert found.energy_j == pytest.approx(48_000, abs=2 * found.uncertainty_j)


def test_a_counter_that_trembles_by_its_last_digit_was_not_reset() -> None:
    t = every(0.01, 20)
    joules = 100 * t / S - np.where(np.arange(len(t)) % 7 == 0, 1.5, 0.0)
    assert counter(t, joules, 5, 15, planned=0.01, resolution=1.0).energy_j == pytest.approx(1000, rel=0.01)
    assert counter(t, joules, 5, 15, planned=0.01, resolution=0.1).reasons == ("counter went back: it was reset",)


def test_a_counter_that_is_refreshed_late_did_not_jump() -> None:
    t = every(0.02, 20)
    shown = np.floor(t / S / 0.6) * 0.6
    found = counter(t, 300 * shown, 5, 15, period=0.1, planned=0.02, max_power_w=400)
    assert (found.reasons, found.energy_j) == ((), pytest.approx(3000, abs=3))


@pytest.mark.parametrize(("lost", "valid"), [(0.04, True), (0.9, False)])
def test_a_counter_that_loses_what_was_drawn_while_it_stood_still_is_invalid(lost: float, valid: bool) -> None:
    t = every(0.02, 20)
    second = t / S
    joules = 300 * np.where(second < 10, second, np.maximum(10, second - lost))
    found = counter(t, joules, 9, 11, period=0.1, planned=0.02, resolution=1e-3)
    told = () if valid else ("counter stood still for 0.9 s and did not count what was drawn meanwhile",)
    assert found.reasons == told
    assert counter(t, joules, 12, 18, period=0.1, planned=0.02, resolution=1e-3).energy_j == pytest.approx(1800)


def test_a_coarse_counter_under_a_load_that_falls_has_lost_nothing() -> None:
    t = every(0.5, 600)
    second = t / S
    joules = np.where(second < 300, 300 * second, 90_000 + np.where(second < 400, 60, 300) * (second - 300))
    shown = np.floor(joules / 3600) * 3600
    assert counter(t, shown, 20, 580, period=0.5, planned=0.5, resolution=3600.0).reasons == ()


@pytest.mark.parametrize("edge", [10.0, 10.3])
def test_of_totals_read_at_one_instant_the_last_counts(edge: float) -> None:
    t = every(0.02, 20)
    t[500:505] = t[500]
    joules = 300 * every(0.02, 20) / S
    found = counter(t, joules, edge, 18, period=0.02, planned=0.02)
    # Five readings have the time of the first of them: what they show is up to 80 ms early.
    assert (found.reasons, found.energy_j) == ((), pytest.approx(300 * (18 - edge), abs=300 * 0.08))
    assert np.isfinite(found.uncertainty_j)


def test_power_of_0_w_throughout_is_a_finding_and_no_measurement() -> None:
    t = every(0.1, 12)
    told = ("power is 0 W in every reading: nothing that can be metered takes none",)
    assert gauge(t, np.zeros(len(t)), 1, 11).reasons == told
    assert gauge(t, np.zeros(len(t)), 1, 11, estimated=True).energy_j == 0


def test_0_w_amid_other_power_is_a_failed_read() -> None:
    t = every(0.02, 40)
    watts = 300 + np.random.default_rng(1).normal(0, 5, len(t)).round(3)
    dropped = np.where(np.isin(np.arange(len(t)), [700, 900, 901]), 0.0, watts)
    found = gauge(t, dropped, 5, 35, planned=0.02, resolution=1e-3)
    assert (found.energy_j, found.failed_reads) == (pytest.approx(9000, rel=1e-3), 3)
    # A sensor that fell silent, with and without a known last digit.
    for resolution in (0.0, 1e-3):
        silent = gauge(t, np.where((t > 15 * S) & (t < 22 * S), 0.0, watts), 5, 35, planned=0.02, resolution=resolution)
        assert silent.reasons == (
            "no reading for 7 s between readings: gaps are 23.3 % of the window, at most 3 % may be",
        )
        gone = gauge(t, np.where(t > 8 * S, 0.0, watts), 5, 35, planned=0.02, resolution=resolution)
        assert gone.energy_j is None


@pytest.mark.parametrize("resolution", [0.0, 1.0])
def test_0_w_of_a_coarse_gauge_is_what_was_rounded(resolution: float) -> None:
    t = every(0.1, 40)
    watts = np.where(np.arange(len(t)) % 5 < 2, 1.0, 0.0)
    found = gauge(t, watts, 5, 35, planned=0.1, resolution=resolution)
    assert (found.energy_j, found.failed_reads) == (pytest.approx(12, abs=0.1), 0)


def test_a_gauge_of_which_most_reads_failed_is_invalid() -> None:
    t = every(0.02, 12)
    watts = np.where(np.arange(len(t)) % 4 == 0, 100.0, np.nan)
    assert gauge(t, watts, 1, 11, planned=0.02).reasons == ("376 of 501 reads failed",)


def test_power_that_no_such_domain_draws_is_a_failed_read() -> None:
    t = every(0.1, 12)
    watts = np.full(len(t), 100.0)
    watts[50] = 0xFFFFFFFF * 1e-3
    found = gauge(t, watts, 1, 11, planned=0.1, max_power_w=2000)
    assert (found.energy_j, found.failed_reads) == (pytest.approx(1000), 1)


def test_a_gauge_that_averages_is_read_half_a_span_later() -> None:
    t = every(0.1, 40)
    seconds = t / S
    # 300 W from second 10 to 30, 50 W around; shown as means over the last second.
    shown = 50 + 250 * (np.clip(seconds - 10, 0, 1) - np.clip(seconds - 30, 0, 1))
    found = gauge(t, shown, 12, 28, planned=0.1, period=0.1, average_s=1.0)
    assert found.energy_j == pytest.approx(4800)
    edges = gauge(t, shown, 10, 30, planned=0.1, period=0.1, average_s=1.0)
    assert edges.energy_j == pytest.approx(6000, abs=2 * edges.uncertainty_j)
    assert edges.uncertainty_j < 100
    blind = gauge(t, shown, 10, 30, planned=0.1, period=0.1)
    assert abs(blind.energy_j - 6000) > 2 * blind.uncertainty_j


@pytest.mark.parametrize("beyond_s", [0.0, 0.3])
def test_a_trace_that_ends_with_the_window_leaves_an_average_as_uncertain_as_it_is_late(beyond_s: float) -> None:
    t = every(0.1, 30 + beyond_s)
    seconds = t / S
    shown = 50 + 250 * (np.clip(seconds - 10, 0, 1) - np.clip(seconds - 30, 0, 1))
    found = gauge(t, shown, 10, 30, planned=0.1, period=0.1, average_s=1.0)
    assert found.energy_j == pytest.approx(6000, abs=2 * found.uncertainty_j)
    assert found.uncertainty_j < 150
    steady = gauge(t, np.full(len(t), 300.0), 10, 30, planned=0.1, period=0.1, average_s=1.0)
    assert steady.uncertainty_j == pytest.approx(0.07 * 300)


def test_the_resolution_of_a_counter_adds_to_its_uncertainty() -> None:
    t = every(0.1, 12)
    fine, coarse = (counter(t, 100 * t / S, 1, 11, resolution=r).uncertainty_j for r in (0.0, 50.0))
    assert coarse > fine


def test_spans_combine_into_one_window() -> None:
    t = every(0.1, 10)
    watts = np.full(len(t), 100.0)
    parts = [gauge(t, watts, 0, 2), gauge(t, watts, 5, 8)]
    whole = combine(parts, duration_s=5)
    assert (whole.energy_j, whole.mean_power_w) == (pytest.approx(500), pytest.approx(100))
    assert whole.uncertainty_j == pytest.approx(np.hypot(parts[0].uncertainty_j, parts[1].uncertainty_j))


def test_one_invalid_span_makes_the_whole_invalid() -> None:
    t = every(0.1, 10)
    watts = np.full(len(t), 100.0)
    whole = combine([gauge(t, watts, 0, 2), gauge(t, watts, 9, 12)], duration_s=5)
    assert whole.energy_j is None
    assert whole.reasons == ("trace ends 2 s before the window",)


def test_a_window_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match="not after its start"):
        gauge(times(0, 1), np.array([1.0, 1]), 1, 1)


def test_samples_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="do not ascend"):
        gauge(times(1, 0), np.array([1.0, 1]), 0, 1)
