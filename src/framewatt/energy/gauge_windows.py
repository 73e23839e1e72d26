"""Energy of windows from a gauge of watts: the trapezoid rule over all readings, and its uncertainty.

A failed read (NaN), or more power than the domain can draw, is counted and bridged by its good neighbours. So is 0 W
from a gauge with other readings that are never that low.
"""

from collections.abc import Sequence

import numpy as np

from framewatt.energy.counter_steps import fresh, knots_of
from framewatt.energy.windows import (
    UNIFORM,
    Nanoseconds,
    Samples,
    Values,
    WindowEnergy,
    coverage,
    flags_of,
    judge_gaps,
    longest_wait_s,
    together,
)
from framewatt.meters.contract import Channel

_SECOND_DIFFERENCES = 1 / 6
"""Factor from the mean square of second differences to the variance of power between updates. It is right for power
that is independent at each update, gives twice the standard deviation for steps and random walks, and 0 for a steady
rise (docs/meters.md, coverage)."""

_EDGE_SHARE = 1 / 8
"""Share of the joules that averaging moves across an edge (step x span) that is still lost if power steps exactly
there, once the window is shifted by half the span."""

_UNSEEN_SHARE = 0.07
"""Error of an edge from changes that an average hides, as a share of the joules of one averaging span."""

_TILED_SHARE = 0.9
"""Share of an averaging span by which it surely covers the time between two readings."""

_NEAR_DIGITS = 10
"""A gauge that somewhere shows less than this many of its last digits may rightly show 0."""


def gauge_energies(
    channel: Channel, time_ns: Nanoseconds, power_w: Values, spans: Sequence[tuple[int, int]]
) -> list[WindowEnergy]:
    """Return the energy of every span.

    If a gauge's values are means over a known time, the window is shifted later by half of that time. If the trace ends
    too early for the shift, the uncertainty includes the change that it would have made.

    Args:
        channel: a gauge; a value above its `max_power_w` is a failed read.
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds, ascending.
        power_w: shape (n,), watts, NaN where the read failed.
        spans: start and end of each window, nanoseconds.

    Raises:
        ValueError: a span does not end after its start, or the times do not ascend.
    """
    readings = _Readings(channel, time_ns, power_w)
    return [readings.energy(start, end) for start, end in spans]


