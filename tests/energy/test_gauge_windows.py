"""Energy of a window by a gauge: gaps, failed reads, 0 W, averages."""

import numpy as np
import pytest
from window_readings import S, every, gauge, times


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


def test_a_trace_that_starts_late_is_invalid() -> None:
    assert gauge(times(1, 2), np.array([1.0, 1]), 0, 2).reasons == ("trace begins 1 s after the window",)


def test_negative_power_is_invalid() -> None:
    assert gauge(times(0, 1, 2), np.array([5.0, -1, 5]), 0, 2).reasons == ("negative power",)


def test_a_gauge_is_known_to_half_its_last_digit() -> None:
    t = every(0.1, 12)
    assert gauge(t, np.full(len(t), 100.0), 1, 11, resolution=1.0).uncertainty_j == pytest.approx(5)


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
