"""Joules of operators: a meter's readings joined with the times at which operators ran.

A meter is slower than most operators, so an interval between two of its updates holds a mixture of them. Many intervals
with other mixtures tell the powers, see framewatt.profiling.powers.

A kind's joules are those of its power, and its share of the floor's while it ran, equally shared by what ran at once;
the floor's while nothing ran is "between operators". All are then conditioned on their sum, which is the energy that
the meter gave for the window: nothing is counted twice, and nothing is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from framewatt.profiling.powers import Design, fitted
from framewatt.profiling.timeline import Timeline

Floats = NDArray[np.float64]

BETWEEN = "between operators"

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
        total_uncertainty_j: its standard uncertainty by the meter, which is in no row's.
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
        """The same with some kinds together: their uncertainty is that of the sum.

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
        raise ValueError(f"found {len(intervals.energy_j)} intervals of a meter; allowed: at least 3")
    energy_j, covariance = _at(timeline, intervals, 0.0)
    cut = timeline.within(intervals.edges_s[0], intervals.edges_s[-1])
    if intervals.lag_uncertainty_s:
        shift = _STEPS_OF_EDGE * intervals.lag_uncertainty_s
        late, early = (_at(timeline, intervals, sign * shift)[0] for sign in (1, -1))
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


def _at(timeline: Timeline, intervals: Intervals, shift_s: float) -> tuple[Floats, Floats]:
    """Joules by kind and between, and their covariance, with the meter's times shifted."""
    edges = intervals.edges_s + shift_s
    cut = timeline.within(edges[0], edges[-1])
    design = Design.of(cut, edges)
    powers = fitted(design, intervals.energy_j, intervals.digit_j)
    kinds, calls = len(cut.kinds), len(design.long_kind)
    of = np.zeros((kinds + 1, kinds + 1))
    of[:kinds, 0], of[kinds, 0] = cut.shares_s, design.length_s.sum() - cut.shares_s.sum()
    of[range(kinds), range(1, kinds + 1)] = cut.seconds
    long_s = np.asarray(design.long_s.sum(axis=0)).ravel()
    energy_j, covariance = powers.joules(of, csr_matrix((long_s, (design.long_kind, range(calls))), (kinds + 1, calls)))
    # What short calls differ by is in no power.
    covariance[range(kinds), range(kinds)] += design.short_s2.sum(axis=0) * powers.call_sd_w**2
    # Conditioned on the sum, which the meter gives.
    with_sum = covariance.sum(axis=1)
    variance = with_sum.sum()
    missing_j = intervals.energy_j.sum() - energy_j.sum()
    if variance <= 0:
        return energy_j + missing_j * np.abs(energy_j) / np.abs(energy_j).sum(), covariance
    gain = with_sum / variance
    return energy_j + gain * missing_j, covariance - np.outer(gain, with_sum)
