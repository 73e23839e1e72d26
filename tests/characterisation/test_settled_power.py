"""The power of the settled part of a stretch of a load."""

import numpy as np
import pytest

from framewatt.characterisation.levels import mean_power
from framewatt.characterisation.schedule import IDLE, Stretch
from framewatt.characterisation.series import Series

STRETCH = Stretch(IDLE, 0, 1_000_000_000)


def series(time_s: np.ndarray, watts: np.ndarray, counter: bool) -> Series:
    """Readings of a gauge in watts, or of a counter that gains as much."""
    value = np.concatenate(([0.0], np.cumsum(watts[1:] * np.diff(time_s)))) if counter else watts
    return Series(time_s, value, counter, 0, 0, 0)


@pytest.mark.parametrize("counter", [False, True])
def test_a_read_that_was_held_up_over_the_end_is_left_out(counter: bool) -> None:
    # The read began at 0.91 s, came at 1.07 s with the next load's 500 W, and has 0.99 s as its stamp.
    time_s = np.append(np.arange(0, 91) / 100, 0.99)
    assert mean_power(series(time_s, np.append(np.full(91, 70.0), 500.0), counter), STRETCH, 0) == pytest.approx(70)


@pytest.mark.parametrize("counter", [False, True])
def test_a_late_reading_that_came_before_the_end_counts(counter: bool) -> None:
    time_s = np.concatenate((np.arange(0, 51) / 100, np.arange(70, 100) / 100))
    watts = np.where(time_s == 0.7, 130.0, 70.0)
    power_w = mean_power(series(time_s, watts, counter), STRETCH, 0)
    assert power_w is not None
    assert power_w > 71


def test_a_meter_of_few_readings_keeps_its_last() -> None:
    time_s = np.arange(0, 10) / 10
    assert mean_power(series(time_s, np.arange(10.0), False), STRETCH, 0) == pytest.approx(7)
