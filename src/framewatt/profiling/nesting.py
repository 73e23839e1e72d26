"""Operators that call each other: times in which one is the innermost, and which of several each piece belongs to."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framewatt.profiling.timeline import Floats
from framewatt.workloads.profilers import STEP, Spans

Kind = tuple[str, str]
"""An operator, and what of the API it was called by."""


@dataclass(frozen=True)
class Innermost:
    """Pieces of time, of which those of a thread do not overlap.

    Attributes:
        kinds: operators with their API.
        kind: (m,), place in `kinds`.
        start_ns, end_ns: (m,), on the profiler's clock.
        thread: (m,), as the spans have it.
        calls: (kinds,), spans of each kind.
    """

    kinds: tuple[Kind, ...]
    kind: NDArray[np.int64]
    start_ns: NDArray[np.float64]
    end_ns: NDArray[np.float64]
    thread: NDArray[np.int64]
    calls: NDArray[np.int64]


def steps_without(spans: Spans) -> int:
    """Steps in which no operator began, up to the next step's beginning: a profiler that lost some shows them as idle.

    Args:
        spans: of a profiler.
    """
    steps = spans.words[spans.name] == STEP
    begun = np.sort(spans.start_ns[~steps])
    edges = np.append(np.sort(spans.start_ns[steps]), np.inf)
    return int((np.diff(np.searchsorted(begun, edges)) == 0).sum())


def calls_per_step(
    spans: Spans, names: Collection[str], start_monotonic_ns: NDArray[np.float64], parts: Sequence[tuple[int, int]]
) -> float | None:
    """Calls of some operators in a step, of those that began within a window: not while it was set up or evaluated.

    Args:
        spans: of a profiler.
        names: of the operators.
        start_monotonic_ns: (n,), when each span began.
        parts: of the window, start and end in nanoseconds of CLOCK_MONOTONIC.

    Returns:
        their mean number; None where the window has no step.
    """
    inside = np.zeros(len(spans.name), np.bool_)
    for start, end in parts:
        inside |= (start_monotonic_ns >= start) & (start_monotonic_ns < end)
    # Words are compared once each, since a profile may hold millions of spans.
    counted = np.isin(spans.words, list(names)), spans.words == STEP
    calls, steps = (int(which[spans.name[inside]].sum()) for which in counted)
    return calls / steps if steps else None


def innermost(spans: Spans, *, on_gpu: bool = False) -> Innermost:
    """When each operator was the innermost of its thread, or stream of a GPU; steps are no operators.

    An operator has the API of the outermost one that it lies in. A span that goes on beyond the one that it lies in, by
    rounding, is cut. What ran on a GPU is named by the operator that launched it, and has that one's API.

    Args:
        spans: of a profiler.
        on_gpu: those that ran on a GPU, in place of those on the host.
    """
    words = spans.words.tolist()
    places: dict[Kind, int] = {}
    calls: list[int] = []
    pieces: list[tuple[int, float, float, int]] = []
    order = _in_order(spans, on_gpu)
    name, api = _named(spans, on_gpu)
    columns = (spans.thread, name, api, spans.start_ns, spans.end_ns)
    stack: list[list[float]] = []
    last = -1

    def close(until: float) -> None:
        """Leave the operators that ended by a time."""
        while stack and stack[-1][1] <= until:
            kind, end, since = stack.pop()
            if end > since:
                pieces.append((int(kind), since, end, last))
            if stack:
                stack[-1][2] = max(end, since)

    for thread, called, by, start, until in zip(*(column[order].tolist() for column in columns), strict=True):
        if thread != last:
            close(float("inf"))
            last = thread
        close(start)
        end = until
        if stack:
            kind, outer, since = stack[-1]
            if start > since:
                pieces.append((int(kind), since, start, last))
            end = min(until, outer)
        key = (words[called], words[by])
        place = places.setdefault(key, len(places))
        if place == len(calls):
            calls.append(0)
        calls[place] += 1
        stack.append([place, end, start])
    close(float("inf"))
    array = np.array(pieces, np.float64).reshape(-1, 4)
    kind_of, thread_of = (array[:, column].astype(np.int64) for column in (0, 3))
    return Innermost(tuple(places), kind_of, array[:, 1], array[:, 2], thread_of, np.array(calls, np.int64))


def _in_order(spans: Spans, on_gpu: bool) -> NDArray[np.int64]:
    """Places of operators by thread, then by start; of two that start at once, the longer one is outside."""
    if not len(spans.name):
        return np.zeros(0, np.int64)
    of = np.flatnonzero((spans.words[spans.name] != STEP) & (spans.on_gpu == on_gpu))
    return of[np.lexsort((-spans.end_ns[of], spans.start_ns[of], spans.thread[of]))]


def _named(spans: Spans, on_gpu: bool) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(n,) and (n,), places in `words` of each operator's name and of its API; only those asked for are right."""
    api = np.where(spans.words[spans.api] == "", spans.name, spans.api)
    last, outermost, end_ns = -1, -1, -np.inf
    order = _in_order(spans, on_gpu=False)
    outer = np.arange(len(api))
    columns = (order, spans.thread[order], spans.start_ns[order], spans.end_ns[order])
    for place, thread, start, until in zip(*(column.tolist() for column in columns), strict=True):
        if thread != last or start >= end_ns:
            last, outermost, end_ns = thread, place, until
        outer[place] = outermost
    if not on_gpu:
        return spans.name, api[outer]
    # What a step launched itself, no operator did: it has its own name.
    launched = (spans.origin >= 0) & (spans.words[spans.name[spans.origin]] != STEP)
    by = np.where(launched, spans.origin, np.arange(len(api)))
    return spans.name[by], api[outer[by]]


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
