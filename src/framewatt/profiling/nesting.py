"""Operators that call each other, as times in which one of them is the innermost."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
