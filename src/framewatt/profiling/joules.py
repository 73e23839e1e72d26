"""Joules of operators: a meter's readings joined with the times at which operators ran.

A meter is slower than most operators, so an interval between two of its updates holds a mixture of them. Many intervals
with other mixtures tell the powers, see framewatt.profiling.powers.

A kind's joules are those of its power, and its share of the floor's while it ran, equally shared by what ran at once;
the floor's while nothing ran is "between operators". What the machine draws above its floor while several run is shared
in proportion to what each draws alone. All are then conditioned on their sum, which is the energy that the meter gave
for the window: nothing is counted twice, and nothing is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from framewatt.energy.counter_steps import changed, fresh, knots_of, steps_of, without_dips
from framewatt.energy.windows import Nanoseconds, Samples
from framewatt.meters.contract import COUNTER, Channel
from framewatt.profiling.design import Design, Overlaps
from framewatt.profiling.powers import Model, Powers, Spreads, spreads_of
from framewatt.profiling.timeline import Floats, Timeline

BETWEEN = "between operators"

_BRIEF = 0.003
"""A kind that ran for less than this share of a window is brief."""

_STEPS_OF_EDGE = 1.0
"""Standard uncertainties of the lag by which intervals are shifted to see what it does."""


@dataclass(frozen=True)
class OperatorJoules:
    """Energy by kind of operator in a window.

    Attributes:
        names: kinds, and BETWEEN last.
        energy_j: (kinds + 1,).
        covariance: (kinds + 1, kinds + 1), squared joules, of estimation and of the lag.
        seconds: (kinds + 1,), that each ran, or that nothing ran.
        calls: (kinds + 1,), 0 for BETWEEN.
        total_j: energy of the window, which is the sum.
        total_uncertainty_j: its standard uncertainty by the meter, shared out among the rows in `uncertainty_j`.
    """

    names: tuple[str, ...]
    energy_j: Floats
    covariance: Floats
    seconds: Floats
    calls: NDArray[np.int64]
    total_j: float
    total_uncertainty_j: float

    @property
    def uncertainty_j(self) -> Floats:
        """(kinds + 1,), one standard uncertainty each, with the share of the total's."""
        share = self.energy_j / self.total_j if self.total_j else np.zeros_like(self.energy_j)
        of_total: Floats = share * self.total_uncertainty_j
        return np.sqrt(np.maximum(np.diag(self.covariance), 0) + of_total**2)

    def grouped(self, groups: Sequence[Sequence[int]], names: Sequence[str]) -> "OperatorJoules":
        """Return the same with some kinds together: their uncertainty is that of the sum.

        Args:
            groups: places in `names` of each new row; every place once.
            names: of the new rows.
        """
        which = np.zeros((len(groups), len(self.names)))
        for row, places in enumerate(groups):
            which[row, list(places)] = 1
        return OperatorJoules(
            tuple(names),
            which @ self.energy_j,
            which @ self.covariance @ which.T,
            which @ self.seconds,
            (which @ self.calls).astype(np.int64),
            self.total_j,
            self.total_uncertainty_j,
        )


@dataclass(frozen=True)
class Intervals:
    """What a meter gave, between its updates.

    Attributes:
        edges_s: (k + 1,), the times of the updates on the clock of the timeline, less the meter's lag.
        energy_j: (k,), joules between two of them.
        digit_j: smallest step of the meter.
        lag_uncertainty_s: one standard uncertainty of the times.
        uncertainty_j: one standard uncertainty of the sum.
    """

    edges_s: Floats
    energy_j: Floats
    digit_j: float = 0.0
    lag_uncertainty_s: float = 0.0
    uncertainty_j: float = 0.0


def join(timeline: Timeline, intervals: Intervals) -> OperatorJoules:
    """Energy of each kind of operator in the window that some intervals make up.

    Args:
        timeline: the operators.
        intervals: of a meter; the window is from their first edge to their last.

    Raises:
        ValueError: there are fewer than three intervals.
    """
    if len(intervals.energy_j) < 3:
        raise ValueError(f"a meter gave {len(intervals.energy_j)} intervals. At least 3 are needed.")
    pooled = _Pooled.from_timeline(timeline, intervals)
    spreads = spreads_of(pooled.design(0.0), intervals.energy_j, intervals.digit_j)
    energy_j, covariance = _mixed(spreads, pooled.joules([one for _, one in spreads], 0.0))
    cut = timeline.within(intervals.edges_s[0], intervals.edges_s[-1])
    if intervals.lag_uncertainty_s:
        shift = _STEPS_OF_EDGE * intervals.lag_uncertainty_s
        late, early = (pooled.joules([spreads[0][1]], sign * shift)[0][0] for sign in (1, -1))
        by_lag = (late - early) / (2 * _STEPS_OF_EDGE)
        covariance = covariance + np.outer(by_lag, by_lag)
    window_s = float(intervals.edges_s[-1] - intervals.edges_s[0])
    return OperatorJoules(
        (*timeline.kinds, BETWEEN),
        energy_j,
        covariance,
        np.append(cut.seconds, window_s - cut.shares_s.sum()),
        np.append(cut.calls, 0),
        float(intervals.energy_j.sum()),
        intervals.uncertainty_j,
    )


