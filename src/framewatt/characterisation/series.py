"""What a channel showed during the loads: a series of readings, whether it moves, its updates and its last digit."""

import math
from dataclasses import dataclass

import numpy as np

from framewatt.characterisation.measured import Measured, unknown
from framewatt.energy.counter_steps import changed
from framewatt.energy.windows import Nanoseconds, Samples, Values
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
        """Return the median time between two readings, in seconds; 0 where there are fewer than two."""
        return float(np.median(np.diff(self.time_s))) if len(self.time_s) > 1 else 0.0

    def between(self, start_s: float, end_s: float) -> "Series":
        """Return the part of it between two instants."""
        inside = slice(*np.searchsorted(self.time_s, [start_s, end_s]))
        return Series(self.time_s[inside], self.value[inside], self.counter, self.failed, self.absurd, self.resets)


def series_of(channel: Channel, time_ns: Nanoseconds, value: Values, origin_ns: int) -> Series:
    """Return the series of a channel.

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
    """Return the joules between readings, wraps corrected and impossible steps set to 0, and how many these are."""
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


_FEWEST_CHANGES = 10
"""Fewest changes from which the update period and the last digit are computed."""

_READINGS_AN_UPDATE = 3
"""Readings per change needed to distinguish the update period from the polling period."""

_REGULAR = (0.5, 1.5)
"""Intervals between changes without a missed change, as shares of the typical interval: a gauge may repeat a value."""

_STILL = 10
"""A counter stands still after this many of its median intervals without a change."""

_LEAST_STILL_S = 1.0

_MARGIN = 0.1
"""Share of a standstill, at either end, in which a change of load is ignored."""

_DIGITS = 9
"""Most decimals of a value; further ones are below the precision of a double for large counters."""

_BINARY = 2.0 ** -np.arange(8, 24)
"""Possible energy units of RAPL in joules (Intel SDM volume 3B, MSR_RAPL_POWER_UNIT: usually 2^-14)."""

_OFF_DIGIT = 0.05
"""Share of a last digit by which a difference may miss a multiple of it, through rounding in printed values."""


def find_standstill(series: Series, loads_s: Values) -> str:
    """Return why a meter is stuck or frozen, in words; empty where it moves.

    A counter always moves, since everything that is metered takes energy. A gauge may show one power while the load is
    constant.

    Args:
        series: the readings.
        loads_s: times in seconds at which a load changed that the domain shows.
    """
    t, value = series.time_s, series.value
    if len(t) < 2:
        return ""
    at_s = t[np.flatnonzero(changed(value))]
    if len(at_s) == 1:
        return f"has not moved in {t[-1] - t[0]:.3g} s"
    gaps_s = np.diff(np.append(at_s, t[-1]))
    typical_s = float(np.median(np.diff(at_s)))
    longest = int(np.argmax(gaps_s))
    begin_s, end_s = at_s[longest], at_s[longest] + gaps_s[longest]
    if series.counter:
        still = gaps_s[longest] > max(_STILL * typical_s, _LEAST_STILL_S)
    else:
        # A gauge that works changes with every load, shortly before or after it.
        margin_s = _MARGIN * gaps_s[longest]
        still = np.count_nonzero((loads_s > begin_s + margin_s) & (loads_s < end_s - margin_s)) > 1
    if not still:
        return ""
    to_the_end = longest == len(gaps_s) - 1
    return f"has not moved for {gaps_s[longest]:.3g} s" + (", to the end" if to_the_end else "")


def find_update_period(series: Series) -> Measured:
    """Return the seconds between two changes of the source.

    The mean of the regular intervals between changes: errors from the reading times cancel from one change to the next.
    A source that changes about as often as it is read gives only an upper bound.
    """
    at_s = series.time_s[np.flatnonzero(changed(series.value))[1:]] if len(series.value) else np.empty(0)
    if len(at_s) < _FEWEST_CHANGES:
        return unknown(f"{len(at_s)} changes, at least {_FEWEST_CHANGES} are needed")
    gaps_s = np.diff(at_s)
    typical_s = float(np.quantile(gaps_s, 0.25))
    for _ in range(2):
        regular_s = gaps_s[(gaps_s > _REGULAR[0] * typical_s) & (gaps_s < _REGULAR[1] * typical_s)]
        typical_s = float(regular_s.mean()) if len(regular_s) else typical_s
    if typical_s < _READINGS_AN_UPDATE * series.reading_s:
        at_most = max(float(np.quantile(gaps_s, 0.95)), series.reading_s)
        return unknown(f"it changes about as often as it is read, every {series.reading_s:.3g} s", at_most)
    if _in_ticks(series):
        return unknown("it moves by one last digit at a time, however often it is refreshed", float(gaps_s.min()))
    return Measured(typical_s, float(regular_s.std(ddof=1) / math.sqrt(len(regular_s))))


def find_resolution(series: Series) -> Measured:
    """Return the smallest step that a meter can show, in its unit: the common divisor of all its steps."""
    steps = np.unique(np.abs(np.diff(series.value)).round(_DIGITS))
    steps = steps[steps > 0]
    changes = int(np.count_nonzero(np.diff(series.value)))
    if changes < _FEWEST_CHANGES:
        return unknown(f"{changes} changes, at least {_FEWEST_CHANGES} are needed")
    if len(steps) < _FEWEST_CHANGES and not _in_ticks(series):
        return unknown("too few different steps to know its last digit", float(steps[0]))
    digit = _decimal_divisor(steps)
    if digit is None or digit <= 1e-6:
        multiples = [unit for unit in _BINARY if _all_multiples(steps, float(unit))]
        digit = max([digit or 0.0, *multiples]) or None
    return Measured(float(digit)) if digit else unknown("its steps are multiples of nothing", float(steps[0]))


def _in_ticks(series: Series) -> bool:
    """Return whether a counter always moves by one or a few steps of its last digit, more often at higher power."""
    steps = np.diff(series.value)
    steps = steps[steps > 0].round(_DIGITS)
    if not series.counter or len(steps) < 2:
        return False
    gaps_s = np.diff(series.time_s[np.flatnonzero(changed(series.value))])
    one = float(np.median(np.abs(steps - steps.min()) < _OFF_DIGIT * steps.min()))
    # At one power, a counter with a fine digit may have even steps, too; at several powers, only ticks do.
    return one == 1 and len(np.unique(np.round(steps / steps.min()))) <= 3 and bool(np.ptp(gaps_s) > gaps_s.min() / 2)


def _decimal_divisor(steps: Values) -> float | None:
    """Return the greatest common divisor of steps printed with a few decimals, or None where they have more."""
    for decimals in range(_DIGITS):
        whole = steps * 10.0**decimals
        if (np.abs(whole - np.round(whole)) < 1e-6 + 1e-9 * whole).all():
            return float(np.gcd.reduce(np.round(whole).astype(np.int64)) / 10.0**decimals)
    return None


def _all_multiples(steps: Values, unit: float) -> bool:
    off = np.abs(steps / unit - np.round(steps / unit))
    return bool((off < _OFF_DIGIT).all())
