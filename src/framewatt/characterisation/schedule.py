"""The actual schedule of loads: what drew power from when to when."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

IDLE = "idle"
ONE_CORE = "one core"
ALL_CORES = "all cores"
GPU = "GPU"


@dataclass(frozen=True)
class Stretch:
    """A time under one load.

    Attributes:
        load: IDLE, ONE_CORE, ALL_CORES or GPU.
        start_ns: CLOCK_MONOTONIC at which it began.
        end_ns: CLOCK_MONOTONIC at which it ended.
        unsure_s: seconds within which its processes began; power stepped somewhere in them.
        others: processors that other work kept busy meanwhile, or None where the kernel does not tell.
    """

    load: str
    start_ns: int
    end_ns: int
    unsure_s: float = 0.0
    others: float | None = None

    @property
    def duration_s(self) -> float:
        """Seconds from its begin to its end."""
        return (self.end_ns - self.start_ns) * 1e-9

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return asdict(self)


@dataclass(frozen=True)
class Edge:
    """An instant at which the load changed.

    Attributes:
        at_ns: CLOCK_MONOTONIC.
        rises: whether power went up.
        from_ns: begin of the load before.
        to_ns: end of the load after.
        unsure_s: seconds within which the change happened.
    """

    at_ns: int
    rises: bool
    from_ns: int
    to_ns: int
    unsure_s: float


def edges_of(stretches: Sequence[Stretch], loads: Sequence[str]) -> list[Edge]:
    """The edges between idling and these loads.

    Args:
        stretches: in order of time, one after the other.
        loads: those whose steps matter.
    """
    return [
        Edge(after.start_ns, before.load == IDLE, before.start_ns, after.end_ns, max(before.unsure_s, after.unsure_s))
        for before, after in itertools.pairwise(stretches)
        if (before.load == IDLE and after.load in loads) or (after.load == IDLE and before.load in loads)
    ]


def around(stretches: Sequence[Stretch], load: str) -> list[tuple[Stretch, list[Stretch]]]:
    """Every stretch of a load with the idle ones beside it."""
    found = []
    for number, stretch in enumerate(stretches):
        if stretch.load == load:
            beside = [*stretches[max(number - 1, 0) : number], *stretches[number + 1 : number + 2]]
            found.append((stretch, [other for other in beside if other.load == IDLE]))
    return [(stretch, idle) for stretch, idle in found if idle]
