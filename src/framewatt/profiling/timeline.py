"""Operators on one time line: the profiler's clock, which operator was the innermost, and which call it belongs to."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from framewatt.base.errors import FramewattError
from framewatt.workloads.profilers import STEP, Spans

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Timeline:
    """The operators of a window, on any number of threads or streams.

    Attributes:
        kinds: names of the kinds of operators.
        kind: (n,), the kind of each operator, by its place in `kinds`.
        start_s, end_s: (n,), seconds.
    """

    kinds: tuple[str, ...]
    kind: NDArray[np.int64]
    start_s: Floats
    end_s: Floats

    def within(self, begin_s: float, end_s: float) -> "Timeline":
        """Return the same operators, cut to a window; those outside it are left out."""
        start, end = np.clip(self.start_s, begin_s, end_s), np.clip(self.end_s, begin_s, end_s)
        inside = end > start
        return Timeline(self.kinds, self.kind[inside], start[inside], end[inside])

    @cached_property
    def calls(self) -> NDArray[np.int64]:
        """(kinds,), how many operators of each kind there are."""
        return np.bincount(self.kind, minlength=len(self.kinds))

    @cached_property
    def seconds(self) -> Floats:
        """(kinds,), seconds of each kind; of two at once, both count."""
        seconds: Floats = np.bincount(self.kind, self.end_s - self.start_s, len(self.kinds)).astype(np.float64)
        return seconds

    def active(self, edges_s: Floats) -> Floats:
        """Return seconds of each kind between edges; of two at once, both count.

        Args:
            edges_s: (k + 1,), ascending.

        Returns:
            (k, kinds).
        """
        seconds = np.empty((len(edges_s) - 1, len(self.kinds)))
        for place in range(len(self.kinds)):
            of_kind = self.kind == place
            seconds[:, place] = np.diff(_before(self.start_s[of_kind], edges_s) - _before(self.end_s[of_kind], edges_s))
        return seconds

    @cached_property
    def shares_s(self) -> Floats:
        """(kinds,), seconds of each kind, where those that run at once share a second equally.

        Together they are the time in which anything runs.
        """
        if not len(self.kind):
            return np.zeros(len(self.kinds))
        at = np.unique(np.concatenate((self.start_s, self.end_s)))
        change = np.zeros(len(at))
        np.add.at(change, np.searchsorted(at, self.start_s), 1)
        np.add.at(change, np.searchsorted(at, self.end_s), -1)
        running = np.cumsum(change)[:-1]
        each = np.where(running > 0, np.diff(at) / np.maximum(running, 1), 0.0)
        gone = np.concatenate(([0.0], np.cumsum(each)))
        share = gone[np.searchsorted(at, self.end_s)] - gone[np.searchsorted(at, self.start_s)]
        shares_s: Floats = np.bincount(self.kind, share, len(self.kinds)).astype(np.float64)
        return shares_s


def _before(starts_s: Floats, edges_s: Floats) -> Floats:
    """Return for each edge the sum of max(edge - start, 0) over all starts."""
    ordered = np.sort(starts_s)
    total = np.concatenate(([0.0], np.cumsum(ordered)))
    count = np.searchsorted(ordered, edges_s)
    seconds: Floats = count * edges_s - total[count]
    return seconds


_MOST = 2000
"""Most steps that are used; more add nothing."""

_FEW = 2


@dataclass(frozen=True)
class Clock:
    """How to get from a profiler's time to CLOCK_MONOTONIC.

    Attributes:
        at_ns: time on the profiler's clock at which the offset is given.
        offset_ns: CLOCK_MONOTONIC less the profiler's, then.
        drift: by how much the offset grows in a nanosecond.
        uncertainty_ns: one standard uncertainty of a time.
    """

    at_ns: float
    offset_ns: float
    drift: float
    uncertainty_ns: float

    def monotonic_s(self, profiler_ns: Floats) -> Floats:
        """Return seconds of CLOCK_MONOTONIC of some times on the profiler's clock."""
        since = profiler_ns - self.at_ns
        # The large parts first: seconds since 1970 in nanoseconds leave no digits for a product.
        return 1e-9 * ((self.at_ns + self.offset_ns) + (1 + self.drift) * since)


