"""Intervals of means and of ratios, against hand computation."""

import math

import numpy as np
import pytest
from scipy import stats
from statistics_settings import array

from framewatt.statistics.effect_size import mean_interval, ratio_of_means_interval


def test_interval_of_a_mean_is_students_on_a_scale_of_ratios() -> None:
    values = array(96, 103, 101, 94, 106)
    found = mean_interval(values, 0.95)
    # 2.7764 is Student's 97.5 % point of 4 degrees of freedom.
    half = 2.7764 * values.std(ddof=1) / math.sqrt(5) / 100
    assert [found.low, found.high] == pytest.approx([100 * math.exp(-half), 100 * math.exp(half)], rel=1e-5)
    plain = stats.ttest_1samp(values, 0).confidence_interval()
    assert [found.low, found.high] == pytest.approx([plain.low, plain.high], rel=0.01)


def test_no_end_of_what_cannot_be_negative_is() -> None:
    assert mean_interval(array(93, 1608, 90), 0.95).low > 0


def test_fieller_by_hand() -> None:
    # Finney 1978's way: roots of (b - r a)^2 = t^2 var(b - r a) / n, found here by trying ratios.
    a, b = array(10, 11, 9, 12, 10), array(14, 15, 12, 18, 13)
    found = ratio_of_means_interval(a, b, 0.95, paired=True)
    for end in (found.low, found.high):
        left = b - end * a
        assert abs(stats.ttest_1samp(left, 0).statistic) == pytest.approx(stats.t.ppf(0.975, 4))
    assert found.low < b.mean() / a.mean() < found.high


def test_fieller_knows_no_bounds_where_the_divisor_may_be_nothing() -> None:
    found = ratio_of_means_interval(array(1, 100), array(1, 2), 0.95, paired=False)
    assert (found.low, found.note) == (None, "the mean of cell A is not distinguishable from 0")


def test_pairs_that_move_together_give_a_narrow_ratio() -> None:
    a = array(1, 2, 3, 4, 5, 6)
    b = 2 * a * array(1.01, 0.99, 1.0, 1.01, 0.99, 1.0)
    paired = ratio_of_means_interval(a, b, 0.95, paired=True)
    apart = ratio_of_means_interval(a, b, 0.95, paired=False)
    assert [paired.low, paired.high] == pytest.approx([2, 2], abs=0.03)
    assert apart.high - apart.low > 0.5


def test_nothing_is_said_of_too_few_or_equal_values() -> None:
    assert mean_interval(array(1, 2), 0.95).note == "fewer than 3 runs"
    assert mean_interval(np.ones(5), 0.95).low is None


def test_a_ratio_of_means_whose_interval_would_reach_below_0_has_none() -> None:
    steady, scattered = np.array([10.0, 11.0, 10.0]), np.array([1.0, 100.0, 1.0])
    found = ratio_of_means_interval(steady, scattered, 0.95, paired=False)
    assert (found.low, found.high, found.note) == (None, None, "not known within a factor of 100")
