"""Numbers as readers see them: the digits that say something, and no others."""

import pytest

from framewatt.report.numbers import p_value
from framewatt.tables.ratios import ratio_range, times


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.0, "1.00x"),
        (1.224, "1.22x"),
        (1.0034, "1.0034x"),
        (1.0000012, "1.000001x"),
        (0.9966, "0.9966x"),
        (0.0512, "0.0512x"),
        (12.34, "12.3x"),
        (123.4, "123x"),
        (4321.0, "4,320x"),
        (1.5e6, "1,500,000x"),
    ],
)
def test_a_factor_has_three_digits_or_the_first_that_differ_from_1(ratio: float, words: str) -> None:
    assert times(ratio) == words


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.1, 1.35, "1.22x [1.10, 1.35]"),
        (None, None, "1.22x"),
        (0.01, 5.0, "1.22x [not known within a factor of 100]"),
        (-845.0, 900.0, "1.22x [not known within a factor of 100]"),
    ],
)
def test_a_ratio_has_its_interval_unless_that_says_nothing(low: float, high: float, words: str) -> None:
    assert ratio_range(1.22, low, high) == words


def test_the_ends_of_an_interval_have_the_digits_of_the_ratio() -> None:
    assert ratio_range(1.0034, 1.0021, 1.0047) == "1.0034x [1.0021, 1.0047]"
    assert ratio_range(4321.0, 4200.0, 4400.0) == "4,320x [4,200, 4,400]"
    assert ratio_range(150.0, 1.6, 159.0) == "150x [1.60, 159]"
    assert ratio_range(12.3, 0.16, 15.0) == "12.3x [0.160, 15.0]"


@pytest.mark.parametrize(
    ("p", "words"),
    [(1.0, "p > 0.99"), (0.98, "p = 0.98"), (0.0004, "p < 0.001"), (None, "no p"), (float("nan"), "no p")],
)
def test_a_p_of_1_is_not_printed_as_if_it_showed_that_nothing_differs(p: float | None, words: str) -> None:
    assert p_value(p) == words
