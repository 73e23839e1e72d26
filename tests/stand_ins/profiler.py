"""Stands in for a framework's profiler: two operators a step, one in the other, on a clock of its own that drifts."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from framewatt.workloads.profilers import STEP, Span

DRIFT, OFFSET_NS = 2e-5, 10**15


def _clock_ns() -> float:
    return OFFSET_NS + (1 + DRIFT) * time.monotonic_ns()


class StandInProfiler:
    def __init__(self) -> None:
        self._spans: list[Span] = []

    def start(self) -> None: ...

    @contextmanager
    def step(self) -> Iterator[None]:
        start_ns = _clock_ns()
        yield
        end_ns = _clock_ns()
        middle_ns = (start_ns + end_ns) / 2
        self._spans += [
            Span(STEP, "", "", 0, start_ns, end_ns),
            Span("convolution", "conv", "[8]", 0, start_ns, end_ns),
            Span("copy", "", "", 0, middle_ns, end_ns),
        ]

    def stop(self) -> list[Span]:
        return self._spans


def make_profiler(workload: Any, scratch: Path) -> StandInProfiler:
    return StandInProfiler()
