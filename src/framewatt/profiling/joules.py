"""Joules of operators: a meter's readings joined with the times at which operators ran.

A meter is slower than most operators, so an interval between two of its updates holds a mixture of them. The machine is
taken to draw a floor, and each kind of operator a power of its own on top of it while it runs, also beside others:

    energy of interval k = floor * length of k + sum over kinds of power * seconds that the kind ran in k + error

Many intervals with other mixtures tell the powers. A kind that is too short or too rare for that has no power of its
own: kinds are drawn from one distribution, whose spread the readings give as well (a linear mixed model; predictions
and their covariance as in Henderson, Biometrics 1975). What is not resolved is thereby near the mean of all, with an
uncertainty that says so. Floor and mean have priors as wide as the mean power of the window, and the spread has one
that keeps it from 0 (Chung et al., Psychometrika 2013): readings that are all alike tell none of them, and then the
uncertainty is of that size, and not 0.

A kind's joules are those of its power, and its share of the floor's while it ran, equally shared by what ran at once;
the floor's while nothing ran is "between operators". All are then conditioned on their sum, which is the energy that
the meter gave for the window: nothing is counted twice, and nothing is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

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
    ran = cut.active(edges)
    length = np.diff(edges)
    powers = _fitted(length, ran, intervals.energy_j, intervals.digit_j)
    # Joules as a linear function of the floor and of the powers.
    kinds = len(cut.kinds)
    of = np.zeros((kinds + 1, kinds + 1))
    of[:kinds, 0], of[kinds, 0] = cut.shares_s, length.sum() - cut.shares_s.sum()
    of[range(kinds), range(1, kinds + 1)] = cut.seconds
    energy_j, covariance = of @ powers.watts, of @ powers.covariance @ of.T
    # Conditioned on the sum, which the meter gives.
    with_sum = covariance.sum(axis=1)
    variance = with_sum.sum()
    missing_j = intervals.energy_j.sum() - energy_j.sum()
    if variance <= 0:
        return energy_j + missing_j * np.abs(energy_j) / np.abs(energy_j).sum(), covariance
    gain = with_sum / variance
    return energy_j + gain * missing_j, covariance - np.outer(gain, with_sum)


@dataclass(frozen=True)
class _Powers:
    """The floor, and the power of each kind on top of it, (kinds + 1,), with the covariance of their errors."""

    watts: Floats
    covariance: Floats


def _fitted(length_s: Floats, ran_s: Floats, energy_j: Floats, digit_j: float) -> _Powers:
    """The powers that readings tell, with the most likely spread of kinds and size of fluctuations.

    Args:
        length_s: (k,), of each interval.
        ran_s: (k, kinds), seconds of each kind in it.
        energy_j: (k,).
        digit_j: of the meter.
    """
    # The difference of two rounded numbers.
    rounded = digit_j**2 / 6
    mean_w = max(float(energy_j.sum() / length_s.sum()), 1e-9)

    def solved(logs: Floats) -> tuple[_Powers, float]:
        """By the logarithms of the spread of kinds, in mean powers, and of fluctuations, in those times sqrt(s)."""
        spread_w, noise = mean_w * np.exp(logs[0]), (mean_w * np.exp(logs[1])) ** 2 * length_s + rounded
        found, likelihood = _solve(length_s, ran_s, energy_j, noise, spread_w, mean_w)
        # A gamma prior of shape 2, whose mean is the mean power.
        return found, likelihood + float(logs[0] - 2 * np.exp(logs[0]))

    options = {"xatol": 1e-2, "fatol": 1e-3, "maxiter": 200}
    best = minimize(lambda logs: -solved(logs)[1], np.log([0.5, 0.05]), method="Nelder-Mead", options=options)
    return solved(best.x)[0]


def _solve(
    length_s: Floats, ran_s: Floats, energy_j: Floats, noise: Floats, spread_w: float, mean_w: float
) -> tuple[_Powers, float]:
    """The powers for a given spread and given noise, and how likely the readings are by these.

    Args:
        length_s: see _fitted.
        ran_s: see _fitted.
        energy_j: see _fitted.
        noise: (k,), variance of each interval's error.
        spread_w: standard deviation of the kinds' powers around their mean.
        mean_w: mean power of the window, the scale of the priors of the floor and of that mean.
    """
    kinds, spread = ran_s.shape[1], spread_w**2
    both = np.column_stack((length_s, ran_s))
    # Half of the power is the floor's, and half is on top of it, before anything was read.
    before = np.full(kinds + 1, mean_w / 2)
    # The inverse of a covariance that all kinds share, mean_w squared, beside their own.
    precision = np.zeros((kinds + 1, kinds + 1))
    precision[0, 0] = 1 / mean_w**2
    precision[1:, 1:] = (np.eye(kinds) - mean_w**2 / (spread + kinds * mean_w**2)) / spread
    weighted = both / noise[:, None]
    normal = both.T @ weighted + precision
    # Columns differ in size by orders of magnitude.
    scale = 1 / np.sqrt(np.diag(normal))
    factor = cho_factor(normal * np.outer(scale, scale), lower=True)
    covariance = cho_solve(factor, np.eye(kinds + 1)) * np.outer(scale, scale)
    left = energy_j - both @ before
    right = weighted.T @ left
    step = covariance @ right
    determinants = 2 * float(np.log(np.diag(factor[0])).sum() - np.log(scale).sum()) + float(np.log(noise).sum())
    determinants += (kinds - 1) * np.log(spread) + np.log(spread + kinds * mean_w**2)
    likelihood = -0.5 * (determinants + float(left @ (left / noise) - step @ right))
    return _Powers(before + step, covariance), likelihood
