"""Which cells may be compared with each other."""

import itertools
from collections.abc import Iterable

from framewatt.frames.factor_words import phrase
from framewatt.study.factors import AnyCell, shared


def group_of(cell: AnyCell, compared: Iterable[str]) -> str:
    """Name of a cell's group: the levels that it shares with the cells it is compared with, in words."""
    levels = cell.to_dict()
    return phrase(levels, shared(list(levels), compared))


def groups(cells: Iterable[AnyCell], compared: Iterable[str]) -> dict[str, list[AnyCell]]:
    """Cells that may be compared with each other, by group, sorted by cell name."""
    compared = list(compared)
    named = sorted(((group_of(cell, compared), cell) for cell in cells), key=lambda pair: (pair[0], pair[1].id))
    return {name: [cell for _, cell in found] for name, found in itertools.groupby(named, key=lambda pair: pair[0])}


def comparable_pairs(cells: Iterable[AnyCell], compared: Iterable[str]) -> list[tuple[str, AnyCell, AnyCell]]:
    """Group, cell A and cell B of every comparison: all pairs that differ in compared factors only."""
    grouped = groups(cells, compared)
    return [(name, a, b) for name, members in grouped.items() for a, b in itertools.combinations(members, 2)]


def not_compared(cells: Iterable[AnyCell], compared: Iterable[str]) -> str:
    """What varies and is not compared, with the line that compares it; empty where some cells are compared.

    Args:
        cells: of a study.
        compared: the factors of `statistics.compare`.
    """
    cells, compared = list(cells), list(compared)
    if len(cells) < 2 or comparable_pairs(cells, compared):
        return ""
    levels = [cell.to_dict() for cell in cells]
    varied = [name for name in levels[0] if name not in compared and len({str(one.get(name)) for one in levels}) > 1]
    line = ", ".join([*compared, *varied])
    few = len(varied) == 1
    return (
        f"{' and '.join(varied)} {'varies' if few else 'vary'} and {'is' if few else 'are'} not compared. "
        f"To compare the cells, add to the study: statistics: {{compare: [{line}]}}"
    )
