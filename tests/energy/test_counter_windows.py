"""Energy of a window by a counter: wraps, resets, gaps, standstill, its last digit."""

import numpy as np
import pytest
from window_readings import S, counter, every, times

from framewatt.energy import counter_steps


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


def test_one_zero_in_a_counter_that_then_goes_on_is_a_failed_read() -> None:
    found = counter(times(0, 1, 2, 3, 4), np.array([500.0, 600, 0, 800, 900]), 0, 4, max_power_w=200)
    assert (found.reasons, found.energy_j, found.failed_reads) == ((), pytest.approx(400), 1)


def test_a_dip_from_which_the_domain_can_be_back_is_a_reset() -> None:
    # A meter of unknown limit that was reset and then drew 800 J, not 200.
    unknown = counter(times(0, 1, 2, 3, 4), np.array([500.0, 600, 0, 800, 900]), 0, 4)
    assert unknown.reasons == ("counter went back: it was reset",)
    found = counter(times(0, 1, 2, 3), np.array([100.0, 110, 50, 130]), 0, 3, max_power_w=200)
    assert found.reasons == ("counter went back: it was reset",)
    several = counter(times(0, 1, 2, 3, 4), np.array([500.0, 600, 0, 5, 10]), 0, 4, max_power_w=200)
    assert several.reasons == ("counter went back: it was reset",)


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


@pytest.mark.parametrize("read_s", [0.01, 0.1])
@pytest.mark.parametrize("intervals", [5, 6, 8, 12])
def test_joules_that_are_lost_are_reported_at_whatever_point_between_two_readings(
    read_s: float, intervals: int
) -> None:
    t = every(read_s, 20)
    second = t / S
    for share in np.arange(0, 1, 0.05):
        begin, lost_s = 10 + read_s * share, intervals * read_s
        joules = 100 * np.where(second < begin, second, np.maximum(begin, second - lost_s))
        found = counter(t, joules, 5, 15, period=0.001, planned=read_s, resolution=1e-5)
        assert found.energy_j is None, share


def test_joules_that_are_lost_right_after_the_first_change_are_reported() -> None:
    t = every(0.1, 2)
    second = t / S
    joules = 100 * np.where(second < 0.1, second, np.maximum(0.1, second - 0.6))
    found = counter(t, joules, 0.05, 1.9, period=0.001, planned=0.1, resolution=1e-5)
    assert found.reasons == ("counter stood still for 0.6 s and did not count what was drawn meanwhile",)


@pytest.mark.parametrize("held_s", [0.04, 0.06, 0.09])
def test_a_counter_that_shows_one_old_value_before_it_catches_up_has_lost_nothing(held_s: float) -> None:
    t = every(0.01, 20)
    second = t / S
    shown = np.where((second >= 10) & (second < 10 + held_s), 10.0, second)
    shown[np.flatnonzero(second >= 10 + held_s)[0]] = 10.004
    found = counter(t, 100 * shown, 2, 18, period=0.001, planned=0.01, resolution=1e-4)
    assert (found.reasons, found.energy_j) == ((), pytest.approx(1600, rel=1e-3))


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


def test_the_resolution_of_a_counter_adds_to_its_uncertainty() -> None:
    t = every(0.1, 12)
    fine, coarse = (counter(t, 100 * t / S, 1, 11, resolution=r).uncertainty_j for r in (0.0, 50.0))
    assert coarse > fine


@pytest.mark.parametrize("rows", [1, 3, 1 << 18])
def test_the_energy_is_the_same_however_many_rows_are_looked_at_at_once(monkeypatch, rows: int) -> None:
    monkeypatch.setattr(counter_steps, "_AT_ONCE", rows)
    t = every(0.02, 60)
    joules = 4000.0 + 50 * t / S
    joules[500] = 0.0  # a dip
    joules[1000:] -= 5000  # a wrap
    joules[2000:2040] = joules[2000]  # a standstill whose joules are lost
    joules[2040:] -= joules[2040] - joules[2039]
    joules[2500:] += 500  # more than it can draw
    found = [
        counter(t, joules, start, end, period=0.02, planned=0.02, resolution=1e-3, wrap=5000.0, max_power_w=400.0)
        for start, end in ((1, 15), (12, 22), (30, 45), (45, 55), (51, 59))
    ]
    assert [one.reasons for one in found] == [
        (),
        (),
        ("counter has not moved for 0.8 s",),
        ("counter went up by more than 400 W can: it was reset, or wrapped unseen",),
        (),
    ]
    assert [found[number].energy_j for number in (0, 1, 4)] == pytest.approx([700, 500, 400])