@dataclass(frozen=True)
class _Pooled:
    """A window in which the briefest kinds have one power together, since the readings do not resolve their powers.

    Attributes:
        timeline: the operators.
        intervals: of the meter.
        place: (kinds,), place of each kind among those that have a power; of brief ones, the last.
        brief: (kinds,), which are brief.
    """

    timeline: Timeline
    intervals: Intervals
    place: NDArray[np.int64]
    brief: NDArray[np.bool_]

    @classmethod
    def from_timeline(cls, timeline: Timeline, intervals: Intervals) -> "_Pooled":
        window_s = intervals.edges_s[-1] - intervals.edges_s[0]
        brief = timeline.within(intervals.edges_s[0], intervals.edges_s[-1]).seconds < _BRIEF * window_s
        place = np.cumsum(~brief) - 1
        return cls(timeline, intervals, np.where(brief, (~brief).sum(), place), brief)

    def design(self, shift_s: float) -> Design:
        """Return what ran, with the meter's times shifted."""
        return Design.from_timeline(self._fitted(self._cut(shift_s)), self.intervals.edges_s + shift_s)

    def _cut(self, shift_s: float) -> Timeline:
        edges = self.intervals.edges_s + shift_s
        return self.timeline.within(edges[0], edges[-1])

    def _fitted(self, cut: Timeline) -> Timeline:
        names = tuple(name for name, brief in zip(cut.kinds, self.brief, strict=True) if not brief)
        return Timeline((*names, "brief") if self.brief.any() else names, self.place[cut.kind], cut.start_s, cut.end_s)

    def joules(self, spreads: Sequence[Spreads], shift_s: float) -> list[tuple[Floats, Floats]]:
        """(kinds + 1,), by kind and between, and their covariance, for each of some spreads, the times shifted."""
        intervals, cut, design = self.intervals, self._cut(shift_s), self.design(shift_s)
        model = Model(design, intervals.energy_j, intervals.digit_j)
        total_j = float(intervals.energy_j.sum())
        return [_conditioned(*self._joules(cut, design, model.solved(one)[0]), total_j) for one in spreads]

    def _joules(self, cut: Timeline, design: Design, powers: Powers) -> tuple[Floats, Floats]:
        kinds, calls = len(cut.kinds), len(design.long_kind)
        of = np.zeros((kinds + 1, 1 + design.kinds + len(powers.more_w)))
        of[:kinds, 0], of[kinds, 0] = cut.shares_s, design.length_s.sum() - cut.shares_s.sum()
        of[range(kinds), 1 + self.place] = cut.seconds
        long_s = np.asarray(design.long_s.sum(axis=0)).ravel()
        of_calls = csr_matrix((long_s, (cut.kind[design.long_at], range(calls))), (kinds + 1, calls))
        if design.overlaps is None:
            energy_j, covariance = powers.joules(of, of_calls)
        else:
            still_w = design.overlaps.still_w(design.length_s, self.intervals.energy_j)
            energy_j, covariance = self._shared(cut, design.overlaps, powers, of, of_calls, still_w)
        # What short calls differ by, and by how much a brief kind is unlike the others, is in no power.
        short_j2 = (design.short_s2.sum(axis=0) * powers.call_sd_w**2)[self.place]
        own_j2 = np.where(self.brief, (powers.kind_sd_w * cut.seconds) ** 2, short_j2)
        covariance[range(kinds), range(kinds)] += own_j2
        return energy_j, covariance

    def _shared(
        self, cut: Timeline, overlaps: Overlaps, powers: Powers, of: Floats, of_calls: csr_matrix, still_w: float
    ) -> tuple[Floats, Floats]:
        """Return joules and their covariance where what ran at once shares what was drawn.

        Args:
            cut: the operators.
            overlaps: what ran at once.
            powers: of kinds and sets.
            of: (kinds + 1, ...), seconds of floor and kinds, as if powers added.
            of_calls: (kinds + 1, l), of long calls.
            still_w: what the machine drew whatever ran; 0 where that moved.
        """
        kinds, fitted = len(cut.kinds), len(powers.kind_w)
        # Brief kinds share what is theirs together by their seconds.
        together_s = np.bincount(self.place, cut.seconds, fitted)[self.place]
        theirs = np.zeros((kinds, fitted))
        theirs[range(kinds), self.place] = cut.seconds / np.where(together_s > 0, together_s, 1.0)
        shared = overlaps.shared(powers.kind_w, powers.more_w, powers.more_sd_w, still_w)
        at_once = np.zeros_like(of)
        at_once[:kinds, 1 : 1 + fitted] = theirs * overlaps.seconds_of_kinds
        alone_j = powers.joules(of - at_once, of_calls)[0]
        at_once[:kinds, 1:] = theirs @ np.hstack((shared.by_kind, shared.by_column)) - at_once[:kinds, 1:]
        energy_j, covariance = alone_j, powers.joules(of + at_once, of_calls)[1]
        energy_j[:kinds] += theirs @ shared.energy_j
        covariance[:kinds, :kinds] += theirs @ shared.covariance @ theirs.T
        return energy_j, covariance


