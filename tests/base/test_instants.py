"""Instants as other tools write them."""

import pytest

from framewatt.base.instants import utc_ns


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1767225600.5", 1767225600.5),
        (" 2026-01-01 00:00:00.5 ", 1767225600.5),
        ("2026/01/01T01:00:00+01:00", 1767225600),
    ],
)
def test_an_instant_is_seconds_or_a_date(text: str, seconds: float) -> None:
    assert utc_ns(text) == round(seconds * 1e9)


@pytest.mark.parametrize("text", ["", "nan", "inf", "-inf", "1e300", "1e12", "0000-00-00", "a"])
def test_what_no_clock_shows_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 # in words of Python's, some of them
        utc_ns(text)
