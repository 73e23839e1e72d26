"""A strip of all choices of a group: the ratio of each to the one of least cost, with its interval, on one axis."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from framewatt.report.answered import Answered
from framewatt.report.numbers import known
from framewatt.tables.ratios import ratio_range

_FURTHEST = 100.0
"""Ratios beyond this, or below its inverse, are drawn at the edge."""

_NARROWEST = 1.25
"""Least ratio of the axis' ends, so that a hair's breadth does not fill the page."""

_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_MOST_TICKS = 6


@dataclass(frozen=True)
class Bar:
    """One choice of the strip; places are in percent of the axis.

    Attributes:
        name: of the choice.
        best: whether it is in the confidence set of the cheapest.
        at: of the ratio; None where there is none.
        left: of the interval's lower end; None where it is unknown.
        width: of the interval.
        text: ratio and interval in numbers.
        told: what a pointer over it, or the focus on it, shows; empty where there is no more to tell.
    """

    name: str
    best: bool
    at: float | None
    left: float | None
    width: float | None
    text: str
    told: str


@dataclass(frozen=True)
class Strip:
    """All choices of a group, least cost first.

    Attributes:
        bars: one a choice.
        ticks: place in percent, and ratio.
    """

    bars: list[Bar]
    ticks: list[tuple[float, str]]


def strip_of(one: Answered, told_of: Mapping[str, str]) -> Strip | None:
    """The strip of a group; None where nothing is compared.

    Args:
        one: the answer of the group.
        told_of: what is told of a cell beside its ratio, by cell.
    """
    if not one.compared or not one.reference:
        return None
    ratios = one.ratios
    ends = [value for told in ratios.values() for value in told.values() if known(value) and value]
    low, high = _axis(ends)

    def place(ratio: float) -> float:
        return round(100 * math.log(min(max(ratio, low), high) / low) / math.log(high / low), 2)

    def bar(cell: str) -> Bar:
        name, best, more = one.label(cell), cell in one.best, told_of.get(cell, "")
        told = ratios.get(cell)
        if told is None:
            return Bar(name, best, place(1.0), None, None, "1", more)
        ratio, start, end = told["ratio"], told["low"], told["high"]
        if ratio is None or not known(ratio):
            return Bar(name, best, None, None, None, "not compared", more)
        text = ratio_range(ratio, start, end)
        if start is None or end is None or not known(start, end):
            return Bar(name, best, place(ratio), None, None, text, more)
        left = place(start)
        return Bar(name, best, place(ratio), left, round(place(end) - left, 2), text, more)

    cells = [one.reference, *sorted(ratios, key=lambda cell: ratios[cell]["ratio"] or math.inf)]
    return Strip([bar(cell) for cell in cells], [(place(tick), f"{tick:g}") for tick in _ticks(low, high)])


def _axis(ratios: Iterable[float]) -> tuple[float, float]:
    """Ends of the axis, which holds 1 and all that is drawn, with a little room."""
    within = [min(max(ratio, 1 / _FURTHEST), _FURTHEST) for ratio in ratios]
    low, high = min([1.0, *within]), max([1.0, *within])
    room = max(_NARROWEST / (high / low), 1.0) ** 0.5 * (high / low) ** 0.02
    return low / room, high * room


def _ticks(low: float, high: float) -> list[float]:
    """Round ratios on the axis, 1 among them."""
    found = [tick for tick in _TICKS if low <= tick <= high]
    step = math.ceil(len(found) / _MOST_TICKS)
    one = found.index(1.0)
    return [tick for number, tick in enumerate(found) if (number - one) % step == 0]
