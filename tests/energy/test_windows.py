"""Energy of a window of any meter, against integrals done by hand."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from window_readings import S, counter, every, gauge, times

from framewatt.energy.windows import WindowEnergy, combine


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


@settings(deadline=None)
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


@pytest.mark.parametrize("values", [[], [5.0], [np.nan, np.nan]])
def test_too_few_samples_are_unknown_never_zero(values: list[float]) -> None:
    for found in (
        gauge(times(*range(len(values))), np.array(values), 0, 1),
        counter(times(*range(len(values))), np.array(values), 0, 1),
    ):
        assert found.energy_j is None
        assert found.reasons[0].endswith("good samples, at least 2 are needed")


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


def test_spans_combine_into_one_window() -> None:
    t = every(0.1, 10)
    watts = np.full(len(t), 100.0)
    parts = [gauge(t, watts, 0, 2), gauge(t, watts, 5, 8)]
    whole = combine(parts, duration_s=5)
    assert (whole.energy_j, whole.mean_power_w) == (pytest.approx(500), pytest.approx(100))
    assert whole.uncertainty_j == pytest.approx(np.hypot(parts[0].uncertainty_j, parts[1].uncertainty_j))


def test_what_is_uncertain_by_chance_adds_in_quadrature_and_what_is_the_same_in_all_spans_adds_up() -> None:
    # Each is uncertain by 5 J: 4 J by chance, and 3 J that are the same in both. Together sqrt(4² + 4² + (3 + 3)²).
    span = WindowEnergy(100.0, 5.0, 10.0, 100, 0, 0.1, systematic_j=3.0)
    whole = combine([span, span], 20.0)
    assert whole.systematic_j == 6
    assert whole.uncertainty_j == pytest.approx(68**0.5)


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
