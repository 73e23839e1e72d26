"""Joules between successive readings of a counter: wraps, resets, reads that failed, and the most that can be."""

import numpy as np
from numpy.typing import NDArray

from framewatt.energy.coverage import Nanoseconds, Values
from framewatt.meters.contract import Channel


def without_dips(time_ns: Nanoseconds, counter_j: Values, channel: Channel) -> Values:
    """The readings, where one that is lower than both of its neighbours counts as failed.

    A register that once reads 0 did so by mistake if the counter then goes on from where it was. It is no reset or
    wrap, since to be back the domain would have to draw more than it can. Where its limit is not known, a reset after
    which much was drawn looks the same, and stays a reset.

    Args:
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds, ascending.
        counter_j: shape (n,), joules, NaN where the read failed.
        channel: a counter, with its last digit and, where they are known, its wrap and its largest power.
    """
    value = np.array(counter_j, dtype=np.float64)
    good = np.flatnonzero(np.isfinite(value))
    if len(good) < 3 or not channel.max_power_w:
        return value
    before, low, after = value[good[:-2]], value[good[1:-1]], value[good[2:]]
    dips = (low < before - 2 * channel.resolution) & (after >= before - 2 * channel.resolution)
    dips &= (after - low) > most_j(np.asarray(time_ns)[good[1:]], after - low, channel)
    value[good[1:-1][dips]] = np.nan
    return value


def steps_of(value: Values, channel: Channel) -> tuple[Values, NDArray[np.bool_], bool]:
    """Joules between successive readings, where the counter went back, and whether that was corrected as a wrap.

    Jitter of the last digit does not count as going back.

    Args:
        value: shape (n,), joules, all good.
        channel: a counter, with its last digit and, where they are known, its wrap and its largest power.
    """
    steps = np.diff(value)
    back = steps < -2 * channel.resolution
    if channel.wrap is None or (value > channel.wrap).any():
        return np.where(back, 0.0, steps), back, False
    return np.where(back, steps + channel.wrap, steps), back, True


def most_j(t: Nanoseconds, steps: Values, channel: Channel) -> Values:
    """The most joules that the domain can have drawn between successive readings; infinite where its limit is unknown.

    The time between two readings may differ from that between the values shown: a value is up to one update old, and a
    timestamp is known to within half a planned period (sampling.OnTime). After a late refresh, a counter shows at once
    everything gained since its last change.

    Args:
        t: shape (n + 1,), nanoseconds.
        steps: shape (n,), joules from each reading to the next.
        channel: a counter, with its last digit and, where they are known, its wrap and its largest power.
    """
    if not channel.max_power_w:
        return np.full(len(steps), np.inf)
    numbers = np.arange(len(steps))
    moved_at = np.concatenate(([0], np.flatnonzero(steps != 0) + 1))
    since = moved_at[np.searchsorted(moved_at, numbers, side="right") - 1]
    seconds = (t[numbers + 1] - t[since]) * 1e-9 + channel.update_period_s + channel.period_s
    return np.asarray(channel.max_power_w * seconds + 2 * channel.resolution)
