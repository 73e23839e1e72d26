"""Dies of one package whose counters are one and the same (pure).

Some AMD processors list a package once a die, each with the whole package's joules. Where their counters stand alike
when a meter opens, it leaves all but one out (meters/rapl.py); where they began at different numbers, only their growth
tells.
"""

from collections.abc import Sequence

import numpy as np

from framewatt.energy.coverage import Values
from framewatt.meters.contract import COUNTER
from framewatt.meters.trace import Trace

DIE = "-die-"
"""What stands between the name of a package's domain and the number of one of its dies."""

_APART_J = 1.0
"""Two views of one counter, read one after the other, differ by milliseconds of power."""

_APART_SHARE = 1e-3
"""Of what they gained, by what two real dies have parted at least."""

_TOLD_J = 100.0
"""Once a counter grew by so much, two views of it part by a smaller share."""


def mirrored(trace: Trace, spans: Sequence[tuple[int, int]]) -> dict[int, str]:
    """The counters that grew as another die's did, reading by reading.

    Args:
        trace: raw readings.
        spans: parts of a window, start and end in nanoseconds.

    Returns:
        by number of the channel, the domain whose counter it shows again; the first of alike ones is none.
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


def _alike(trace: Trace, first: int, second: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether two counters of one meter grew by the same, over all readings of a window."""
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
    """What a counter gained since its first reading, wraps undone."""
    steps = np.diff(joules, prepend=joules[0])
    return np.cumsum(np.where(steps < -(wrap or np.inf) / 2, steps + (wrap or 0.0), steps))
