"""A timeline as it was recorded: its spans, its clock and its window."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.files import read_json
from framewatt.profiling.clock import Clock, clock_of
from framewatt.profiling.intervals import WindowTime
from framewatt.profiling.nesting import Innermost, innermost
from framewatt.runs.profiling import PROFILED
from framewatt.runs.spans_file import read_spans
from framewatt.runs.timelines import RECORD, SPANS
from framewatt.workloads.profilers import STEP, Spans


@dataclass(frozen=True)
class Recorded:
    """A timeline as it was recorded.

    Attributes:
        record: of it.
        spans: of the profiler.
        inner: when each operator was the innermost, of those on the host (False) and of those on a GPU (True).
        clock: of the profiler.
        time: of the window.
    """

    record: Mapping[str, Any]
    spans: Spans
    inner: Mapping[bool, Innermost]
    clock: Clock
    time: WindowTime

    @classmethod
    def of(cls, folder: Path) -> "Recorded":
        """Read a timeline, which is ok.

        Raises:
            FramewattError: the clocks cannot be brought together.
        """
        record = read_json(folder / RECORD)
        spans = read_spans(folder / SPANS)
        steps = spans.words[spans.name] == STEP
        clock = clock_of(np.column_stack((spans.start_ns[steps], spans.end_ns[steps])), spans.steps_ns)
        time = WindowTime([tuple(part) for part in record["passes"][PROFILED]["window"]["spans_monotonic_ns"]])
        inner = {on_gpu: innermost(spans, on_gpu=on_gpu) for on_gpu in (False, True)}
        return cls(record, spans, inner, clock, time)

    def inner_of(self, domain: str) -> Innermost:
        """When each operator was the innermost that a domain's joules are shared among."""
        return self.inner[is_gpu(domain)]

    def of_window(self, profiler_ns: np.ndarray) -> np.ndarray:
        """Seconds within the window of some times on the profiler's clock; of those outside, that of its edge."""
        return self.time.of(self.clock.monotonic_s(profiler_ns) - 1e-9 * self.time.zero_ns)


def is_gpu(domain: str) -> bool:
    """Whether a domain is a GPU: its joules are of what ran on it, those of others of what ran on the host."""
    return domain.startswith("gpu:")


def unseen_gpus(domains: Iterable[str], spans: Spans) -> tuple[str, ...]:
    """GPUs of which a timeline does not show what ran there: it shows no GPU, or does not tell which of several.

    Args:
        domains: whose joules are known.
        spans: of the profiler.
    """
    gpus = tuple(domain for domain in domains if is_gpu(domain))
    return () if len(gpus) == 1 and spans.on_gpu.any() else gpus
