"""Operators in loops of their own: which are repeated and with which shapes, their calls, and both ways compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.profiling.operators import OPERATOR, RESOLVED, CellJoules, Recorded, opened
from framewatt.profiling.timeline import NOBODY, Floats, callers_of
from framewatt.runs.repeated import Choose
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
        weights: (keys, kinds), the share of each innermost operator's seconds that these calls have.
    """

    keys: tuple[Key, ...]
    calls: np.ndarray
    seconds: Floats
    on_device: np.ndarray
    weights: Floats

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """Places of the keys of each operator."""
        by_name: dict[str, list[int]] = {}
        for place, (name, _) in enumerate(self.keys):
            by_name.setdefault(name, []).append(place)
        return by_name

    def part(self, cell_joules: CellJoules, places: Sequence[int]) -> tuple[float, float]:
        """Return joules of some calls together, and their standard uncertainty.

        Args:
            cell_joules: joules of the innermost operators.
            places: of keys.
        """
        joules, weights = cell_joules.joules, self.weights[list(places)].sum(axis=0)
        energy_j = float(weights @ joules.energy_j[:-1])
        of_fit = max(float(weights @ joules.covariance[:-1, :-1] @ weights), 0.0) ** 0.5
        return energy_j, float(np.hypot(of_fit, joules.total_uncertainty_j * energy_j / joules.total_j))


def called_in(recorded: Recorded, names: Iterable[str], domain: str) -> Called:
    """Return the calls of some operators in a timeline's window; of nested ones, the outermost.

    Args:
        recorded: the timeline.
        names: of the operators.
        domain: of the joules. A GPU's are of what calls launched there, those of others of what calls did on the host.
    """
    spans, inner = recorded.spans, recorded.inner_of(domain)
    callers = callers_of(spans, inner, set(names))
    lasted_s = recorded.window_s(inner.end_ns) - recorded.window_s(inner.start_ns)
    outer = callers.outermost
    outer = outer[recorded.window_s(spans.end_ns[outer]) > recorded.window_s(spans.start_ns[outer])]
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
    """Return the key of a case's calls in a timeline, which cuts texts to LONGEST characters."""
    return case.name[:LONGEST], case.shapes[:LONGEST]


def joined_of(called: Called, cell_joules: CellJoules, places: Sequence[int]) -> dict[str, float]:
    """Return seconds and joules of a call as the join with the timeline has them."""
    calls = float(called.calls[list(places)].sum())
    energy_j, unsure_j = called.part(cell_joules, places)
    each = {
        "joined_s": float(called.seconds[list(places)].sum()),
        "joined_j": energy_j,
        "joined_uncertainty_j": unsure_j,
    }
    return {name: value / calls for name, value in each.items()}


SHAPES = 12
"""Most shapes of an operator that are repeated, those that take longest first."""

_ENOUGH = 0.95
"""Share of an operator's seconds from which further shapes are not repeated."""


def chooser(folder: Path, rows: int) -> Choose:
    """Return what chooses the calls to repeat: the shapes of the resolved operators with most joules.

    Args:
        folder: of the cell's timeline.
        rows: how many operators.

    Returns:
        a function. From the cases that a program calls, it returns the places of those to repeat; it raises
        FramewattError where there is no timeline with known joules.
    """

    def choose(cases: Sequence[Case]) -> list[int]:
        recorded, domains = opened(folder)
        names = {case.name for case in cases}
        both = [(called_in(recorded, names, cell_joules.domain), cell_joules) for cell_joules in domains]
        largest = _largest(both, rows)
        chosen = {key for called, _ in both for name in largest for key in _longest(called, name)}
        ranked = sorted(range(len(cases)), key=lambda place: (cases[place].name, cases[place].shapes))
        return [place for place in ranked if key_of(cases[place]) in chosen]

    return choose


def _largest(both: Sequence[tuple[Called, CellJoules]], rows: int) -> list[str]:
    """Return the names of the operators with most joules, of those that the joules of a domain resolve."""
    energy: dict[str, float] = {}
    for called, cell_joules in both:
        for name, places in called.by_name.items():
            energy_j, unsure_j = called.part(cell_joules, places)
            if called.seconds[places].sum() >= cell_joules.shortest_s and unsure_j <= RESOLVED * energy_j:
                energy[name] = energy.get(name, 0.0) + energy_j
    return sorted(energy, key=lambda name: -energy[name])[:rows]


def _longest(called: Called, name: str) -> list[Key]:
    """Return the keys of an operator that take longest, until they have `_ENOUGH` of its seconds."""
    places = sorted(called.by_name.get(name, []), key=lambda place: -called.seconds[place])
    before = np.concatenate(([0.0], np.cumsum(called.seconds[np.array(places, np.int64)])))
    return [
        called.keys[place]
        for place, gone_s in zip(places[:SHAPES], before[:-1], strict=False)
        if gone_s < _ENOUGH * before[-1]
    ]


