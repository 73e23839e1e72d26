"""What a figure of a large study leaves out, so that it stays one that can be read; each says so in its notes."""

from collections.abc import Sequence
from typing import TypeVar

MOST_NAMED = 60
"""Points of a panel that have their names beside them: more hide what they name."""

MOST_DOTS = 2_000
"""Runs that are drawn one by one."""

MOST_PANELS = 24
"""Panels of a figure."""

MOST_LISTED = 12
"""Levels of a scale that a legend lists."""

_Item = TypeVar("_Item")


def evenly(items: Sequence[_Item], most: int) -> list[_Item]:
    """At most so many of some things, evenly from the first to the last; all where there are no more.

    Args:
        items: in their order.
        most: at least 2.
    """
    if len(items) <= most:
        return list(items)
    return [items[number * (len(items) - 1) // (most - 1)] for number in range(most)]


def panels_words(drawn: int, there: int) -> str:
    """How many of the groups have a panel, in words; empty where all have."""
    return f"Drawn: {drawn} of {there} groups, evenly from the first to the last" if drawn < there else ""


def dots_words(runs: int) -> str:
    """That runs are not drawn one by one, in words; empty where they are."""
    return f"{runs:,} runs: not drawn one by one" if runs > MOST_DOTS else ""


def names_words(points: int) -> str:
    """That points have no names beside them, in words; empty where they have.

    Args:
        points: of the fullest panel.
    """
    return f"Up to {points:,} points a panel: without names, which the tables have" if points > MOST_NAMED else ""