def clock_of(seen_ns: Floats, around_ns: NDArray[np.int64]) -> Clock:
    """Return the clock by which every step is between the two times that the program read around it.

    A step starts after the program read its clock, and ends before it read it again, so each leaves a corridor for the
    offset. The line in the middle of the narrowest part is taken: it has the largest slack on both sides, and cannot be
    wrong by more than that slack.

    Args:
        seen_ns: (n, 2), start and end of each step on the profiler's clock.
        around_ns: (n, 2), CLOCK_MONOTONIC just before and just after it.

    Raises:
        FramewattError: there are too few steps, or not as many on both sides, or no line fits: a clock was set.
    """
    if len(seen_ns) != len(around_ns) or len(seen_ns) < _FEW:
        raise FramewattError(
            f"operators: the profile has {len(seen_ns)} steps, the run {len(around_ns)}. Both need the same number, "
            f"at least {_FEW}: record the timeline again."
        )
    chosen = np.unique(np.linspace(0, len(seen_ns) - 1, min(len(seen_ns), _MOST)).astype(int))
    seen, around = seen_ns[chosen], around_ns[chosen].astype(np.float64)
    at_ns, zero_ns = float(seen[0, 0]), float(around[0, 0])
    begin, end = seen[:, 0] - at_ns, seen[:, 1] - at_ns
    least, most = (around[:, 0] - zero_ns) - begin, (around[:, 1] - zero_ns) - end
    span = max(float(end.max()), 1.0)
    # Offset and slack in microseconds, drift over the span: a solver wants numbers of like size.
    lower = np.column_stack((-np.ones(len(begin)), -begin / span, np.ones(len(begin))))
    upper = np.column_stack((np.ones(len(end)), end / span, np.ones(len(end))))
    bounds = np.concatenate((-least, most)) * 1e-3
    solution = linprog([0, 0, -1], np.vstack((lower, upper)), bounds, bounds=[(None, None)] * 3, method="highs")
    offset_us, drift_us, slack_us = solution.x
    if slack_us < 0:
        raise FramewattError(
            f"operators: the profiler's clock is {-slack_us:.0f} us off in some steps; it may have been set meanwhile. "
            "Record the timeline again."
        )
    return Clock(at_ns, zero_ns - at_ns + 1e3 * offset_us, 1e3 * drift_us / span, 1e3 * slack_us / 3**0.5)


Kind = tuple[str, str]
"""An operator, and what of the API it was called by."""