def _mixed(spreads: Sequence[tuple[float, Spreads]], joules: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return joules and their covariance over spreads that are all likely."""
    if len(joules) == 1:
        return joules[0]
    likely = np.array([share for share, _ in spreads])
    each = np.array([energy_j for energy_j, _ in joules])
    mean = likely @ each
    covariance = np.tensordot(likely, np.array([one for _, one in joules]), 1)
    return mean, covariance + (each - mean).T @ ((each - mean) * likely[:, None])


def _conditioned(energy_j: Floats, covariance: Floats, total_j: float) -> tuple[Floats, Floats]:
    """Return energies and their covariance, given their sum."""
    with_sum = covariance.sum(axis=1)
    variance = with_sum.sum()
    missing_j = total_j - energy_j.sum()
    if variance <= 0:
        return energy_j + missing_j * np.abs(energy_j) / np.abs(energy_j).sum(), covariance
    gain = with_sum / variance
    return energy_j + gain * missing_j, covariance - np.outer(gain, with_sum)


_LAG_SHARE = 0.3
"""Standard uncertainty of a source's delay, as a share of its update period, as windows have it."""


class WindowTime:
    """Seconds within the parts of a window, as if they followed each other without a gap.

    Args:
        spans: start and end of each part in nanoseconds of CLOCK_MONOTONIC, ascending.
    """

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self.zero_ns = spans[0][0]
        self.parts_s = (np.array(spans, np.int64) - self.zero_ns) * 1e-9
        self.length_s = float((self.parts_s[:, 1] - self.parts_s[:, 0]).sum())

    def seconds_at(self, monotonic_s: Floats) -> Floats:
        """Return the window time of some instants; for those in a gap, the time of the gap.

        Args:
            monotonic_s: seconds of CLOCK_MONOTONIC since `zero_ns`.
        """
        inside = [np.clip(monotonic_s, start, end) - start for start, end in self.parts_s]
        seconds: Floats = np.sum(inside, axis=0)
        return seconds


def intervals_of(
    channel: Channel, time_ns: Nanoseconds, value: Floats, time: WindowTime, clock_uncertainty_s: float
) -> Intervals:
    """Return joules of a channel between its updates in a window, on the window's time.

    Args:
        channel: of energy or of power.
        time_ns: (n,), CLOCK_MONOTONIC of its readings.
        value: (n,), joules or watts, NaN where a read failed.
        time: of the window.
        clock_uncertainty_s: standard uncertainty of the operators' times on that clock.
    """
    counter = channel.kind == COUNTER
    samples = Samples(time_ns, without_dips(time_ns, value, channel) if counter else value, total=counter)
    t_s: Floats = (samples.time_ns - time.zero_ns).astype(np.float64) * 1e-9
    if counter:
        gained = np.concatenate(([0.0], np.cumsum(steps_of(samples.value, channel)[0])))
        knots = knots_of(t_s, gained, channel.update_period_s, changed(gained))
        at_s, joules = knots.time_s, knots.value
    else:
        knots = knots_of(
            t_s, samples.value, channel.update_period_s, fresh(t_s, samples.value, channel.update_period_s)
        )
        # A mean over a span belongs to its middle.
        at_s = knots.time_s - channel.average_s / 2
        joules = np.concatenate(([0.0], np.cumsum(np.diff(at_s) * (knots.value[1:] + knots.value[:-1]) / 2)))
    edges, energies = [0.0], []
    for start, end in time.parts_s:
        inside = at_s[(at_s > start) & (at_s < end)]
        part = np.concatenate(([start], inside, [end]))
        energies.append(np.diff(np.interp(part, at_s, joules)))
        edges += (edges[-1] + part[1:] - start).tolist()
    lag = (_LAG_SHARE * channel.update_period_s, channel.late_s / 2, channel.average_s / 12**0.5, clock_uncertainty_s)
    return Intervals(
        np.array(edges),
        np.concatenate(energies),
        channel.resolution if counter else 0.0,
        float(np.linalg.norm(lag)),
    )
