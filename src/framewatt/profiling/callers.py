"""Which of some operators each piece of a timeline belongs to: its own, what it calls, and kernels that it launches."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framewatt.profiling.nesting import Innermost
from framewatt.profiling.timeline import Floats
from framewatt.workloads.profilers import Spans

NOBODY = -1


@dataclass(frozen=True)
class Callers:
    """Pieces of a timeline by the call that they belong to.

    Attributes:
        caller: (m,), of each piece, the span of the outermost of the operators that it lies in; NOBODY where in none.
        on_device: (m,), whether it is a kernel that was launched.
        outermost: (c,), all spans of calls, each once.
    """

    caller: NDArray[np.int64]
    on_device: NDArray[np.bool_]
    outermost: NDArray[np.int64]


def callers_of(spans: Spans, inner: Innermost, names: Collection[str]) -> Callers:
    """The calls of some operators, and what belongs to each.

    Of operators that call each other, the outermost one counts.

    Args:
        spans: of a profiler.
        inner: of the same, on the host or on a GPU.
        names: of the operators.
    """
    wanted = np.isin(spans.name, np.flatnonzero(np.isin(spans.words, list(names))))
    outermost = _outermost(spans, np.flatnonzero(wanted & ~spans.on_gpu))
    at_start = _Threads(spans.thread, spans.start_ns, spans.end_ns, outermost)
    of_span = at_start.of(spans.thread, spans.start_ns)
    caller = at_start.of(inner.thread, inner.start_ns)
    launched = np.flatnonzero(spans.origin >= 0)
    kernel = _Threads(spans.thread, spans.start_ns, spans.end_ns, launched).of(inner.thread, inner.start_ns)
    on_device = kernel != NOBODY
    caller[on_device] = of_span[spans.origin[kernel[on_device]]]
    return Callers(caller, on_device, outermost)


def _outermost(spans: Spans, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of some spans that lie in no other of them."""
    order = places[np.lexsort((-spans.end_ns[places], spans.start_ns[places], spans.thread[places]))]
    found = []
    for thread in np.unique(spans.thread[order]):
        those = order[spans.thread[order] == thread]
        over = np.maximum.accumulate(spans.end_ns[those])
        found.append(those[np.concatenate(([True], spans.start_ns[those][1:] >= over[:-1]))])
    return np.concatenate(found) if found else places[:0]


class _Threads:
    """Finds the span that a moment of a thread lies in.

    Args:
        thread, start_ns, end_ns: of all spans.
        places: of those that are looked for, which do not overlap on a thread.
    """

    def __init__(self, thread: NDArray[np.int32], start_ns: Floats, end_ns: Floats, places: NDArray[np.int64]) -> None:
        self._end_ns = end_ns
        self._by_thread = {}
        for one in np.unique(thread[places]):
            those = places[thread[places] == one]
            ordered = those[np.argsort(start_ns[those], kind="stable")]
            self._by_thread[int(one)] = (ordered, start_ns[ordered])

    def of(self, thread: NDArray[np.integer], at_ns: Floats) -> NDArray[np.int64]:
        """Of each moment the place of the span that it lies in, or NOBODY."""
        found = np.full(len(at_ns), NOBODY, np.int64)
        for one, (ordered, starts) in self._by_thread.items():
            of_thread = np.flatnonzero(thread == one)
            last = np.searchsorted(starts, at_ns[of_thread], side="right") - 1
            span = ordered[np.maximum(last, 0)]
            inside = (last >= 0) & (at_ns[of_thread] < self._end_ns[span])
            found[of_thread[inside]] = span[inside]
        return found
