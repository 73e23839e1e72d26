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
        calls: (kinds,), spans of each kind.
    """

    kinds: tuple[Kind, ...]
    kind: NDArray[np.int64]
    start_ns: NDArray[np.float64]
    end_ns: NDArray[np.float64]
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


def innermost(spans: Spans) -> Innermost:
    """When each operator was the innermost of its thread; steps are no operators.

    An operator has the API of the outermost one that it lies in. A span that goes on beyond the one that it lies in, by
    rounding, is cut.

    Args:
        spans: of a profiler.
    """
    words = spans.words.tolist()
    places: dict[Kind, int] = {}
    calls: list[int] = []
    pieces: list[tuple[int, float, float]] = []
    operators = np.flatnonzero(spans.words[spans.name] != STEP) if len(words) else np.zeros(0, np.int64)
    # By thread, then by start; of two that start at once, the longer one is outside.
    order = operators[np.lexsort((-spans.end_ns[operators], spans.start_ns[operators], spans.thread[operators]))]
    columns = (spans.thread, spans.name, spans.api, spans.start_ns, spans.end_ns)
    stack: list[list[float]] = []
    apis: list[str] = []
    last = -1

    def close(until: float) -> None:
        """Leave the operators that ended by a time."""
        while stack and stack[-1][1] <= until:
            kind, end, since = stack.pop()
            if end > since:
                pieces.append((int(kind), since, end))
            if stack:
                stack[-1][2] = max(end, since)
            else:
                apis.clear()

    for thread, name, api, start, until in zip(*(column[order].tolist() for column in columns), strict=True):
        if thread != last:
            close(float("inf"))
            last = thread
        close(start)
        end = until
        if stack:
            kind, outer, since = stack[-1]
            if start > since:
                pieces.append((int(kind), since, start))
            end = min(until, outer)
        else:
            apis.append(words[api] or words[name])
        key = (words[name], apis[0])
        place = places.setdefault(key, len(places))
        if place == len(calls):
            calls.append(0)
        calls[place] += 1
        stack.append([place, end, start])
    close(float("inf"))
    array = np.array(pieces, np.float64).reshape(-1, 3)
    return Innermost(tuple(places), array[:, 0].astype(np.int64), array[:, 1], array[:, 2], np.array(calls, np.int64))
