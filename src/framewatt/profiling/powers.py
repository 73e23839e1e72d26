"""Powers of operators from a meter's intervals: a linear mixed model.

The machine is taken to draw a floor, and each kind of operator a power of its own on top of it while it runs, also
beside others; calls of a kind differ from each other:

    energy of interval k = floor * length of k + sum over calls of (power of its kind + its own) * seconds in k + error

Kinds are drawn from one distribution, calls of a kind from another, whose spreads the readings give as well, as they
give the size of the error (predictions and their covariance as in Henderson, Biometrics 1975). A kind that is too short
or too rare to be resolved is thereby near the mean of all, with an uncertainty that says so. Floor and mean have priors
as wide as the mean power of the window, and both spreads have one that keeps them from 0 (Chung et al., Psychometrika
2013): readings that are all alike tell none of them, and then the uncertainty is of that size, and not 0.

What a call differs by is seen where the call is longer than an interval; of shorter ones it is part of the error.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.sparse import csc_matrix, csr_matrix, diags, identity
from scipy.sparse.linalg import splu

from framewatt.profiling.timeline import Timeline

Floats = NDArray[np.float64]

_LEAST_POWER = 0.1
"""Calls of a kind without power of its own differ as if it had this share of the mean power."""

_STARTS = (0.5, 0.05, 0.05)
"""Where the search begins: spread of kinds, size of fluctuations in a second, spread of calls; in mean powers."""

_LEAST_LOGS = (-7.0, -15.0, -7.0)
"""A spread of less than a thousandth is none, and its inverse would drown the prior of the mean in rounding."""

_CALLS_DIFFER = 0.1
"""Mean of the prior of the spread of calls, in powers of their kind."""


@dataclass(frozen=True)
class Design:
    """What ran in the intervals of a meter.

    Attributes:
        length_s: (k,), of each interval.
        ran_s: (k, kinds), seconds of each kind in it.
        long_s: (k, l), seconds of each call that is longer than an interval.
        long_at: (l,), its place among the calls.
        long_kind: (l,), its kind.
        short_s2: (k, kinds), sum of squared seconds of shorter calls.
    """

    length_s: Floats
    ran_s: Floats
    long_s: csr_matrix
    long_at: NDArray[np.int64]
    long_kind: NDArray[np.int64]
    short_s2: Floats

    @property
    def kinds(self) -> int:
        """How many kinds have a power."""
        return int(self.ran_s.shape[1])

    @classmethod
    def of(cls, line: Timeline, edges_s: Floats) -> "Design":
        """The design of operators that are cut to the intervals' window.

        Args:
            line: the operators.
            edges_s: (k + 1,), ascending.
        """
        length_s = np.diff(edges_s)
        long = line.end_s - line.start_s > np.median(length_s)
        seconds = _overlaps(line.start_s[long], line.end_s[long], edges_s)
        short = _overlaps(line.start_s[~long], line.end_s[~long], edges_s)
        of_kind = csr_matrix(
            (np.ones(short.shape[1]), (np.arange(short.shape[1]), line.kind[~long])),
            (short.shape[1], len(line.kinds)),
        )
        return cls(
            length_s,
            line.active(edges_s),
            seconds,
            np.flatnonzero(long),
            line.kind[long],
            (short.power(2) @ of_kind).toarray(),
        )


def _overlaps(start_s: Floats, end_s: Floats, edges_s: Floats) -> csr_matrix:
    """(k, calls), seconds of each call in each interval."""
    first = np.searchsorted(edges_s, start_s, side="right") - 1
    last = np.searchsorted(edges_s, end_s, side="left") - 1
    count = last - first + 1
    call = np.repeat(np.arange(len(start_s)), count)
    interval = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    seconds = np.minimum(end_s[call], edges_s[interval + 1]) - np.maximum(start_s[call], edges_s[interval])
    return csr_matrix((seconds, (interval, call)), (len(edges_s) - 1, len(start_s)))


@dataclass(frozen=True)
class Powers:
    """What the readings tell.

    Attributes:
        kind_w: (kinds,), on top of it.
        kind_sd_w: standard deviation between kinds.
        call_sd_w: (kinds,), standard deviation between calls of a kind.
        joules: of linear functions of floor and kinds (g, kinds + 1) and of long calls (g, l): their values, and the
            covariance of their errors.
    """

    kind_w: Floats
    kind_sd_w: float
    call_sd_w: Floats
    joules: Callable[[Floats, csr_matrix], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Spreads:
    """What powers are drawn from, and how readings fluctuate.

    Attributes:
        logs: logarithms of the spread of kinds and of fluctuations in a second, in mean powers, and of the spread of
            calls, in powers of their kind.
        call_scale_w: (kinds,), powers in which the spread of calls is given.
    """

    logs: Floats
    call_scale_w: Floats


def spreads_of(design: Design, energy_j: Floats, digit_j: float) -> Spreads:
    """The most likely spreads.

    Args:
        design: what ran.
        energy_j: (k,), joules of each interval.
        digit_j: smallest step of the meter.
    """
    mean_w = _mean_w(design, energy_j)
    # How much calls differ is in proportion to their power, which is not known before it is fitted.
    call_scale_w, at = np.full(design.kinds, mean_w), np.log(_STARTS)
    for most in (150, 75):
        model = _Model(design, energy_j, digit_j, call_scale_w)
        options = {"xatol": 3e-2, "fatol": 1e-2, "maxiter": most}
        at = minimize(model.unlikelihood, at, method="Nelder-Mead", options=options).x
        call_scale_w = np.maximum(model.solved(at)[0].kind_w, _LEAST_POWER * mean_w)
    return Spreads(at, call_scale_w)


def fitted(design: Design, energy_j: Floats, digit_j: float, spreads: Spreads) -> Powers:
    """The powers for given spreads.

    Args:
        design: what ran.
        energy_j: (k,), joules of each interval.
        digit_j: smallest step of the meter.
        spreads: see spreads_of.
    """
    return _Model(design, energy_j, digit_j, spreads.call_scale_w).solved(spreads.logs)[0]


def _mean_w(design: Design, energy_j: Floats) -> float:
    return max(float(energy_j.sum() / design.length_s.sum()), 1e-9)


class _Model:
    """The readings of one meter, for given spreads.

    Args:
        design: see fitted.
        energy_j: see fitted.
        digit_j: see fitted.
        call_scale_w: (kinds,), powers in which the spread of calls is given.
    """

    def __init__(self, design: Design, energy_j: Floats, digit_j: float, call_scale_w: Floats) -> None:
        self.design, self.energy_j, self.call_scale_w = design, energy_j, call_scale_w
        self.mean_w = _mean_w(design, energy_j)
        # The difference of two rounded numbers.
        self.rounded = digit_j**2 / 6
        self.both = np.column_stack((design.length_s, design.ran_s))
        self.scaled = csc_matrix(design.long_s @ diags(call_scale_w[design.long_kind]))

    def unlikelihood(self, logs: Floats) -> float:
        """Of the readings and the priors; the argument as `solved` has it."""
        # Gamma priors of shape 2.
        prior = logs[0] - 2 * np.exp(logs[0]) + logs[2] - 2 / _CALLS_DIFFER * np.exp(logs[2])
        return -self.solved(logs)[1] - float(prior)

    def solved(self, logs: Floats) -> tuple[Powers, float]:
        """The powers, and how likely the readings are.

        Args:
            logs: logarithms of the spread of kinds and of fluctuations in a second, in mean powers, and of the spread
                of calls, in powers of their kind.
        """
        spread, noise_w, differ = np.exp(np.clip(logs, _LEAST_LOGS, 5))
        design, kinds, calls = self.design, self.both.shape[1] - 1, self.scaled.shape[1]
        noise = (self.mean_w * noise_w) ** 2 * design.length_s + self.rounded
        noise = noise + design.short_s2 @ (differ * self.call_scale_w) ** 2
        # Half of the power is the floor's, and half is on top of it, before anything was read.
        before = np.full(kinds + 1, self.mean_w / 2)
        left = self.energy_j - self.both @ before
        weighted = self.both / noise[:, None]
        by_call = diags(1 / noise) @ self.scaled
        inner = (
            splu(
                csc_matrix(self.scaled.T @ by_call + identity(calls) / differ**2),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
            if calls
            else None
        )
        crossed = by_call.T @ self.both
        right, right_calls = weighted.T @ left, by_call.T @ left
        through = inner.solve(np.column_stack((crossed, right_calls))) if inner else np.zeros((0, kinds + 2))
        normal = weighted.T @ self.both + _precision(kinds, self.mean_w, spread * self.mean_w)
        normal = normal - crossed.T @ through[:, :-1]
        # Columns differ in size by orders of magnitude.
        scale = 1 / np.sqrt(np.diag(normal))
        factor = cho_factor(normal * np.outer(scale, scale), lower=True)
        covariance = cho_solve(factor, np.eye(kinds + 1)) * np.outer(scale, scale)
        step = covariance @ (right - through[:, :-1].T @ right_calls)
        of_calls = through[:, -1] - through[:, :-1] @ step
        determinants = 2 * float(np.log(np.diag(factor[0])).sum() - np.log(scale).sum()) + float(np.log(noise).sum())
        determinants += _log_determinant(kinds, self.mean_w, spread * self.mean_w)
        if inner:
            determinants += float(np.log(np.abs(inner.U.diagonal())).sum()) + 2 * calls * float(np.log(differ))
        quadratic = float(left @ (left / noise) - step @ right - of_calls @ right_calls)
        watts = before + step

        def joules(of_fixed: Floats, of_long: csr_matrix) -> tuple[Floats, Floats]:
            own = csr_matrix(of_long @ diags(self.call_scale_w[design.long_kind]))
            value = of_fixed @ watts + own @ of_calls
            if inner is None:
                return value, of_fixed @ covariance @ of_fixed.T
            both = of_fixed - own @ through[:, :-1]
            return value, both @ covariance @ both.T + own @ inner.solve(own.T.toarray())

        found = Powers(watts[1:], spread * self.mean_w, differ * self.call_scale_w, joules)
        return found, -0.5 * (determinants + quadratic)


def _precision(kinds: int, mean_w: float, spread_w: float) -> Floats:
    """The inverse of the prior covariance: of the floor, and of kinds that share a mean as uncertain as the floor."""
    found = np.zeros((kinds + 1, kinds + 1))
    found[0, 0] = 1 / mean_w**2
    found[1:, 1:] = (np.eye(kinds) - mean_w**2 / (spread_w**2 + kinds * mean_w**2)) / spread_w**2
    return found


def _log_determinant(kinds: int, mean_w: float, spread_w: float) -> float:
    """Of that covariance, but for a constant."""
    return float((kinds - 1) * np.log(spread_w**2) + np.log(spread_w**2 + kinds * mean_w**2))