CALL = "call"
"""What a row is about, if not an operator: the calls of an operator with one kind of inputs."""

_Z = 1.96


@dataclass(frozen=True)
class Alone:
    """A call in loops: its seconds, its joules, and their standard uncertainties by the meter and between loops."""

    seconds: float
    energy_j: float
    meter_j: float
    loops_j: float

    def compared_with(self, joined: Mapping[str, float]) -> dict[str, Any]:
        """Return the columns of repeated calls, and the ratio of the joined joules to theirs."""
        unsure_j = float(np.hypot(self.meter_j, self.loops_j))
        repeated = {"repeated_s": self.seconds, "repeated_j": self.energy_j, "repeated_uncertainty_j": unsure_j}
        if joined["joined_j"] <= 0 or self.energy_j <= 0:
            return repeated
        ratio = joined["joined_j"] / self.energy_j
        relative = float(np.hypot(joined["joined_uncertainty_j"] / joined["joined_j"], unsure_j / self.energy_j))
        low, high = (ratio * float(np.exp(sign * _Z * relative)) for sign in (-1, 1))
        return repeated | {"ratio": ratio, "ratio_low": low, "ratio_high": high, "agree": low <= 1 <= high}


@dataclass(frozen=True)
class Calls:
    """Calls with one kind of inputs: their place in the timeline, and what was repeated, or why nothing was."""

    key: Key
    place: int | None
    alone: Alone | None
    reason: str | None
    flags: tuple[str, ...]

    def row(self, called: Called, cell_joules: CellJoules) -> dict[str, Any]:
        """Return the row of these calls."""
        row: dict[str, Any] = {"by": CALL, "operator": self.key[0], "shapes": self.key[1], "reason": self.reason}
        row["flags"] = "; ".join(self.flags) or None
        if self.place is None:
            return row | whole(0.0)
        joined = joined_of(called, cell_joules, [self.place])
        row |= {"calls": int(called.calls[self.place]), **joined}
        comparison = self.alone.compared_with(joined) if self.alone else {}
        return row | whole(100.0 if self.alone else 0.0) | comparison


def whole(percent: float) -> dict[str, float]:
    """Return the shares of a row where all calls were repeated, or none."""
    return {"covered_percent": percent, "covered_s_percent": percent}


