"""Energy of windows from a gauge of watts: the trapezoid rule over all readings, and what it cannot know.

A failed read (NaN), or one that no such domain can draw, is bridged by the good ones around it and counted. So is 0 W
of a gauge that shows so little nowhere else.
"""

from collections.abc import Sequence

import numpy as np

from framewatt.energy.coverage import Nanoseconds, Samples, Values, coverage, judge_gaps, longest_wait_s
from framewatt.energy.knots import fresh, knots_of
from framewatt.energy.windows import UNIFORM, WindowEnergy, flags_of, together
from framewatt.meters.contract import Channel

_SECOND_DIFFERENCES = 1 / 6
"""Mean square of a second difference to the variance of what lies between updates: right for power that is new at each
update, twice the standard deviation for steps and walks, nothing for a steady rise (docs/meters.md, coverage)."""

_EDGE_SHARE = 1 / 8
"""Of the joules that an average moves across an edge (step x span): what is lost where power steps just there, once the
window is shifted by half the span."""

_UNSEEN_SHARE = 0.07
"""Of the joules of one averaging span, what an edge may be off by changes that an average does not show."""

_TILED_SHARE = 0.9
"""Of an averaging span, what of the time between two readings surely lies in it."""

_NEAR_DIGITS = 10
"""A gauge that shows less than so many of its last digits somewhere may rightly show none."""


def gauge_energies(
    channel: Channel, time_ns: Nanoseconds, power_w: Values, spans: Sequence[tuple[int, int]]
) -> list[WindowEnergy]:
    """Energy of every span.

    A gauge whose values are means over a known time is read that much later by half, where the trace goes on so long;
    where it does not, its uncertainty holds what that would have changed.

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
    """A gauge's trace, looked at once for all its windows."""

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
        # Variance of each second of the segment behind a knot, cumulated over time.
        bends = np.zeros(len(self.knots.value))
        bends[1:-1] = np.diff(self.knots.value, 2)
        width_s = np.diff(self.knots.time_s)
        # Means that follow one upon the other leave out nothing.
        unseen_s = np.maximum(width_s - _TILED_SHARE * channel.average_s, 0.0)
        gap = width_s > longest_wait_s(self.period_s)
        variance = _SECOND_DIFFERENCES * unseen_s**2 * (bends[1:] ** 2 + bends[:-1] ** 2) / 2
        self.variance_to = np.concatenate((np.zeros(min(len(bends), 1)), np.cumsum(np.where(gap, 0.0, variance))))
        self.gaps = np.flatnonzero(np.diff(self.t_s) > longest_wait_s(self.period_s))

    @property
    def _span_s(self) -> float:
        """Seconds over which a value may be a mean."""
        return max(self.channel.average_s, self.channel.average_most_s)

    def energy(self, start_ns: int, end_ns: int) -> WindowEnergy:
        """One window."""
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
        # A gap counts as far as it lies in the window.
        widths_s = np.diff(np.clip(self.t_s[first:last], start_s, end_s))
        reasons, flags = judge_gaps(widths_s, duration_s, self.period_s, "between readings")
        if reasons:
            return WindowEnergy(None, None, None, inside, failed, gap_s, reasons)
        late_s, unread_j = self.channel.average_s / 2, 0.0
        if end_s + late_s > self.t_s[-1]:
            # What reading it later would have changed, if power stayed as it was shown at the end.
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
        """Joules from the first sample to an instant within the trace."""
        i = int(np.clip(np.searchsorted(self.t_s, second, side="right") - 1, 0, max(len(self.t_s) - 2, 0)))
        power_w = float(np.interp(second, self.t_s, self.samples.value))
        return float(self.energy_to[i] + (second - self.t_s[i]) * (self.samples.value[i] + power_w) / 2)

    def _edges(self, start_s: float, end_s: float, mean_w: float) -> float:
        """Joules that the edges may be off together: updates that are late, and averages across an edge."""
        at_start, at_end = np.interp([start_s, end_s], self.t_s, self.samples.value)
        late_j = (at_end - at_start) * self.channel.update_period_s / 2
        span_s = self._span_s
        if not span_s:
            return abs(float(late_j))
        span_s += self.channel.period_s if self.channel.period_s > self.channel.update_period_s else 0.0
        across = together(*(self._step_w(edge, span_s) * span_s * _EDGE_SHARE for edge in (start_s, end_s)))
        unseen_j = _UNSEEN_SHARE * mean_w * span_s
        # Where the span is not known, the window lies right for some span between none and the longest.
        unknown_j = (at_end - at_start) * self.channel.average_most_s / 4
        return float(np.linalg.norm([late_j, across, unseen_j, unknown_j]))

    def _step_w(self, edge_s: float, span_s: float) -> float:
        """How much more power changes across an edge, within one averaging span, than before and after; with its sign.

        A steady rise changes as much in every span, and a window in it loses nothing.
        """
        at = np.interp(edge_s + span_s * np.array([-1.5, -0.5, 0.5, 1.5]), self.t_s, self.samples.value)
        before, across, after = np.diff(at)
        return float(np.sign(across) * min(abs(across), max(abs(across - before), abs(across - after))))


def _without_nothing(channel: Channel, power_w: Values) -> Values:
    """Power without the 0 W that stands for a read which failed: nothing that can be metered takes none.

    A coarse last digit rounds what is little to nothing, and an estimate may be 0. Where all is 0 W, it stays, and says
    so.

    Args:
        channel: with its last digit in watts; where it tells none, the least step between two values is taken for it.
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
