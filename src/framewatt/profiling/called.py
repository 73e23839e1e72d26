"""Calls of operators in a timeline, by the shapes of their inputs: how many, for how long, and with which joules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from framewatt.profiling.cell_joules import CellJoules, Recorded
from framewatt.profiling.nesting import NOBODY, callers_of
from framewatt.profiling.timeline import Floats
from framewatt.workloads.profilers import LONGEST
from framewatt.workloads.repeaters import Case

Key = tuple[str, str]
"""An operator, and the shapes of its inputs."""


@dataclass(frozen=True)
class Called:
    """Calls in a timeline's window.

    Attributes:
        keys: of the calls.
        calls: (keys,), how many.
        seconds: (keys,), that they took, on the host or on a GPU.
        on_device: (keys,), whether those are of kernels that they launched.
        weights: (keys, kinds), the share of each innermost operator's seconds that lies in them.
    """

    keys: tuple[Key, ...]
    calls: np.ndarray
    seconds: Floats
    on_device: np.ndarray
    weights: Floats

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """Places of the keys of each operator."""
        found: dict[str, list[int]] = {}
        for place, (name, _) in enumerate(self.keys):
            found.setdefault(name, []).append(place)
        return found

    def part(self, found: CellJoules, places: Sequence[int]) -> tuple[float, float]:
        """Joules of some calls together, and their standard uncertainty.

        Args:
            found: joules of the innermost operators.
            places: of keys.
        """
        joules, weights = found.joules, self.weights[list(places)].sum(axis=0)
        energy_j = float(weights @ joules.energy_j[:-1])
        of_fit = max(float(weights @ joules.covariance[:-1, :-1] @ weights), 0.0) ** 0.5
        return energy_j, float(np.hypot(of_fit, joules.total_uncertainty_j * energy_j / joules.total_j))


def called_in(recorded: Recorded, names: Iterable[str], domain: str) -> Called:
    """Calls of some operators in a timeline's window; of those that call each other, the outermost.

    Args:
        recorded: the timeline.
        names: of the operators.
        domain: whose joules are asked for: of a GPU, what calls launched there; of others, what they did on the host.
    """
    spans, inner = recorded.spans, recorded.inner_of(domain)
    callers = callers_of(spans, inner, set(names))
    lasted_s = recorded.of_window(inner.end_ns) - recorded.of_window(inner.start_ns)
    outer = callers.outermost
    outer = outer[recorded.of_window(spans.end_ns[outer]) > recorded.of_window(spans.start_ns[outer])]
    codes = spans.name.astype(np.int64) * len(spans.words) + spans.shapes
    known, calls = np.unique(codes[outer], return_counts=True)
    within = (callers.caller != NOBODY) & (lasted_s > 0)
    within[within] &= np.isin(codes[callers.caller[within]], known)
    key = np.searchsorted(known, codes[callers.caller[within]])
    kind, took_s, device = inner.kind[within], lasted_s[within], callers.on_device[within]
    seconds = np.zeros((len(known), len(inner.kinds)))
    np.add.at(seconds, (key, kind), took_s)
    total_s = np.bincount(inner.kind, lasted_s, len(inner.kinds))
    return Called(
        tuple(
            (str(spans.words[code // len(spans.words)]), str(spans.words[code % len(spans.words)])) for code in known
        ),
        calls,
        seconds.sum(axis=1),
        np.bincount(key, device, len(known)) > 0,
        np.divide(seconds, total_s, out=np.zeros_like(seconds), where=total_s > 0),
    )


def key_of(case: Case) -> Key:
    """The key of a case's calls in a timeline, whose texts are cut."""
    return case.name[:LONGEST], case.shapes[:LONGEST]


def joined_of(called: Called, found: CellJoules, places: Sequence[int]) -> dict[str, float]:
    """The joined side, for a call."""
    calls = float(called.calls[list(places)].sum())
    energy_j, unsure_j = called.part(found, places)
    each = {
        "joined_s": float(called.seconds[list(places)].sum()),
        "joined_j": energy_j,
        "joined_uncertainty_j": unsure_j,
    }
    return {name: value / calls for name, value in each.items()}