class _Readings:
    """A gauge's trace, analysed once for all its windows."""

    def __init__(self, channel: Channel, time_ns: Nanoseconds, power_w: Values) -> None:
        self.channel = channel
        self.samples = Samples(time_ns, _without_nothing(channel, power_w), highest=channel.max_power_w)
        t, value = self.samples.time_ns, self.samples.value
        self.t_s = self.samples.seconds(t)
        width_s = np.diff(self.t_s)
        self.energy_to = np.concatenate((np.zeros(min(len(t), 1)), np.cumsum(width_s * (value[1:] + value[:-1]) / 2)))
        shown = fresh(self.t_s, value, channel.update_period_s) if len(t) else np.zeros(0, bool)
        self.knots = knots_of(self.t_s, value, channel.update_period_s, shown)
        self.period_s = max(channel.period_s, channel.update_period_s)
        # Variance per second of the segment after each knot, cumulated over time.
        bends = np.zeros(len(self.knots.value))
        bends[1:-1] = np.diff(self.knots.value, 2)
        width_s = np.diff(self.knots.time_s)
        # Adjacent averaging spans leave no time unseen.
        unseen_s = np.maximum(width_s - _TILED_SHARE * channel.average_s, 0.0)
        gap = width_s > longest_wait_s(self.period_s)
        variance = _SECOND_DIFFERENCES * unseen_s**2 * (bends[1:] ** 2 + bends[:-1] ** 2) / 2
        self.variance_to = np.concatenate((np.zeros(min(len(bends), 1)), np.cumsum(np.where(gap, 0.0, variance))))
        self.gaps = np.flatnonzero(np.diff(self.t_s) > longest_wait_s(self.period_s))

    @property
    def _span_s(self) -> float:
        """Return the longest time in seconds over which a value may be a mean."""
        return max(self.channel.average_s, self.channel.average_most_s)

    def energy(self, start_ns: int, end_ns: int) -> WindowEnergy:
        """Return the energy of one window."""
        first, last, failed = self.samples.around(start_ns, end_ns)
        t, value = self.samples.time_ns[first:last], self.samples.value[first:last]
        gap_s, inside, reasons = coverage(t, start_ns, end_ns)
        if (value < 0).any():
            reasons += ("negative power",)
        elif len(value) and not value.any() and not self.channel.estimated:
            reasons += ("power is 0 W in every reading: nothing that can be metered takes none",)
        if not reasons and failed > inside:
            reasons += (f"{failed} of {failed + inside} reads failed",)
        if reasons:
            return WindowEnergy(None, None, None, inside, failed, gap_s, reasons)
        duration_s = (end_ns - start_ns) * 1e-9
        start_s, end_s = (float(self.samples.seconds(edge)) for edge in (start_ns, end_ns))
        # Only the part of a gap inside the window counts.
        widths_s = np.diff(np.clip(self.t_s[first:last], start_s, end_s))
        reasons, flags = judge_gaps(widths_s, duration_s, self.period_s, "between readings")
        if reasons:
            return WindowEnergy(None, None, None, inside, failed, gap_s, reasons)
        late_s, unread_j = self.channel.average_s / 2, 0.0
        if end_s + late_s > self.t_s[-1]:
            # The change from the shift, if power stayed at the value shown at the window's end.
            unread_j = late_s * float(np.interp(end_s, self.t_s, self.samples.value))
            unread_j -= self._to(min(start_s + late_s, float(self.t_s[-1]))) - self._to(start_s)
            late_s = 0.0
        energy = self._to(end_s + late_s) - self._to(start_s + late_s)
        in_gaps = widths_s[widths_s > longest_wait_s(self.period_s)] * np.ptp(value) * UNIFORM
        variance = np.diff(np.interp([start_s, end_s], self.knots.time_s, self.variance_to))[0]
        digit_j = self.channel.resolution / 2 * duration_s
        by_chance = np.sqrt(max(variance, 0.0) + np.sum(in_gaps**2) + digit_j**2)
        systematic = float(np.hypot(self._edges(start_s + late_s, end_s + late_s, energy / duration_s), unread_j))
        return WindowEnergy(
            energy,
            float(np.hypot(by_chance, systematic)),
            energy / duration_s,
            inside,
            failed,
            gap_s,
            (),
            flags + flags_of(self.channel, duration_s, failed),
            systematic,
        )

    def _to(self, second: float) -> float:
        """Return the joules from the first sample to a time within the trace."""
        i = int(np.clip(np.searchsorted(self.t_s, second, side="right") - 1, 0, max(len(self.t_s) - 2, 0)))
        power_w = float(np.interp(second, self.t_s, self.samples.value))
        return float(self.energy_to[i] + (second - self.t_s[i]) * (self.samples.value[i] + power_w) / 2)

    def _edges(self, start_s: float, end_s: float, mean_w: float) -> float:
        """Return the combined uncertainty of both edges in joules: late updates, and averaging across an edge."""
        at_start, at_end = np.interp([start_s, end_s], self.t_s, self.samples.value)
        late_j = (at_end - at_start) * self.channel.update_period_s / 2
        span_s = self._span_s
        if not span_s:
            return abs(float(late_j))
        span_s += self.channel.period_s if self.channel.period_s > self.channel.update_period_s else 0.0
        across = together(*(self._step_w(edge, span_s) * span_s * _EDGE_SHARE for edge in (start_s, end_s)))
        unseen_j = _UNSEEN_SHARE * mean_w * span_s
        # Where the averaging span is unknown, the window's shift is right for some span between 0 and the longest.
        unknown_j = (at_end - at_start) * self.channel.average_most_s / 4
        return float(np.linalg.norm([late_j, across, unseen_j, unknown_j]))

    def _step_w(self, edge_s: float, span_s: float) -> float:
        """Return the signed step of power across an edge within a span, in excess of the changes before and after.

        A steady rise changes equally in every span, and causes no error.
        """
        at = np.interp(edge_s + span_s * np.array([-1.5, -0.5, 0.5, 1.5]), self.t_s, self.samples.value)
        before, across, after = np.diff(at)
        return float(np.sign(across) * min(abs(across), max(abs(across - before), abs(across - after))))


def _without_nothing(channel: Channel, power_w: Values) -> Values:
    """Return the power with 0 W as NaN where it means a failed read: everything that can be metered draws power.

    Exceptions: a coarse last digit rounds little power to 0, and an estimate may be 0. If every reading is 0 W, they
    stay, so that the window becomes invalid for that reason.

    Args:
        channel: with its resolution in watts; if that is 0, the smallest step between two values is used.
        power_w: shape (n,), watts.
    """
    power_w = np.asarray(power_w, np.float64)
    nothing = power_w == 0
    if channel.estimated or not nothing.any():
        return power_w
    levels = np.unique(power_w[np.isfinite(power_w) & (power_w > 0)])
    if not len(levels):
        return power_w
    digit_w = channel.resolution or float(np.diff(levels).min() if len(levels) > 1 else levels[0])
    return np.where(nothing, np.nan, power_w) if levels[0] > _NEAR_DIGITS * digit_w else power_w
