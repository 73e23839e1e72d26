"""Both ways to an operator's joules, side by side: in a timeline, and in loops of its own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from framewatt.profiling.alone import Alone, Calls, whole
from framewatt.profiling.called import Called, Key, joined_of
from framewatt.profiling.cell_joules import CellJoules
from framewatt.profiling.operators import OPERATOR
from framewatt.workloads.profilers import LONGEST


@dataclass(frozen=True)
class Beside:
    """Both ways of a cell in a domain.

    Attributes:
        record: of its repeated operators.
        called: its calls in the timeline.
        found: joules of the timeline.
    """

    record: Mapping[str, Any]
    called: Called
    found: CellJoules

    def rows(self, about: Mapping[str, Any]) -> list[dict[str, Any]]:
        """A row an operator, the largest first, each followed by those of its calls."""
        told = {**about, "domain": self.found.domain, "estimated": self.found.estimated}
        by_name: dict[str, list[Mapping[str, Any]]] = {}
        for case in self.record["cases"]:
            by_name.setdefault(case["name"], []).append(case)
        spread = self._spread()
        places = self.called.by_name
        ordered = sorted(by_name, key=lambda name: -self.called.part(self.found, places.get(name, []))[0])
        rows = []
        for name in ordered:
            each = [self._of_key(key, cases, spread) for key, cases in _by_key(by_name[name]).items()]
            rows.append({**told, **self._of_operator(name, places.get(name, []), each, by_name[name])})
            rows += [{**told, **one.row(self.called, self.found)} for one in each]
        return rows

    def _spread(self) -> float:
        """Relative standard deviation of loops of the same calls, of all cases together; 0 where there is one each."""
        squares, degrees = 0.0, 0
        for case in self.record["cases"]:
            each = [loop["domains"][self.found.domain]["energy_gross_j"] / loop["calls"] for loop in self._valid(case)]
            if len(each) > 1 and np.mean(each) > 0:
                squares += float(np.sum((np.array(each) / np.mean(each) - 1) ** 2))
                degrees += len(each) - 1
        return (squares / degrees) ** 0.5 if degrees else 0.0

    def _valid(self, case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        domain = self.found.domain
        return [loop for loop in case["loops"] if loop["domains"].get(domain, {}).get("valid")]

    def _of_key(self, key: Key, cases: Sequence[Mapping[str, Any]], spread: float) -> Calls:
        """The loops of calls that a timeline does not tell apart, by how often the program makes each."""
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
        told = [loop["domains"].get(self.found.domain) for loop in case["loops"]]
        reasons = [reason for one in told if one for reason in one["reasons"]]
        return "; ".join(dict.fromkeys(reasons)) or f"no loop has energy of {self.found.domain}"

    def _mean(self, case: Mapping[str, Any]) -> tuple[float, float, float]:
        """Seconds and joules of a call, and the standard uncertainty of the latter by the meter."""
        loops = self._valid(case)
        told = [loop["domains"][self.found.domain] for loop in loops]
        calls = sum(loop["calls"] for loop in loops)
        seconds = sum(loop["duration_s"] for loop in loops)
        unsure_j = float(np.linalg.norm([one["energy_uncertainty_j"] for one in told]))
        return seconds / calls, sum(one["energy_gross_j"] for one in told) / calls, unsure_j / calls

    def _flags(self, case: Mapping[str, Any], place: int | None) -> Iterable[str]:
        for loop in case["loops"]:
            yield from loop["domains"].get(self.found.domain, {}).get("flags", ())
        # The last one that was looked at may be smaller, and so have calls of other shapes.
        if len(set(case["calls"][:-1])) > 1:
            yield "steps call it another number of times"
        if place is not None and self.called.on_device[place] and _waits(case):
            yield "the device waited for calls, and its floor for that time is in them"

    def _of_operator(
        self, name: str, places: Sequence[int], each: Sequence[Calls], cases: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """The row of an operator: what was repeated of it, and what of the timeline that is."""
        total = int(self.called.calls[list(places)].sum())
        done = [one for one in each if one.alone]
        reasons = "; ".join(dict.fromkeys(one.reason for one in each if one.reason))
        row = {"by": OPERATOR, "operator": name, "calls": total, "reason": reasons or None}
        told = [*(flag for one in each for flag in one.flags), *_disturbed(cases)]
        flags = {"flags": "; ".join(dict.fromkeys(told)) or None}
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
        joined = joined_of(self.called, self.found, covered)
        lasted_s = self.called.seconds
        share = {
            "covered_percent": 100 * counts.sum() / total,
            "covered_s_percent": 100 * lasted_s[covered].sum() / lasted_s[list(places)].sum(),
        }
        return row | flags | share | joined | together.beside(joined)


def _disturbed(cases: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many loops others disturbed."""
    loops = [loop for case in cases for loop in case["loops"]]
    count = sum(bool(loop["disturbed"]) for loop in loops)
    return [f"others disturbed {count} of {len(loops)} loops"] if count else []


def _waits(case: Mapping[str, Any]) -> bool:
    """Whether a device was done with all calls when the last one was made, in most loops."""
    ended: list[bool] = [loop["waited_s"] < 2 * loop["duration_s"] / loop["calls"] for loop in case["loops"]]
    return sum(ended) > len(ended) / 2


def _by_key(cases: Sequence[Mapping[str, Any]]) -> dict[Key, list[Mapping[str, Any]]]:
    found: dict[Key, list[Mapping[str, Any]]] = {}
    for case in cases:
        found.setdefault((case["name"][:LONGEST], case["shapes"][:LONGEST]), []).append(case)
    return found
