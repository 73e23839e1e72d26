"""Energy of windows from a cumulative counter of joules.

When between two updates the counter's gain was drawn is unknown: energy at an edge is interpolated between the updates
before and after it. A failed read (NaN) is counted and bridged by its good neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from framewatt.energy.counter_steps import most_j, steps_of, without_dips
from framewatt.energy.coverage import Nanoseconds, Samples, Values, coverage, judge_gaps, segment
from framewatt.energy.knots import knots_of
from framewatt.energy.windows import UNIFORM, WindowEnergy, flags_of, together
from framewatt.meters.contract import Channel

_STILL_PERIODS = 10
"""A counter stands still after this many periods, and this many of its usual intervals, without a change."""

_LOST_INTERVALS = 3
"""A standstill of more than this many usual intervals has lost joules if the counter then goes on as if no time had
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
    """Energy of every span.

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
    """A counter's trace, analysed once for all its windows."""

    def __init__(self, channel: Channel, time_ns: Nanoseconds, counter_j: Values) -> None:
        self.channel = channel
        self.samples = Samples(time_ns, without_dips(time_ns, counter_j, channel), total=True)
        t = self.samples.time_ns
        steps, self.back, self.undone = steps_of(self.samples.value, channel)
        self.beyond = steps > most_j(t, steps, channel)
        self.steps = np.where(self.beyond, 0.0, steps)
        moved = np.concatenate((np.ones(min(len(t), 1), bool), self.steps > 0))
        # Indices of the readings with a new value; the first reading counts as one.
        self.moved_at = np.flatnonzero(moved)
        self.gained = np.concatenate((np.zeros(min(len(t), 1)), np.cumsum(self.steps)))
        self.knots = knots_of(self.samples.seconds(t), self.gained, channel.update_period_s, moved)
        self.powers_w = np.diff(self.knots.value) / np.diff(self.knots.time_s)

    def energy(self, start_ns: int, end_ns: int) -> WindowEnergy:
        """Energy of one window."""
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
        gap_reasons, flags = judge_gaps(np.diff(t)[edges] * 1e-9, duration_s, period_s, "at an edge")
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
        """Why a step between the readings of a window is impossible, if one is."""
        inner = slice(first, last - 1)
        back, beyond = self.back[inner], self.beyond[inner]
        if back.any() and not self.undone:
            return ("counter went back: it was reset",)
        if (back & beyond).any():
            return ("counter went back by other than a wrap: it was reset",)
        if beyond.any():
            most_w = self.channel.max_power_w
            return (f"counter went up by more than {most_w:g} W can: it was reset, or wrapped unseen",)
        return ()

    @cached_property
    def _standing(self) -> tuple[Nanoseconds, Nanoseconds, float]:
        """Standstills: their begins and ends, and the seconds up to which no change is normal."""
        begins, ends, usual_s = self._between_changes
        bearable_s = _STILL_PERIODS * max(self.channel.update_period_s, self.channel.period_s, usual_s)
        long = (ends - begins) * 1e-9 > bearable_s
        return begins[long], ends[long], bearable_s

    @cached_property
    def _losing(self) -> tuple[Nanoseconds, Nanoseconds]:
        """Standstills during which the counter lost joules: their begins and ends."""
        begins, ends, usual_s = self._between_changes
        grown = np.diff(self.gained[self.moved_at]) >= _COARSE_DIGITS * self.channel.resolution
        lost = np.zeros(len(begins), bool)
        if len(begins) > 3:
            before, after = self.powers_w[:-2].copy(), self.powers_w[2:]
            grown_before = grown[:-2].copy()
            # Of the interval in which a standstill begins, the first part alone was counted: the one before it, where
            # there is one, tells the power, too.
            before[1:] = np.maximum(before[1:], self.powers_w[:-3])
            grown_before[1:] |= grown[:-3]
            # With the interval that follows: a counter may show one old value before it catches up.
            time_s, joules = self.knots.time_s, self.knots.value
            caught_up_w = (joules[3:] - joules[1:-2]) / (time_s[3:] - time_s[1:-2])
            lost[1:-2] = (caught_up_w < _LOST_SHARE * np.minimum(before, after)) & grown_before & grown[2:]
        lost &= (ends - begins) * 1e-9 > _LOST_INTERVALS * max(self.channel.period_s, usual_s)
        return begins[lost], ends[lost]

    @cached_property
    def _between_changes(self) -> tuple[Nanoseconds, Nanoseconds, float]:
        """Times of the first and last reading of every value, and the median seconds between changes."""
        t = self.samples.time_ns
        begins, ends = t[self.moved_at], t[np.append(self.moved_at[1:] - 1, len(t) - 1)]
        return begins, ends, float(np.median(np.diff(begins)) * 1e-9) if len(begins) > 1 else 0.0

    def _still(self, start_ns: int, end_ns: int) -> tuple[str, ...]:
        """Why a counter that did not move is invalid, if so: everything that can be metered takes energy.

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
        told = inside_s > min(bearable_s, 0.5 * (end_ns - start_ns) * 1e-9)
        if told.any():
            return (f"counter has not moved for {((ends - begins)[told]).max() * 1e-9:.3g} s",)
        begins, ends = self._losing
        within = (ends > start_ns) & (begins < end_ns)
        if within.any():
            longest_s = (ends - begins)[within].max() * 1e-9
            return (f"counter stood still for {longest_s:.3g} s and did not count what was drawn meanwhile",)
        return ()

    def _gained_late(self, edge_ns: int) -> float:
        """Joules gained within `late_s` after an edge, which may have been drawn before it."""
        late_s, knots = self.channel.late_s, self.knots
        if not late_s or not len(self.powers_w):
            return 0.0
        edge_s = float(self.samples.seconds(edge_ns))
        gained = np.interp([edge_s, edge_s + late_s], knots.time_s, knots.value)
        beyond_s = max(edge_s + late_s - max(knots.time_s[-1], edge_s), 0.0)
        return float(gained[1] - gained[0] + beyond_s * self.powers_w[-1])

    def _edge(self, edge_ns: int) -> _Edge:
        knots, powers_w = self.knots, self.powers_w
        if not len(powers_w):
            return _Edge(0.0, 0.0, 0.0, 0.0)  # an estimate of 0
        edge_s = float(self.samples.seconds(edge_ns))
        i = int(np.clip(np.searchsorted(knots.time_s, edge_s, side="right") - 1, 0, len(powers_w) - 1))
        width_s = knots.time_s[i + 1] - knots.time_s[i]
        share = (edge_s - knots.time_s[i]) / width_s
        around = powers_w[max(i - 1, 0) : i + 2]
        most_w = float(around.max())
        for end in (0, -1):
            if edge_ns == self.samples.time_ns[end]:
                # The window ends with the trace, as that of a total does: only the counter's own update is left.
                spread_s = min(self.channel.update_period_s, width_s)
                return _Edge(float(self.gained[end]), 0.0, most_w * spread_s * UNIFORM, float(around.mean()))
        within_j = _WITHIN_SHARE * float(np.ptp(around)) * width_s * abs(share * (1 - share))
        rises = powers_w[min(i + 1, len(powers_w) - 1)] >= powers_w[max(i - 1, 0)]
        when_s = float(np.hypot((1 - share) * knots.spread_s[i], share * knots.spread_s[i + 1])) * UNIFORM
        return _Edge(
            float(knots.value[i] + share * (knots.value[i + 1] - knots.value[i])),
            within_j if rises else -within_j,
            most_w * when_s,
            float(around.mean()),
        )
