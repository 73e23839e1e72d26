"""A channel's readings prepared for analysis: good ones only, counters as joules gained."""

from dataclasses import dataclass

import numpy as np

from framewatt.energy.coverage import Nanoseconds, Samples, Values
from framewatt.meters.contract import COUNTER, Channel

_TREMBLES = 2
"""A counter may go back by this many last digits (jitter) without a reset."""


@dataclass(frozen=True)
class Series:
    """What a channel showed.

    Attributes:
        time_s: shape (n,), seconds since the origin, ascending.
        value: shape (n,), watts of a gauge, or joules that a counter has gained since its first good reading.
        counter: whether the channel is a counter.
        failed: reads that failed.
        absurd: impossible readings: negative power, or more than the domain can draw.
        resets: times that a counter went back by other than a wrap, or up by more than its domain can draw.
    """

    time_s: Values
    value: Values
    counter: bool
    failed: int
    absurd: int
    resets: int

    @property
    def reading_s(self) -> float:
        """Median time between two readings, in seconds; 0 where there are fewer than two."""
        return float(np.median(np.diff(self.time_s))) if len(self.time_s) > 1 else 0.0

    def between(self, start_s: float, end_s: float) -> "Series":
        """The part of it between two instants."""
        inside = slice(*np.searchsorted(self.time_s, [start_s, end_s]))
        return Series(self.time_s[inside], self.value[inside], self.counter, self.failed, self.absurd, self.resets)


def series_of(channel: Channel, time_ns: Nanoseconds, value: Values, origin_ns: int) -> Series:
    """The series of a channel.

    Args:
        channel: which one.
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds, ascending.
        value: shape (n,), in the channel's unit, NaN where the read failed.
        origin_ns: CLOCK_MONOTONIC of second 0.
    """
    read = np.asarray(value, np.float64)
    failed = int(np.count_nonzero(~np.isfinite(read)))
    counter = channel.kind == COUNTER
    if counter:
        good = Samples(time_ns, read, total=True)
        steps, resets = _steps(channel, good)
        gained = np.concatenate((np.zeros(min(len(good.value), 1)), np.cumsum(steps)))
        return Series(np.asarray((good.time_ns - origin_ns) * 1e-9, np.float64), gained, True, failed, 0, resets)
    good = Samples(time_ns, np.where(read < 0, np.nan, read), highest=channel.max_power_w)
    absurd = len(read) - failed - len(good.value)
    return Series(np.asarray((good.time_ns - origin_ns) * 1e-9, np.float64), good.value, False, failed, absurd, 0)


def _steps(channel: Channel, good: Samples) -> tuple[Values, int]:
    """Joules between successive readings, corrected for wraps, and how many were impossible, which are set to 0."""
    steps = np.diff(good.value)
    back = steps < -_TREMBLES * channel.resolution
    wrong = back
    if channel.wrap is not None and not (good.value > channel.wrap).any():
        steps = np.where(back, steps + channel.wrap, steps)
        wrong = np.zeros(len(steps), bool)
    if channel.max_power_w:
        # A counter may show at once everything gained since it last moved, up to a second and its own update period.
        seconds = np.diff(good.time_ns) * 1e-9 + channel.update_period_s + 1.0
        wrong = wrong | (steps > channel.max_power_w * seconds + 2 * channel.resolution)
    return np.where(wrong, 0.0, steps), int(np.count_nonzero(wrong))
