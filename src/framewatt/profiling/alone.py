"""Calls of an operator in loops of its own, beside those in the program."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from framewatt.profiling.called import Called, Key, joined_of
from framewatt.profiling.cell_joules import CellJoules

CALL = "call"
"""What a row is of, beside an operator: calls of one operator with one kind of inputs."""

_Z = 1.96


@dataclass(frozen=True)
class Alone:
    """A call in loops: its seconds, its joules, and their standard uncertainties by the meter and between loops."""

    seconds: float
    energy_j: float
    meter_j: float
    loops_j: float

    def beside(self, joined: Mapping[str, float]) -> dict[str, Any]:
        """The repeated side, and what the joined one is of it."""
        unsure_j = float(np.hypot(self.meter_j, self.loops_j))
        told = {"repeated_s": self.seconds, "repeated_j": self.energy_j, "repeated_uncertainty_j": unsure_j}
        if joined["joined_j"] <= 0 or self.energy_j <= 0:
            return told
        ratio = joined["joined_j"] / self.energy_j
        relative = float(np.hypot(joined["joined_uncertainty_j"] / joined["joined_j"], unsure_j / self.energy_j))
        low, high = (ratio * float(np.exp(sign * _Z * relative)) for sign in (-1, 1))
        return told | {"ratio": ratio, "ratio_low": low, "ratio_high": high, "agree": low <= 1 <= high}


@dataclass(frozen=True)
class Calls:
    """Calls with one kind of inputs: their place in the timeline, and what was repeated, or why nothing was."""

    key: Key
    place: int | None
    alone: Alone | None
    reason: str | None
    flags: tuple[str, ...]

    def row(self, called: Called, found: CellJoules) -> dict[str, Any]:
        """Its row."""
        told: dict[str, Any] = {"by": CALL, "operator": self.key[0], "shapes": self.key[1], "reason": self.reason}
        told["flags"] = "; ".join(self.flags) or None
        if self.place is None:
            return told | whole(0.0)
        joined = joined_of(called, found, [self.place])
        told |= {"calls": int(called.calls[self.place]), **joined}
        beside = self.alone.beside(joined) if self.alone else {}
        return told | whole(100.0 if self.alone else 0.0) | beside


def whole(percent: float) -> dict[str, float]:
    """The shares of a row of calls that are all repeated, or none."""
    return {"covered_percent": percent, "covered_s_percent": percent}