@dataclass(frozen=True)
class Innermost:
    """Pieces of time. The pieces of a thread do not overlap.

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
    """Return the number of steps in which no operator started: a profiler that lost operators shows such steps.

    A step counts up to the start of the next step.

    Args:
        spans: of a profiler.
    """
    steps = spans.words[spans.name] == STEP
    started = np.sort(spans.start_ns[~steps])
    edges = np.append(np.sort(spans.start_ns[steps]), np.inf)
    return int((np.diff(np.searchsorted(started, edges)) == 0).sum())


def calls_per_step(
    spans: Spans, names: Collection[str], start_monotonic_ns: NDArray[np.float64], parts: Sequence[tuple[int, int]]
) -> float | None:
    """Return the calls of some operators in a step; only calls that started within a window count.

    Calls while the run was set up or evaluated are thus left out.

    Args:
        spans: of a profiler.
        names: of the operators.
        start_monotonic_ns: (n,), when each span started.
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
    """Return when each operator was the innermost of its thread, or stream of a GPU; steps are no operators.

    An operator has the API of the outermost operator around it. A span that ends after the span around it, by rounding,
    is cut. What ran on a GPU has the name and the API of the operator that launched it.

    Args:
        spans: of a profiler.
        on_gpu: return those that ran on a GPU, instead of those on the host.
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
    """Return the places of operators by thread, then by start; of two that start at once, the longer is first."""
    if not len(spans.name):
        return np.zeros(0, np.int64)
    of = np.flatnonzero((spans.words[spans.name] != STEP) & (spans.on_gpu == on_gpu))
    return of[np.lexsort((-spans.end_ns[of], spans.start_ns[of], spans.thread[of]))]


def _named(spans: Spans, on_gpu: bool) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return two arrays (n,): places in `words` of each operator's name and of its API; right for `on_gpu` only."""
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
        caller: (m,), the span of the outermost of the operators around each piece; NOBODY where there is none.
        on_device: (m,), whether it is a kernel that was launched.
        outermost: (c,), all spans of calls, each once.
    """

    caller: NDArray[np.int64]
    on_device: NDArray[np.bool_]
    outermost: NDArray[np.int64]


def callers_of(spans: Spans, inner: Innermost, names: Collection[str]) -> Callers:
    """Return the calls of some operators, and what belongs to each.

    Of operators that call each other, the outermost counts.

    Args:
        spans: of a profiler.
        inner: of the same, on the host or on a GPU.
        names: of the operators.
    """
    wanted = np.isin(spans.name, np.flatnonzero(np.isin(spans.words, list(names))))
    outermost = _outermost(spans, np.flatnonzero(wanted & ~spans.on_gpu))
    at_start = _Threads(spans.thread, spans.start_ns, spans.end_ns, outermost)
    of_span = at_start.span_at(spans.thread, spans.start_ns)
    caller = at_start.span_at(inner.thread, inner.start_ns)
    launched = np.flatnonzero(spans.origin >= 0)
    kernel = _Threads(spans.thread, spans.start_ns, spans.end_ns, launched).span_at(inner.thread, inner.start_ns)
    on_device = kernel != NOBODY
    caller[on_device] = of_span[spans.origin[kernel[on_device]]]
    return Callers(caller, on_device, outermost)


def _outermost(spans: Spans, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return those of the spans in `places` that are in no other of them."""
    order = places[np.lexsort((-spans.end_ns[places], spans.start_ns[places], spans.thread[places]))]
    outermost = []
    for thread in np.unique(spans.thread[order]):
        those = order[spans.thread[order] == thread]
        over = np.maximum.accumulate(spans.end_ns[those])
        outermost.append(those[np.concatenate(([True], spans.start_ns[those][1:] >= over[:-1]))])
    return np.concatenate(outermost) if outermost else places[:0]


class _Threads:
    """Finds the span around a moment of a thread.

    Args:
        thread, start_ns, end_ns: of all spans.
        places: of the spans to find, which do not overlap on a thread.
    """

    def __init__(self, thread: NDArray[np.int32], start_ns: Floats, end_ns: Floats, places: NDArray[np.int64]) -> None:
        self._end_ns = end_ns
        self._by_thread = {}
        for one in np.unique(thread[places]):
            those = places[thread[places] == one]
            ordered = those[np.argsort(start_ns[those], kind="stable")]
            self._by_thread[int(one)] = (ordered, start_ns[ordered])

    def span_at(self, thread: NDArray[np.integer], at_ns: Floats) -> NDArray[np.int64]:
        """Return for each moment the place of the span around it, or NOBODY."""
        spans = np.full(len(at_ns), NOBODY, np.int64)
        for one, (ordered, starts) in self._by_thread.items():
            of_thread = np.flatnonzero(thread == one)
            last = np.searchsorted(starts, at_ns[of_thread], side="right") - 1
            span = ordered[np.maximum(last, 0)]
            inside = (last >= 0) & (at_ns[of_thread] < self._end_ns[span])
            spans[of_thread[inside]] = span[inside]
        return spans
