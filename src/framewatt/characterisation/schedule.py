"""The schedule of loads: what drew power from when to when, and which load a domain must show."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

IDLE = "idle"
ONE_CORE = "one core"
ALL_CORES = "all cores"
GPU = "GPU"

GPU_CLOSED = "GPU closed"
"""No process of the schedule has the GPU open. In all other stretches the process that loads it has, also when idle."""

_SQUARE_WAVE = "GPU every {:g} ms"


def square_wave(period_s: float) -> str:
    """Return the name of the load that keeps the GPU busy for the first half of each period.

    Args:
        period_s: seconds.
    """
    return _SQUARE_WAVE.format(period_s * 1000)


def period_of(load: str) -> float | None:
    """Return the period of a square wave in seconds, or None for another load."""
    match = re.fullmatch(_SQUARE_WAVE.replace("{:g}", r"([\d.]+)"), load)
    return float(match[1]) / 1000 if match else None


def is_steady(load: str) -> bool:
    """Return whether a load draws the same power from its start to its end, so that a step leads to it from IDLE."""
    return load not in (IDLE, GPU_CLOSED) and period_of(load) is None


@dataclass(frozen=True)
class Stretch:
    """A time under one load.

    Attributes:
        load: IDLE, ONE_CORE, ALL_CORES, GPU, GPU_CLOSED or the name of a square wave.
        start_ns: CLOCK_MONOTONIC at which it started.
        end_ns: CLOCK_MONOTONIC at which it ended.
        unsure_s: seconds within which its processes started; power stepped somewhere in them.
        others: processors that other work kept busy meanwhile, or None where the kernel does not report it.
        busy: share of the time from start to end in which its processes computed, or None where none did.
    """

    load: str
    start_ns: int
    end_ns: int
    unsure_s: float = 0.0
    others: float | None = None
    busy: float | None = None

    @property
    def duration_s(self) -> float:
        """Return the seconds from its start to its end."""
        return (self.end_ns - self.start_ns) * 1e-9

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return asdict(self)


@dataclass(frozen=True)
class Edge:
    """An instant at which the load changed.

    Attributes:
        at_ns: CLOCK_MONOTONIC.
        rises: whether power went up.
        from_ns: start of the load before.
        to_ns: end of the load after.
        unsure_s: seconds within which the change happened.
    """

    at_ns: int
    rises: bool
    from_ns: int
    to_ns: int
    unsure_s: float


def edges_of(stretches: Sequence[Stretch], loads: Sequence[str]) -> list[Edge]:
    """Return the edges between idling and these loads.

    Args:
        stretches: in order of time, one after the other.
        loads: those with steps that matter.
    """
    return [
        Edge(after.start_ns, before.load == IDLE, before.start_ns, after.end_ns, max(before.unsure_s, after.unsure_s))
        for before, after in itertools.pairwise(stretches)
        if (before.load == IDLE and after.load in loads) or (after.load == IDLE and before.load in loads)
    ]


def around(stretches: Sequence[Stretch], load: str) -> list[tuple[Stretch, list[Stretch]]]:
    """Return every stretch of a load with the idle stretches next to it."""
    pairs = []
    for number, stretch in enumerate(stretches):
        if stretch.load == load:
            neighbours = [*stretches[max(number - 1, 0) : number], *stretches[number + 1 : number + 2]]
            pairs.append((stretch, [other for other in neighbours if other.load == IDLE]))
    return [(stretch, idle) for stretch, idle in pairs if idle]


_EXPECTED = {"cpu:package": ALL_CORES, "cpu:psys": ALL_CORES, "cpu:core": ALL_CORES, "external": ALL_CORES, "gpu": GPU}
"""DRAM and uncore may rightly show none of the loads."""

_INSIDE = ("cpu:core", "cpu:uncore")
"""Domains inside another one."""


def expected_load(domain: str) -> str | None:
    """Return the load that a domain must show, or None where there is no such load."""
    return next((load for prefix, load in _EXPECTED.items() if domain.startswith(prefix)), None)


def needed(domain: str) -> bool:
    """Return whether a total of the machine needs this domain."""
    return not domain.startswith(_INSIDE)
