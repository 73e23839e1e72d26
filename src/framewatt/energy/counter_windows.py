"""Energy of windows from a cumulative counter of joules.

When between two updates the counter's gain was drawn is unknown: energy at an edge is interpolated between the updates
before and after it. A failed read (NaN) is counted and bridged by its good neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from framewatt.energy.counter_steps import Indices, Knots, beyond, knots_at, steps_of, where, without_dips
from framewatt.energy.windows import (
    UNIFORM,
    Nanoseconds,
    Samples,
    Values,
    WindowEnergy,
    coverage,
    flags_of,
    judge_gaps,
    segment,
    together,
)
from framewatt.meters.contract import Channel

_STILL_PERIODS = 10
"""A counter stands still after this many periods, and this many of its median intervals, without a change."""

_LOST_INTERVALS = 3
"""A standstill of more than this many median intervals has lost joules if the counter then goes on as if no time had
passed. If the counter catches up, it was only a late refresh."""

_LOST_SHARE = 0.5
"""Least mean power over a standstill and the interval that follows it, as a share of the power before and after it, at
which no joules were lost."""

_COARSE_DIGITS = 10
"""A counter that changes by fewer than this many of its last digits is coarse: standing still between them loses
nothing."""

_WITHIN_SHARE = 0.7
"""One standard uncertainty, as a share of the energy that falls on the wrong side of an edge if power stepped exactly
there. Found by simulation (docs/meters.md, coverage): 0.6 covers 89 % of load = window on a slow counter."""

_LAG_SHARE = 0.3
"""Standard uncertainty of a source's delay, as a share of its update period: about that of a uniform delay."""


@dataclass(frozen=True)
class _Edge:
    """Energy at an edge of a window.

    Attributes:
        energy_j: joules that the counter had gained by then.
        within_j: signed error of `energy_j` if power stepped between the two updates.
        when_j: uncertainty of `energy_j` because the times of the updates are known only roughly.
        power_w: mean power around the edge.
    """

    energy_j: float
    within_j: float
    when_j: float
    power_w: float


def counter_energies(
    channel: Channel, time_ns: Nanoseconds, counter_j: Values, spans: Sequence[tuple[int, int]]
) -> list[WindowEnergy]:
    """Return the energy of every span.

    A gap inside a span does no harm, since the counter goes on. A gap across an edge leaves open on which side of the
    edge its joules belong.

    Args:
        channel: a counter; with `max_power_w`, a window is invalid if a step needs more power, or if a gap is long
            enough for more than one wrap.
        time_ns: shape (n,), CLOCK_MONOTONIC nanoseconds, ascending.
        counter_j: shape (n,), joules, NaN where the read failed.
        spans: start and end of each window, nanoseconds.

    Raises:
        ValueError: a span does not end after its start, or the times do not ascend.
    """
    readings = _Readings(channel, time_ns, counter_j)
    return [readings.energy(start, end) for start, end in spans]


