"""A12, Cliff's delta and their words and intervals, against printed definitions."""

import math

import pytest

from framewatt.statistics.effect_size import a12, a12_interval, cliffs_delta, magnitude


def test_a12_counts_pairs_and_half_the_ties() -> None:
    # 6 pairs: 2 > 1; 3 > 1, 3 > 2; 1 = 1, 2 = 2 tie; 1 < 2.
    assert a12([1, 2, 3], [1, 2]) == pytest.approx((3 + 0.5 * 2) / 6)


def test_a12_of_samples_apart_is_one_or_zero() -> None:
    assert a12([5, 6], [1, 2, 3]) == 1
    assert a12([1, 2, 3], [5, 6]) == 0


def test_cliffs_delta_counts_above_less_below() -> None:
    assert cliffs_delta([1, 2, 3], [1, 2]) == pytest.approx((3 - 1) / 6)


def test_an_empty_sample_has_no_a12() -> None:
    with pytest.raises(ValueError, match="either sample"):
        a12([], [1.0])


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (0.5, "negligible"),
        (0.559, "negligible"),
        (0.56, "small"),
        (0.44, "small"),
        (0.64, "medium"),
        (0.36, "medium"),
        (0.709, "medium"),
        (0.71, "large"),
        (0.29, "large"),
        (0.0, "large"),
    ],
)
def test_magnitude_of_vargha_and_delaney(value: float, word: str) -> None:
    assert magnitude(value) == word


@pytest.mark.parametrize("value", [0.3, 0.5, 0.8, 1.0])
def test_interval_ends_where_hanley_and_mcneils_error_reaches_the_value(value: float) -> None:
    # For equal sizes Newcombe's variance is Hanley and McNeil's, written here as in their paper.
    n, low = 10, a12_interval(value, 10, 10, 0.95)[0]
    q1, q2 = low / (2 - low), 2 * low**2 / (1 + low)
    variance = (low * (1 - low) + (n - 1) * (q1 - low**2) + (n - 1) * (q2 - low**2)) / n**2
    assert low < value
    assert value - low == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-5)


def test_interval_is_mirrored_and_has_a_width_where_samples_do_not_overlap() -> None:
    low, high = a12_interval(1, 10, 10, 0.95)
    assert high == 1
    assert low < 0.9
    assert a12_interval(0, 10, 10, 0.95) == pytest.approx((0, 1 - low))
