"""Which of a program's operators are repeated alone, and with which shapes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from framewatt.profiling.called import Called, Key, called_in, key_of
from framewatt.profiling.cell_joules import RESOLVED, CellJoules, opened
from framewatt.runs.repeated import Choose
from framewatt.workloads.repeaters import Case

SHAPES = 12
"""Most shapes of an operator that are repeated, those that take longest first."""

_ENOUGH = 0.95
"""Share of an operator's seconds from which further shapes are not repeated."""


def chooser(folder: Path, rows: int) -> Choose:
    """What of a program is repeated: the operators that take most of the joules and are told apart, by their shapes.

    Args:
        folder: of the cell's timeline.
        rows: how many operators.

    Returns:
        of the cases that a program calls, the places of those that are repeated; it raises FramewattError where there
        is no timeline whose joules are known.
    """

    def choose(cases: Sequence[Case]) -> list[int]:
        recorded, domains = opened(folder)
        names = {case.name for case in cases}
        both = [(called_in(recorded, names, found.domain), found) for found in domains]
        largest = _largest(both, rows)
        chosen = {key for called, _ in both for name in largest for key in _longest(called, name)}
        ranked = sorted(range(len(cases)), key=lambda place: (cases[place].name, cases[place].shapes))
        return [place for place in ranked if key_of(cases[place]) in chosen]

    return choose


def _largest(both: Sequence[tuple[Called, CellJoules]], rows: int) -> list[str]:
    """Names of the operators that take most, of those that a domain's joules tell apart."""
    energy: dict[str, float] = {}
    for called, found in both:
        for name, places in called.by_name.items():
            energy_j, unsure_j = called.part(found, places)
            if called.seconds[places].sum() >= found.shortest_s and unsure_j <= RESOLVED * energy_j:
                energy[name] = energy.get(name, 0.0) + energy_j
    return sorted(energy, key=lambda name: -energy[name])[:rows]


def _longest(called: Called, name: str) -> list[Key]:
    """Keys of an operator that take longest, until they are enough."""
    places = sorted(called.by_name.get(name, []), key=lambda place: -called.seconds[place])
    before = np.concatenate(([0.0], np.cumsum(called.seconds[np.array(places, np.int64)])))
    return [
        called.keys[place]
        for place, gone_s in zip(places[:SHAPES], before[:-1], strict=False)
        if gone_s < _ENOUGH * before[-1]
    ]