class _Readings:
    """A counter's trace, analysed once for all its windows.

    For each reading it stores two more numbers: the gain of the counter so far, and whether the reading shows a new
    value. Knots are computed where they are needed, which is near edges of windows and at standstills.
    """

    def __init__(self, channel: Channel, time_ns: Nanoseconds, counter_j: Values) -> None:
        self.channel = channel
        self.samples = Samples(time_ns, without_dips(time_ns, counter_j, channel), total=True)
        t = self.samples.time_ns
        steps, self.back_at, self.undone = steps_of(self.samples.value, channel)
        self.beyond_at = beyond(t, steps, channel)
        steps[self.beyond_at] = 0.0
        # Indices of the readings with a new value; the first reading counts as one.
        self.moved_at = np.concatenate((np.zeros(min(len(t), 1), np.intp), 1 + np.flatnonzero(steps > 0)))
        self.gained = np.concatenate((np.zeros(min(len(t), 1)), np.cumsum(steps, out=steps)))

    def energy(self, start_ns: int, end_ns: int) -> WindowEnergy:
        """Return the energy of one window."""
        first, last, failed = self.samples.around(start_ns, end_ns)
        t = self.samples.time_ns[first:last]
        gap_s, inside, reasons = coverage(t, start_ns, end_ns)
        if reasons:
            return WindowEnergy(None, None, None, inside, failed, gap_s, reasons)
        channel, duration_s = self.channel, (end_ns - start_ns) * 1e-9
        reasons = self._jumps(first, last) + self._still(start_ns, end_ns)
        if channel.wrap is not None and channel.max_power_w and gap_s and gap_s * channel.max_power_w >= channel.wrap:
            reasons += (f"more than one wrap possible in a gap of {gap_s:.3g} s",)
        edges = sorted({segment(t, start_ns), segment(t, end_ns)})
        period_s = max(channel.period_s, channel.update_period_s)
        at_edges = np.array(edges)
        gap_reasons, flags = judge_gaps((t[at_edges + 1] - t[at_edges]) * 1e-9, duration_s, period_s, "at an edge")
        reasons += gap_reasons
        if reasons:
            return WindowEnergy(None, None, None, inside, failed, gap_s, reasons)
        start, end = self._edge(start_ns), self._edge(end_ns)
        late_j = _LAG_SHARE * channel.update_period_s * (end.power_w - start.power_w)
        shifted_j = self._gained_late(end_ns) - self._gained_late(start_ns)
        systematic = float(np.linalg.norm([together(start.within_j, end.within_j), late_j, shifted_j]))
        # Under steady power every line is rounded the same way, so that rounding errors add.
        digits = max(inside, 2) if channel.rounds_each else 2**0.5
        by_chance = np.linalg.norm([start.when_j, end.when_j, channel.resolution * UNIFORM * digits])
        energy = end.energy_j - start.energy_j
        return WindowEnergy(
            energy,
            float(np.hypot(systematic, by_chance)),
            energy / duration_s,
            inside,
            failed,
            gap_s,
            (),
            flags + flags_of(channel, duration_s, failed),
            systematic,
        )

    def _jumps(self, first: int, last: int) -> tuple[str, ...]:
        """Return why a step between the readings of a window is impossible, if one is."""
        back, too_far = (at[slice(*np.searchsorted(at, (first, last - 1)))] for at in (self.back_at, self.beyond_at))
        if len(back) and not self.undone:
            return ("counter went back: it was reset",)
        if np.isin(back, too_far).any():
            return ("counter went back by other than a wrap: it was reset",)
        if len(too_far):
            most_w = self.channel.max_power_w
            return (f"counter went up by more than {most_w:g} W can: it was reset, or wrapped unseen",)
        return ()

    @cached_property
    def _standing(self) -> tuple[Nanoseconds, Nanoseconds, float]:
        """Standstills: their begins and ends, and the seconds up to which no change is normal."""
        bearable_s = _STILL_PERIODS * max(self.channel.update_period_s, self.channel.period_s, self._median_s)
        return *self._unchanged(self._longer_than(bearable_s)), bearable_s

    @cached_property
    def _losing(self) -> tuple[Nanoseconds, Nanoseconds]:
        """Standstills during which the counter lost joules: their begins and ends."""
        at = self._longer_than(_LOST_INTERVALS * max(self.channel.period_s, self._median_s))
        # With a change before it, and two after it.
        at = at[(at >= 1) & (at < len(self.moved_at) - 2)]
        # A counter counts only the first part of the interval in which a standstill starts. So the interval before it,
        # if there is one, shows the power, too.
        before, earlier = at - 1, np.maximum(at - 2, 0)
        before_w = np.maximum(self._powers_w(before), self._powers_w(earlier))
        # With the interval that follows: a counter may show one old value before it catches up.
        begin, caught_up = self._knots(at), self._knots(at + 2)
        caught_up_w = (caught_up.value - begin.value) / (caught_up.time_s - begin.time_s)
        lost = caught_up_w < _LOST_SHARE * np.minimum(before_w, self._powers_w(at + 1))
        return self._unchanged(at[lost & (self._grown(before) | self._grown(earlier)) & self._grown(at + 1)])

    @cached_property
    def _median_s(self) -> float:
        """Return the median seconds between changes."""
        between_ns = np.diff(self.samples.time_ns[self.moved_at])
        return float(np.median(between_ns, overwrite_input=True) * 1e-9) if len(between_ns) else 0.0

    def _longer_than(self, least_s: float) -> Indices:
        """Return which values stayed for longer, by their change."""

        def longer(at: slice) -> NDArray[np.bool_]:
            begins, ends = self._unchanged(np.arange(at.start, at.stop))
            return np.asarray((ends - begins) * 1e-9 > least_s)

        return where(len(self.moved_at), longer)

    def _unchanged(self, changes: Indices) -> tuple[Nanoseconds, Nanoseconds]:
        """Return times of the first and last reading of the values that came with some changes."""
        t, at = self.samples.time_ns, self.moved_at
        last = at[np.minimum(changes + 1, len(at) - 1)] - 1
        return t[at[changes]], t[np.where(changes + 1 < len(at), last, len(t) - 1)]

    def _knots(self, changes: Indices) -> Knots:
        """Return the knots of some changes, see knots_of."""
        at = self.moved_at[changes]
        t, t_s = self.samples.time_ns, self.samples.seconds(self.samples.time_ns[at])
        gap_s = np.where(at > 0, t_s - self.samples.seconds(t[np.maximum(at - 1, 0)]), np.inf)
        return knots_at(t_s, self.gained[at], gap_s, self.channel.update_period_s)

    def _powers_w(self, changes: Indices) -> Values:
        """Return the mean power from the knots of some changes to the next ones."""
        begin, end = self._knots(changes), self._knots(changes + 1)
        return np.asarray((end.value - begin.value) / (end.time_s - begin.time_s))

    def _grown(self, changes: Indices) -> NDArray[np.bool_]:
        """Return whether a counter gained enough digits from some changes to the next ones to tell its power."""
        gained_j = self.gained[self.moved_at[changes + 1]] - self.gained[self.moved_at[changes]]
        return np.asarray(gained_j >= _COARSE_DIGITS * self.channel.resolution)

    def _still(self, start_ns: int, end_ns: int) -> tuple[str, ...]:
        """Return why a counter that did not move is invalid, if so: everything that can be metered takes energy.

        An estimate may rightly be 0, and a short window may lie between two changes of a coarse counter: neither is a
        standstill.
        """
        t = self.samples.time_ns
        if self.channel.estimated:
            return ()
        if len(self.moved_at) == 1:
            return (f"counter has not moved in {(t[-1] - t[0]) * 1e-9:.3g} s",)
        begins, ends, bearable_s = self._standing
        inside_s = (np.minimum(ends, end_ns) - np.maximum(begins, start_ns)) * 1e-9
        still = inside_s > min(bearable_s, 0.5 * (end_ns - start_ns) * 1e-9)
        if still.any():
            return (f"counter has not moved for {((ends - begins)[still]).max() * 1e-9:.3g} s",)
        begins, ends = self._losing
        within = (ends > start_ns) & (begins < end_ns)
        if within.any():
            longest_s = (ends - begins)[within].max() * 1e-9
            return (f"counter stood still for {longest_s:.3g} s and did not count what was drawn meanwhile",)
        return ()

    def _gained_late(self, edge_ns: int) -> float:
        """Return the joules gained within `late_s` after an edge, which may have been drawn before it."""
        late_s, most = self.channel.late_s, len(self.moved_at) - 1
        if not late_s or not most:
            return 0.0
        edge_s = float(self.samples.seconds(edge_ns))
        knots = self._knots(np.arange(self._before(edge_ns), self._before(edge_ns + round(late_s * 1e9) + 1) + 2))
        gained = np.interp([edge_s, edge_s + late_s], knots.time_s, knots.value)
        end_s = float(self._knots(np.array([most])).time_s[0])
        beyond_s = max(edge_s + late_s - max(end_s, edge_s), 0.0)
        return float(gained[1] - gained[0] + beyond_s * self._powers_w(np.array([most - 1]))[0])

    def _before(self, instant_ns: int) -> int:
        """Return the last change with a knot not after an instant, within the changes that another change follows."""
        read = np.searchsorted(self.samples.time_ns, instant_ns, side="right")
        # A knot is between the reading that first shows it and the one before.
        behind = int(np.searchsorted(self.moved_at, read)) + 1
        near = np.arange(max(behind - 3, 0), min(behind, len(self.moved_at)))
        number = int(np.searchsorted(self._knots(near).time_s, float(self.samples.seconds(instant_ns)), side="right"))
        return max(min(int(near[0]) + number - 1, len(self.moved_at) - 2), 0)

    def _edge(self, edge_ns: int) -> _Edge:
        most = len(self.moved_at) - 2
        if most < 0:
            return _Edge(0.0, 0.0, 0.0, 0.0)  # an estimate of 0
        before = self._before(edge_ns)
        first = max(before - 1, 0)
        i = before - first
        knots = self._knots(np.arange(first, min(before + 1, most) + 2))
        edge_s = float(self.samples.seconds(edge_ns))
        width_s = float(knots.time_s[i + 1] - knots.time_s[i])
        share = (edge_s - float(knots.time_s[i])) / width_s
        around = np.diff(knots.value) / np.diff(knots.time_s)
        most_w = float(around.max())
        for end in (0, -1):
            if edge_ns == self.samples.time_ns[end]:
                # The window ends with the trace, as that of a total does: only the counter's own update is left.
                spread_s = min(self.channel.update_period_s, width_s)
                return _Edge(float(self.gained[end]), 0.0, most_w * spread_s * UNIFORM, float(around.mean()))
        within_j = _WITHIN_SHARE * float(np.ptp(around)) * width_s * abs(share * (1 - share))
        when_s = float(np.hypot((1 - share) * knots.spread_s[i], share * knots.spread_s[i + 1])) * UNIFORM
        return _Edge(
            float(knots.value[i] + share * (knots.value[i + 1] - knots.value[i])),
            within_j if around[-1] >= around[0] else -within_j,
            most_w * when_s,
            float(around.mean()),
        )
