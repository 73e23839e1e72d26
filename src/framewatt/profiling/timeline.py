"""When operators ran, on the sampler's clock, and for how long each kind was active in the intervals of a meter."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from framewatt.base.errors import FramewattError

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
        """The same, cut to a window; what lies outside is gone."""
        start, end = np.clip(self.start_s, begin_s, end_s), np.clip(self.end_s, begin_s, end_s)
        kept = end > start
        return Timeline(self.kinds, self.kind[kept], start[kept], end[kept])

    @cached_property
    def calls(self) -> NDArray[np.int64]:
        """(kinds,), how many operators of each kind there are."""
        return np.bincount(self.kind, minlength=len(self.kinds))

    @cached_property
    def seconds(self) -> Floats:
        """(kinds,), seconds of each kind; of two at once, both count."""
        found: Floats = np.bincount(self.kind, self.end_s - self.start_s, len(self.kinds)).astype(np.float64)
        return found

    def active(self, edges_s: Floats) -> Floats:
        """Seconds of each kind between edges; of two at once, both count.

        Args:
            edges_s: (k + 1,), ascending.

        Returns:
            (k, kinds).
        """
        found = np.empty((len(edges_s) - 1, len(self.kinds)))
        for place in range(len(self.kinds)):
            of_kind = self.kind == place
            found[:, place] = np.diff(_before(self.start_s[of_kind], edges_s) - _before(self.end_s[of_kind], edges_s))
        return found

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
        found: Floats = np.bincount(self.kind, share, len(self.kinds)).astype(np.float64)
        return found


def _before(starts_s: Floats, edges_s: Floats) -> Floats:
    """Seconds since each of some starts that are over at each edge, together: sum of max(edge - start, 0)."""
    ordered = np.sort(starts_s)
    total = np.concatenate(([0.0], np.cumsum(ordered)))
    count = np.searchsorted(ordered, edges_s)
    found: Floats = count * edges_s - total[count]
    return found


_MOST = 2000
"""Steps that are used; more tell nothing new."""

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
        """Seconds of CLOCK_MONOTONIC of some times on the profiler's clock."""
        since = profiler_ns - self.at_ns
        # The large parts first: seconds since 1970 in nanoseconds leave no digits for a product.
        return 1e-9 * ((self.at_ns + self.offset_ns) + (1 + self.drift) * since)


def clock_of(seen_ns: Floats, around_ns: NDArray[np.int64]) -> Clock:
    """The clock by which every step lies within what the program saw around it.

    A step begins after the program read its clock, and ends before it read it again, so each leaves a corridor for the
    offset. The line in the middle of the narrowest part is taken: with the largest slack on both sides, of which it
    may be wrong by no more.

    Args:
        seen_ns: (n, 2), start and end of each step on the profiler's clock.
        around_ns: (n, 2), CLOCK_MONOTONIC just before and just after it.

    Raises:
        FramewattError: there are too few steps, or not as many on both sides, or no line fits: a clock was set.
    """
    if len(seen_ns) != len(around_ns) or len(seen_ns) < _FEW:
        raise FramewattError(
            f"operators: found {len(seen_ns)} steps in the profile and {len(around_ns)} in the run; "
            f"allowed: as many, and at least {_FEW}"
        )
    kept = np.unique(np.linspace(0, len(seen_ns) - 1, min(len(seen_ns), _MOST)).astype(int))
    seen, around = seen_ns[kept], around_ns[kept].astype(np.float64)
    at_ns, zero_ns = float(seen[0, 0]), float(around[0, 0])
    begin, end = seen[:, 0] - at_ns, seen[:, 1] - at_ns
    least, most = (around[:, 0] - zero_ns) - begin, (around[:, 1] - zero_ns) - end
    span = max(float(end.max()), 1.0)
    # Offset and slack in microseconds, drift over the span: a solver wants numbers of like size.
    lower = np.column_stack((-np.ones(len(begin)), -begin / span, np.ones(len(begin))))
    upper = np.column_stack((np.ones(len(end)), end / span, np.ones(len(end))))
    bounds = np.concatenate((-least, most)) * 1e-3
    found = linprog([0, 0, -1], np.vstack((lower, upper)), bounds, bounds=[(None, None)] * 3, method="highs")
    offset_us, drift_us, slack_us = found.x
    if slack_us < 0:
        raise FramewattError(
            f"operators: found a profiler's clock that is {-slack_us:.0f} us off in some steps; allowed: one that runs "
            "evenly; it may have been set meanwhile"
        )
    return Clock(at_ns, zero_ns - at_ns + 1e3 * offset_us, 1e3 * drift_us / span, 1e3 * slack_us / 3**0.5)
