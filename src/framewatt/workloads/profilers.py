"""What a framework's own profiler records of a run: which operators ran, on which thread, from when to when."""

import importlib
import importlib.util
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.workloads.contract import Workload
from framewatt.workloads.registry import engine_facts

STEP = "framewatt.step"
"""Name of the span around every step of a recorded run, from which the offset of the profiler's clock follows."""

ON_HOST, UNKNOWN = -2, -1
"""Origins of spans on the host, and of spans on a GPU where the profiler does not record what launched them."""


HOST_READS: tuple[str, ...] = tuple(name for names in engine_facts("HOST_READS").values() for name in names)
"""Operators in which the host waits for a number of the device."""

LONGEST = 300
"""Characters of a name or of shapes that are stored."""


class Span(NamedTuple):
    """One call of an operator. Spans of a thread may lie in each other.

    Attributes:
        name: the operator, as the profiler names it.
        api: the function of the framework's API that it belongs to, where the profiler records it; else empty.
        shapes: of its inputs, in words, or empty.
        thread: any number that is the same for spans of one thread or stream.
        start_ns: on the profiler's clock.
        end_ns: as above.
        origin: of what ran on a GPU, the place of the span on the host that launched it, or UNKNOWN; else ON_HOST.
    """

    name: str
    api: str
    shapes: str
    thread: int
    start_ns: float
    end_ns: float
    origin: int = ON_HOST


class Profiler(Protocol):
    """A framework's profiler."""

    def start(self) -> None:
        """Begin; the workload is set up and warm."""

    def step(self) -> AbstractContextManager[Any]:
        """What a step is taken in; the profiler shows it as a span named STEP, unless it marks steps by itself."""

    def stop(self) -> list[Span]:
        """End, and all spans since the start; those named STEP are the steps, in their order."""


def profiler_variables(engine: str) -> dict[str, str]:
    """Return the environment variables that an engine's profiler needs, to be set before the engine is imported."""
    return dict(engine_facts("PROFILER_VARIABLES").get(engine, {}))


def make_profiler(engine: str, workload: Workload, scratch: Path) -> Profiler:
    """Return the profiler of a workload that is set up.

    Args:
        engine: its engine.
        workload: it is set up.
        scratch: a folder for what the profiler writes.

    Raises:
        FramewattError: the engine has none.
    """
    name = f"framewatt.workloads.{engine}.profiler"
    if importlib.util.find_spec(name) is None:
        raise FramewattError(f"operators: framewatt reads no profiler of {engine}. Use operators: false for its cells.")
    module = importlib.import_module(name)
    profiler: Profiler = module.make_profiler(workload, scratch)
    return profiler


@dataclass(frozen=True)
class Spans:
    """Spans as arrays.

    Attributes:
        words: (w,), texts.
        name, api, shapes: (n,), places in `words`.
        thread: (n,), numbers from 0.
        start_ns, end_ns: (n,), on the profiler's clock, since the first span.
        steps_ns: (s, 2), CLOCK_MONOTONIC just before and just after each step.
        origin: (n,), as in Span.
    """

    words: NDArray[np.str_]
    name: NDArray[np.int32]
    api: NDArray[np.int32]
    shapes: NDArray[np.int32]
    thread: NDArray[np.int32]
    start_ns: NDArray[np.float64]
    end_ns: NDArray[np.float64]
    steps_ns: NDArray[np.int64]
    origin: NDArray[np.int32]

    @property
    def on_gpu(self) -> NDArray[np.bool_]:
        """(n,), whether each ran on a GPU."""
        on_gpu: NDArray[np.bool_] = self.origin != ON_HOST
        return on_gpu

    @classmethod
    def from_spans(cls, spans: Iterable[Span], steps_ns: Iterable[tuple[int, int]]) -> "Spans":
        """Return the spans of a profiler as arrays, with the times of the steps."""
        listed = list(spans)
        places: dict[str, int] = {}
        threads: dict[int, int] = {}
        rows = [
            (
                *(places.setdefault(text[:LONGEST], len(places)) for text in (one.name, one.api, one.shapes)),
                threads.setdefault(one.thread, len(threads)),
            )
            for one in listed
        ]
        name, api, shapes, thread = np.array(rows, np.int32).reshape(-1, 4).T
        # Nanoseconds since 1970 are too many for a float.
        zero_ns = min((one.start_ns for one in listed), default=0)
        times = [(one.start_ns - zero_ns, one.end_ns - zero_ns) for one in listed]
        start_ns, end_ns = np.array(times, np.float64).reshape(-1, 2).T
        words = np.array(list(places), np.str_) if places else np.zeros(0, "U1")
        steps = np.array(list(steps_ns), np.int64).reshape(-1, 2)
        origin = np.array([one.origin for one in listed], np.int32)
        return cls(words, name, api, shapes, thread, start_ns, end_ns, steps, origin)

    def save(self, path: Path) -> None:
        """Write them to a file of plain arrays."""
        with path.open("wb") as file:
            np.savez_compressed(file, **vars(self))

    @classmethod
    def load(cls, path: Path) -> "Spans":
        """Read them again."""
        with np.load(path, allow_pickle=False) as file:
            return cls(**{name: file[name] for name in cls.__dataclass_fields__})
