"""Joules between successive readings of a counter, and the times at which a meter's source was updated.

Steps are corrected for wraps, resets and reads that failed, and are at most what can be. A meter that is read more
often than it is refreshed shows each value several times. One that is refreshed more often shows a value from any time
within its last update period. Energy or power is known only at updates: *knots*.

Nothing here takes more than a number or two for each reading besides the readings themselves: conditions that concern
few of them are searched for in some rows at a time, and computed for those alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framewatt.energy.windows import Nanoseconds, Values
from framewatt.meters.contract import Channel

Indices = NDArray[np.intp]

_AT_ONCE = 1 << 18


def where(count: int, holds: Callable[[slice], NDArray[np.bool_]]) -> Indices:
    """Return the indices of the rows for which a condition holds, ascending.

    Args:
        count: of rows; fewer than none counts as none.
        holds: of some rows, shape (rows,), whether it holds for each.
    """
    parts = [np.empty(0, np.intp)]
    for first in range(0, count, _AT_ONCE):
        parts.append(first + np.flatnonzero(holds(slice(first, min(first + _AT_ONCE, count)))))
    return np.concatenate(parts)


def without_dips(time_ns: Nanoseconds, counter_j: Values, channel: Channel) -> Values:
    """Return the readings, where one that is lower than both of its neighbours counts as failed.

    A register that once reads 0 did so by mistake if the counter then goes on from where it was. It is no reset or
    wrap, since to be back the domain would have to draw more than it can. Where its limit is not known, a reset after
    which much was drawn looks the same, and stays a reset.

    Args:
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds, ascending.
        counter_j: shape (n,), joules, NaN where the read failed.
        channel: a counter, with its last digit and, where they are known, its wrap and its largest power.

    Returns:
        shape (n,), the same array where there is nothing to leave out.
    """
    time_ns, value = np.asarray(time_ns), np.asarray(counter_j, dtype=np.float64)
    finite = np.isfinite(value)
    good = None if finite.all() else np.flatnonzero(finite)
    t, read = (time_ns, value) if good is None else (time_ns[good], value[good])
    if len(read) < 3 or not channel.max_power_w:
        return value
    digits_j = 2 * channel.resolution
    down = where(len(read) - 2, lambda at: read[1:-1][at] < read[:-2][at] - digits_j)
    before, low, after = read[down], read[down + 1], read[down + 2]
    dips = after >= before - digits_j
    dips &= (after - low) > _most_j(t[down + 2] - t[down + 1], channel)
    if dips.any():
        value = value.copy()
        value[(down + 1 if good is None else good[down + 1])[dips]] = np.nan
    return value


def steps_of(value: Values, channel: Channel) -> tuple[Values, Indices, bool]:
    """Return the joules between readings, where the counter went back, and whether that was corrected as a wrap.

    Jitter of the last digit does not count as going back.

    Args:
        value: shape (n,), joules, all good.
        channel: a counter, with its last digit and, where they are known, its wrap and its largest power.

    Returns:
        joules, shape (n - 1,); indices of the steps back, ascending; whether they were corrected.
    """
    steps = np.diff(value)
    back = np.flatnonzero(steps < -2 * channel.resolution)
    if channel.wrap is None or (value > channel.wrap).any():
        steps[back] = 0.0
        return steps, back, False
    steps[back] += channel.wrap
    return steps, back, True


def beyond(t: Nanoseconds, steps: Values, channel: Channel) -> Indices:
    """Return the steps of more joules than the domain can have drawn; none where its limit is unknown.

    The time between two readings may differ from that between the values shown: a value is up to one update old, and a
    timestamp is known to within half a planned period (sampling.OnTime). After a late refresh, a counter shows at once
    everything gained since its last change.

    Args:
        t: shape (n + 1,), nanoseconds.
        steps: shape (n,), joules from each reading to the next.
        channel: a counter, with its last digit and, where they are known, its wrap and its largest power.

    Returns:
        indices of the steps, ascending.
    """
    if not channel.max_power_w:
        return np.empty(0, np.intp)
    # Steps of more than the domain can draw since the reading before; few of them are more than since the last change.
    large = where(len(steps), lambda at: steps[at] > _most_j(t[1:][at] - t[:-1][at], channel))
    if not len(large):
        return large
    moved_at = np.concatenate(([0], np.flatnonzero(steps) + 1))
    since = moved_at[np.searchsorted(moved_at, large, side="right") - 1]
    return large[steps[large] > _most_j(t[large + 1] - t[since], channel)]


def _most_j(apart_ns: Nanoseconds, channel: Channel) -> Values:
    """Return the most joules that a domain with a known limit can draw between values that were read so far apart."""
    seconds = apart_ns * 1e-9 + channel.update_period_s + channel.period_s
    return np.asarray((channel.max_power_w or np.inf) * seconds + 2 * channel.resolution)


@dataclass(frozen=True)
class Knots:
    """Values of a source at the times of its updates.

    Attributes:
        time_s: shape (k,), seconds, ascending.
        value: shape (k,), in the channel's unit.
        spread_s: shape (k,), seconds within which each update happened.
    """

    time_s: Values
    value: Values
    spread_s: Values


def knots_of(t_s: Values, value: Values, update_period_s: float, updated: NDArray[np.bool_]) -> Knots:
    """Return the knots of a trace.

    An update happened between the reading that first shows it and the one before, and, if the source is refreshed more
    often than it is read, within the last update period. The middle of that span is taken.

    Args:
        t_s: shape (n,), seconds of the good readings, ascending; at least one.
        value: shape (n,), their values.
        update_period_s: seconds between two updates of the source.
        updated: shape (n,), which readings show an update.
    """
    gap_s = np.concatenate(([np.inf], np.diff(t_s)))
    return knots_at(t_s[updated], value[updated], gap_s[updated], update_period_s)


def knots_at(t_s: Values, value: Values, gap_s: Values, update_period_s: float) -> Knots:
    """Return the knots of readings that show an update, see `knots_of`.

    Args:
        t_s: shape (k,), seconds of those readings.
        value: shape (k,), their values.
        gap_s: shape (k,), seconds since the reading before each; infinite for the first of a trace.
        update_period_s: seconds between two updates of the source.
    """
    spread_s = np.minimum(gap_s, update_period_s)
    return Knots(t_s - spread_s / 2, value, spread_s)


def changed(value: Values) -> NDArray[np.bool_]:
    """Return which readings differ from the one before; the first one counts as different.

    Args:
        value: shape (n,), at least one.
    """
    return np.concatenate(([True], np.diff(value) != 0))


def fresh(t_s: Values, value: Values, update_period_s: float) -> NDArray[np.bool_]:
    """Return which readings of a gauge show an update: changed values, and repeated ones not stale before a change.

    Args:
        t_s: shape (n,), seconds, ascending.
        value: shape (n,).
        update_period_s: seconds between two updates of the source.
    """
    changes = changed(value)
    at = np.flatnonzero(changes)
    following = np.searchsorted(at, np.arange(len(value)), side="right")
    next_s = np.append(t_s[at], np.inf)[following]
    return changes | (t_s <= next_s - update_period_s)