@dataclass(frozen=True)
class BothWays:
    """A cell in a domain: its repeated operators and its timeline.

    Attributes:
        record: of its repeated operators.
        called: its calls in the timeline.
        cell_joules: joules of the timeline.
    """

    record: Mapping[str, Any]
    called: Called
    cell_joules: CellJoules

    def rows(self, about: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return a row for each operator, the largest first, each followed by the rows of its calls."""
        common = {**about, "domain": self.cell_joules.domain, "estimated": self.cell_joules.estimated}
        by_name: dict[str, list[Mapping[str, Any]]] = {}
        for case in self.record["cases"]:
            by_name.setdefault(case["name"], []).append(case)
        spread = self._spread()
        places = self.called.by_name
        ordered = sorted(by_name, key=lambda name: -self.called.part(self.cell_joules, places.get(name, []))[0])
        rows = []
        for name in ordered:
            each = [self._calls_of_key(key, cases, spread) for key, cases in _by_key(by_name[name]).items()]
            rows.append({**common, **self._row_of_operator(name, places.get(name, []), each, by_name[name])})
            rows += [{**common, **one.row(self.called, self.cell_joules)} for one in each]
        return rows

    def _spread(self) -> float:
        """Return the relative standard deviation of loops of the same calls, pooled; 0 where each case has one loop."""
        squares, degrees = 0.0, 0
        for case in self.record["cases"]:
            each = [
                loop["domains"][self.cell_joules.domain]["energy_gross_j"] / loop["calls"] for loop in self._valid(case)
            ]
            if len(each) > 1 and np.mean(each) > 0:
                squares += float(np.sum((np.array(each) / np.mean(each) - 1) ** 2))
                degrees += len(each) - 1
        return (squares / degrees) ** 0.5 if degrees else 0.0

    def _valid(self, case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        domain = self.cell_joules.domain
        return [loop for loop in case["loops"] if loop["domains"].get(domain, {}).get("valid")]

    def _calls_of_key(self, key: Key, cases: Sequence[Mapping[str, Any]], spread: float) -> Calls:
        """Return the calls with a key: the mean of their loops, weighted by how often the program makes each call."""
        place = self.called.keys.index(key) if key in self.called.keys else None
        reasons = [case["reason"] for case in cases if case["reason"]]
        reasons += [self._invalid(case) for case in cases if not case["reason"] and not self._valid(case)]
        flags = dict.fromkeys(flag for case in cases for flag in self._flags(case, place))
        if place is None:
            reasons = ["the timeline has no such call"]
        if reasons:
            return Calls(key, place, None, "; ".join(dict.fromkeys(reasons)), tuple(flags))
        weights = np.array([sum(case["calls"]) for case in cases], float)
        means = np.array([self._mean(case) for case in cases])
        shares = weights / weights.sum()
        seconds, energy_j = (float(shares @ means[:, column]) for column in (0, 1))
        meter_j = float(np.linalg.norm(shares * means[:, 2]))
        loops = min(len(self._valid(case)) for case in cases)
        alone = Alone(seconds, energy_j, meter_j, spread * energy_j / loops**0.5)
        return Calls(key, place, alone, None, tuple(flags))

    def _invalid(self, case: Mapping[str, Any]) -> str:
        energies = [loop["domains"].get(self.cell_joules.domain) for loop in case["loops"]]
        reasons = [reason for one in energies if one for reason in one["reasons"]]
        return "; ".join(dict.fromkeys(reasons)) or f"no loop has energy of {self.cell_joules.domain}"

    def _mean(self, case: Mapping[str, Any]) -> tuple[float, float, float]:
        """Return seconds and joules of a call, and the standard uncertainty of its joules by the meter."""
        loops = self._valid(case)
        energies = [loop["domains"][self.cell_joules.domain] for loop in loops]
        calls = sum(loop["calls"] for loop in loops)
        seconds = sum(loop["duration_s"] for loop in loops)
        unsure_j = float(np.linalg.norm([one["energy_uncertainty_j"] for one in energies]))
        return seconds / calls, sum(one["energy_gross_j"] for one in energies) / calls, unsure_j / calls

    def _flags(self, case: Mapping[str, Any], place: int | None) -> Iterable[str]:
        for loop in case["loops"]:
            yield from loop["domains"].get(self.cell_joules.domain, {}).get("flags", ())
        # The last one that was looked at may be smaller, and so have calls of other shapes.
        if len(set(case["calls"][:-1])) > 1:
            yield "steps call it another number of times"
        if place is not None and self.called.on_device[place] and _waits(case):
            yield "the device waited for calls, and its floor for that time is in them"

    def _row_of_operator(
        self, name: str, places: Sequence[int], each: Sequence[Calls], cases: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return the row of an operator: the repeated calls together, and their share of its calls in the timeline."""
        total = int(self.called.calls[list(places)].sum())
        done = [one for one in each if one.alone]
        reasons = "; ".join(dict.fromkeys(one.reason for one in each if one.reason))
        row = {"by": OPERATOR, "operator": name, "calls": total, "reason": reasons or None}
        all_flags = [*(flag for one in each for flag in one.flags), *_disturbed(cases)]
        flags = {"flags": "; ".join(dict.fromkeys(all_flags)) or None}
        if not done:
            return row | flags | whole(0.0)
        counts = np.array([self.called.calls[one.place] for one in done], float)
        shares = counts / counts.sum()
        alone = [one.alone for one in done if one.alone]
        together = Alone(
            float(shares @ [one.seconds for one in alone]),
            float(shares @ [one.energy_j for one in alone]),
            float(np.linalg.norm(shares * [one.meter_j for one in alone])),
            # What drifts between loops is the same for all of them.
            float(shares @ [one.loops_j for one in alone]),
        )
        covered = [one.place for one in done if one.place is not None]
        joined = joined_of(self.called, self.cell_joules, covered)
        lasted_s = self.called.seconds
        share = {
            "covered_percent": 100 * counts.sum() / total,
            "covered_s_percent": 100 * lasted_s[covered].sum() / lasted_s[list(places)].sum(),
        }
        return row | flags | share | joined | together.compared_with(joined)


def _disturbed(cases: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a flag with the number of loops that other programs disturbed; none where that is 0."""
    loops = [loop for case in cases for loop in case["loops"]]
    count = sum(bool(loop["disturbed"]) for loop in loops)
    return [f"others disturbed {count} of {len(loops)} loops"] if count else []


def _waits(case: Mapping[str, Any]) -> bool:
    """Return whether, in most loops, a device was done with all calls when the last call was made."""
    ended: list[bool] = [loop["waited_s"] < 2 * loop["duration_s"] / loop["calls"] for loop in case["loops"]]
    return sum(ended) > len(ended) / 2


def _by_key(cases: Sequence[Mapping[str, Any]]) -> dict[Key, list[Mapping[str, Any]]]:
    cases_by_key: dict[Key, list[Mapping[str, Any]]] = {}
    for case in cases:
        cases_by_key.setdefault((case["name"][:LONGEST], case["shapes"][:LONGEST]), []).append(case)
    return cases_by_key
