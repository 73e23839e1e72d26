"""Dies of one package that show the same counter (pure).

Some AMD processors list a package once per die, each with the whole package's joules. If their counters agree when a
meter opens, it leaves out all but one (meters/rapl.py); if they started at different values, only their growth shows
it.
"""

from collections.abc import Sequence

import numpy as np

from framewatt.energy.coverage import Values
from framewatt.meters.contract import COUNTER
from framewatt.meters.trace import Readings

DIE = "-die-"
"""Separates the name of a package's domain from the number of a die."""

_APART_J = 1.0
"""Largest difference in growth of two views of one counter: read one after the other, they differ by milliseconds of
power."""

_APART_SHARE = 1e-3
"""Share of their growth by which the counters of two real dies differ at least."""

_TOLD_J = 100.0
"""From this growth on, two views of one counter differ by a smaller share than two real dies."""


def mirrored(trace: Readings, spans: Sequence[tuple[int, int]]) -> dict[int, str]:
    """The counters that grew exactly as another die's, reading by reading.

    Args:
        trace: raw readings.
        spans: parts of a window, start and end in nanoseconds.

    Returns:
        by index of the channel, the domain whose counter it mirrors; the first of equal counters is left out.
    """
    found: dict[int, str] = {}
    dies = [i for i, c in enumerate(trace.channels) if DIE in c.domain and c.kind == COUNTER]
    for later, index in enumerate(dies):
        channel = trace.channels[index]
        for first in dies[:later]:
            other = trace.channels[first]
            same_package = other.domain.partition(DIE)[0] == channel.domain.partition(DIE)[0]
            if first in found or other.instrument != channel.instrument or not same_package:
                continue
            if _alike(trace, first, index, spans):
                found[index] = other.domain
                break
    return found


def _alike(trace: Readings, first: int, second: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether two counters of one meter grew alike over all readings of a window."""
    (time_ns, one), (other_ns, two) = trace.of(first), trace.of(second)
    if len(time_ns) != len(other_ns):
        return False
    inside = np.isfinite(one) & np.isfinite(two)
    inside &= (time_ns >= spans[0][0]) & (time_ns <= spans[-1][1])
    if np.count_nonzero(inside) < 2:
        return False
    grown, other = (_grown(value[inside], trace.channels[index].wrap) for value, index in ((one, first), (two, second)))
    apart = np.ptp(grown - other)
    return bool(grown[-1] >= _TOLD_J and apart <= min(_APART_J, _APART_SHARE * grown[-1]))


def _grown(joules: Values, wrap: float | None) -> Values:
    """Growth of a counter since its first reading, corrected for wraps."""
    steps = np.diff(joules, prepend=joules[0])
    return np.cumsum(np.where(steps < -(wrap or np.inf) / 2, steps + (wrap or 0.0), steps))
