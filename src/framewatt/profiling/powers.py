"""Powers of operators from a meter's intervals: a linear mixed model.

The machine is taken to draw a floor, and each kind of operator a power of its own on top of it while it runs; calls of
a kind differ from each other, and what runs at once may draw more or less than its sum:

    energy of interval k = floor * length of k + sum over calls of (power of its kind + its own) * seconds in k
                           + sum over sets of what runs at once of (what it draws more) * seconds in k + error

Kinds are drawn from one distribution, calls of a kind from another. The readings give the spreads of both, and the
size of the error (predictions and their covariance as in Henderson, Biometrics 1975). A kind that is too short or too
rare to be resolved is thereby near the mean of all, with a large uncertainty. Floor and mean have priors as wide as the
mean power of the window, and both spreads have a prior that keeps them from 0 (Chung et al., Psychometrika 2013).
Readings that are all alike determine none of them, and then the uncertainty is of that size, and not 0.

What a call differs by is seen where the call is longer than an interval; of shorter ones it is part of the error.

What a set draws more is the sum of a part for how many run at once, a part for each kind next to that many, and a part
of its own (framewatt.profiling.design), drawn from distributions of one spread. A machine at its limit draws the same
for any two kinds. So while others run, a share of the difference between a kind's power and the mean may be lost; the
part of a kind is drawn around that. Spread and share are near 0 where powers add. Where operators overlap, no power is
below 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.sparse import csc_matrix, csr_matrix, diags, identity
from scipy.sparse.linalg import splu
from scipy.special import log_ndtr

from framewatt.profiling.design import Design, Gram
from framewatt.profiling.timeline import Floats

LEAST_LOG = -7.0
"""A spread of less than a thousandth is none, and its inverse would drown the prior of the mean in rounding."""

_LEAST_LOGS = (LEAST_LOG, -15.0, LEAST_LOG, LEAST_LOG)

_CALLS_DIFFER = 0.1
"""Mean of the prior of the spread of calls, in powers of their kind."""

_SETS_DIFFER = 0.4
"""Mean of the prior of the spread of what sets draw more, in mean powers."""

_LEVELS_DIFFER = 5.0
"""Spread of what so many at once draw more, in spreads of what sets do."""

_GONE = 0.5
"""Standard deviation of the prior of a share: what a kind loses, next to others, of its difference from the mean."""

_SURELY = 4.0
"""A power that is this many standard uncertainties above 0 is taken to be positive."""


@dataclass(frozen=True)
class Spreads:
    """What powers are drawn from, and how readings fluctuate.

    Attributes:
        numbers: logarithms of the spread of kinds and of fluctuations in a second, in mean powers, and of the spread of
            calls, in powers of their kind. Where operators overlap, also the logarithm of the spread of what sets draw
            more, in mean powers, and the share of a kind's difference from the mean power that is lost next to others.
        call_scale_w: (kinds,), powers in which the spread of calls is given.
    """

    numbers: Floats
    call_scale_w: Floats


@dataclass(frozen=True)
class Powers:
    """What the readings determine.

    Attributes:
        kind_w: (kinds,), on top of the floor.
        more_w: (c,), that is drawn in the columns of sets.
        kind_sd_w: standard deviation between kinds.
        call_sd_w: (kinds,), standard deviation between calls of a kind.
        more_sd_w: standard deviation between sets.
        joules: of linear functions of floor, kinds and columns (g, 1 + kinds + c) and of long calls (g, l): their
            values, and the covariance of their errors.
    """

    kind_w: Floats
    more_w: Floats
    kind_sd_w: float
    call_sd_w: Floats
    more_sd_w: float
    joules: Callable[[Floats, csr_matrix], tuple[Floats, Floats]]


class Model:
    """The readings of one meter.

    Args:
        design: what ran.
        energy_j: (k,), joules of each interval.
        digit_j: smallest step of the meter.
    """

    def __init__(self, design: Design, energy_j: Floats, digit_j: float) -> None:
        self.design, self.energy_j = design, energy_j
        self.mean_w = max(float(energy_j.sum() / design.length_s.sum()), 1e-9)
        # The difference of two rounded numbers.
        self._rounded = digit_j**2 / 6
        self._columns = design.columns
        self._gram = Gram(self._columns)

    def unlikelihood(self, spreads: Spreads) -> float:
        """Return the negative logarithm of the likelihood of the readings, times the priors, except a constant."""
        kinds, _, calls, *sets = spreads.numbers
        # Gamma priors of shape 2.
        prior = kinds - 2 * np.exp(kinds) + calls - 2 / _CALLS_DIFFER * np.exp(calls)
        if sets:
            prior += sets[0] - 2 / _SETS_DIFFER * np.exp(sets[0]) - (sets[1] / _GONE) ** 2 / 2
        return -self.solved(spreads)[1] - float(prior)

    def solved(self, spreads: Spreads) -> tuple[Powers, float]:
        """Return the powers, and the logarithm of the likelihood of the readings."""
        numbers, call_scale_w = spreads.numbers, spreads.call_scale_w
        spread, noise_w, differ, *more = np.exp(np.clip(numbers[:4], _LEAST_LOGS[: len(numbers[:4])], 5))
        design, kinds = self.design, self.design.kinds
        scaled = csc_matrix(design.long_s @ diags(call_scale_w[design.long_kind]))
        calls = scaled.shape[1]
        noise = (self.mean_w * noise_w) ** 2 * design.length_s + self._rounded
        noise = noise + design.short_s2 @ (differ * call_scale_w) ** 2
        more_w = more[0] * self.mean_w if more else 0.0
        if design.overlaps is not None:
            noise = noise + design.overlaps.brief_s2 * more_w**2
        precision, before, sets_determinant = self._prior(spread * self.mean_w, more_w, numbers)
        left = self.energy_j - self._columns @ before
        by_call = diags(1 / noise) @ scaled
        inner = (
            splu(
                csc_matrix(scaled.T @ by_call + identity(calls) / differ**2),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
            if calls
            else None
        )
        crossed = (by_call.T @ self._columns).toarray()
        right, right_calls = self._columns.T @ (left / noise), by_call.T @ left
        through = inner.solve(np.column_stack((crossed, right_calls))) if inner else np.zeros((0, len(before) + 1))
        normal = self._gram.weighted(1 / noise) + precision - crossed.T @ through[:, :-1]
        # Columns differ in size by orders of magnitude.
        scale = 1 / np.sqrt(np.diag(normal))
        factor = cho_factor(normal * np.outer(scale, scale), lower=True)
        covariance = cho_solve(factor, np.eye(len(before))) * np.outer(scale, scale)
        step = covariance @ (right - through[:, :-1].T @ right_calls)
        of_calls = through[:, -1] - through[:, :-1] @ step
        determinants = 2 * float(np.log(np.diag(factor[0])).sum() - np.log(scale).sum()) + float(np.log(noise).sum())
        determinants += _log_determinant(kinds, self.mean_w, spread * self.mean_w)
        determinants += sets_determinant
        if inner:
            determinants += float(np.log(np.abs(inner.U.diagonal())).sum()) + 2 * calls * float(np.log(differ))
        quadratic = float(left @ (left / noise) - step @ right - of_calls @ right_calls)
        if design.overlaps is not None:
            step, covariance = _positive(before, step, covariance, 1 + kinds)
            of_calls = through[:, -1] - through[:, :-1] @ step
        watts = before + step

        def joules(of_fixed: Floats, of_long: csr_matrix) -> tuple[Floats, Floats]:
            own = csr_matrix(of_long @ diags(call_scale_w[design.long_kind]))
            value = of_fixed @ watts + own @ of_calls
            if inner is None:
                return value, of_fixed @ covariance @ of_fixed.T
            both = of_fixed - own @ through[:, :-1]
            return value, both @ covariance @ both.T + own @ inner.solve(own.T.toarray())

        powers = Powers(
            watts[1 : 1 + kinds], watts[1 + kinds :], spread * self.mean_w, differ * call_scale_w, more_w, joules
        )
        return powers, -0.5 * (determinants + quadratic)

    def _prior(self, spread_w: float, more_w: float, numbers: Floats) -> tuple[Floats, Floats, float]:
        """Of floor, kinds and columns: inverse of the prior covariance, means, and the columns' log-determinant."""
        kinds, width = self.design.kinds, self._columns.shape[1]
        precision, before, determinant = np.zeros((width, width)), np.zeros(width), 0.0
        # Half of the power is the floor's, and half is on top of it, before anything was read.
        before[: 1 + kinds] = self.mean_w / 2
        precision[: 1 + kinds, : 1 + kinds] = _precision(kinds, self.mean_w, spread_w)
        if self.design.overlaps is not None:
            of_kind = self.design.overlaps.column_kind
            share = float(np.clip(numbers[4], -1, 1))
            # If a share of what is unlike the mean is gone, so may be of the mean: one part of it for all of a level.
            level_w = float(np.hypot(_LEVELS_DIFFER * more_w, share * self.mean_w))
            sd_w = np.where(self.design.overlaps.column_level, level_w, more_w)
            precise, determinant = 1 / sd_w**2, 2 * float(np.log(sd_w).sum())
            # A column is drawn around what is gone of its kind's power, as far as that is unlike the mean.
            gone = np.where(of_kind[:, None] >= 0, (of_kind[:, None] == np.arange(kinds)) - 1 / kinds, 0.0)
            gone = share * gone
            precision[1 + kinds :, 1 + kinds :] = np.diag(precise)
            precision[1 + kinds :, 1 : 1 + kinds] = precise[:, None] * gone
            precision[1 : 1 + kinds, 1 + kinds :] = (precise[:, None] * gone).T
            precision[1 : 1 + kinds, 1 : 1 + kinds] += gone.T @ (precise[:, None] * gone)
        return precision, before, determinant


def _positive(before: Floats, step: Floats, covariance: Floats, count: int) -> tuple[Floats, Floats]:
    """Return steps and covariance of powers, given that the first `count` powers are not below 0.

    Each is cut off there in turn, the furthest below first, and replaced by the normal distribution of the same mean
    and variance (assumed density filtering; Minka, UAI 2001).
    """
    step, covariance = step.copy(), covariance.copy()
    left = list(range(count))
    while left:
        sd = np.sqrt(np.diag(covariance)[left])
        above = (before[left] + step[left]) / sd
        place = int(np.argmin(above))
        which, far = left.pop(place), float(above[place])
        if far > _SURELY:
            break
        tilt = float(np.exp(-(far**2) / 2 - log_ndtr(far)) / np.sqrt(2 * np.pi))
        gain = covariance[:, which] / sd[place]
        step += gain * tilt
        covariance -= np.outer(gain, gain) * tilt * (tilt + far)
    return step, covariance


def _precision(kinds: int, mean_w: float, spread_w: float) -> Floats:
    """Return the inverse of the prior covariance of the floor and the kinds, with a mean as uncertain as the floor."""
    precision = np.zeros((kinds + 1, kinds + 1))
    precision[0, 0] = 1 / mean_w**2
    precision[1:, 1:] = (np.eye(kinds) - mean_w**2 / (spread_w**2 + kinds * mean_w**2)) / spread_w**2
    return precision


def _log_determinant(kinds: int, mean_w: float, spread_w: float) -> float:
    """Return the logarithm of the determinant of the covariance that `_precision` inverts, except a constant."""
    return float((kinds - 1) * np.log(spread_w**2) + np.log(spread_w**2 + kinds * mean_w**2))


_STARTS = (0.5, 0.05, 0.05)
"""Where the search begins: spread of kinds, size of fluctuations in a second, spread of calls; in mean powers."""

_LEAST_POWER = 0.1
"""Calls of a kind without power of its own differ as if it had this share of the mean power."""

_CLOSE = {"xatol": 3e-2, "fatol": 1e-2}

_MORE_LOGS, _GONES = (LEAST_LOG, -5.0, -4.0, -3.0, -2.0, -1.0), (0.0, 0.4, 0.8)
"""Where the search of spreads of sets begins: at the best of these."""

_KINDS_LOG = -1.0
"""It begins with no larger a spread of kinds: an overlap that the first search did not know looks like one."""

_STEPS = (0.4, 0.4, 0.4, 0.4, -0.15)
"""Its first steps."""

_AROUND = ((-0.5, 0.0, 0.5, 1.0), (0.0,), (0.0,), (-0.7, 0.0, 0.7), (-0.3, 0.0, 0.3))
"""Offsets from the most likely spreads, of the combinations that are averaged where operators overlap."""

_LEAST_LIKELY = 0.01
"""Spreads that are less likely than this share of the most likely ones are left out."""


def spreads_of(design: Design, energy_j: Floats, digit_j: float) -> list[tuple[float, Spreads]]:
    """Return spreads with their probabilities, the most likely first; a single one where nothing overlaps.

    Args:
        design: what ran.
        energy_j: (k,), joules of each interval.
        digit_j: smallest step of the meter.
    """
    plain = _adding(Model(design.adding(), energy_j, digit_j))
    return [(1.0, plain)] if design.overlaps is None else _around(*_with_sets(Model(design, energy_j, digit_j), plain))


def _adding(model: Model) -> Spreads:
    """Return the most likely spreads, as if powers added."""
    # How much calls differ is in proportion to their power, which is not known before it is fitted.
    spreads = Spreads(np.log(_STARTS), np.full(model.design.kinds, model.mean_w))
    for most in (150, 75):
        spreads = _searched(model, spreads, {"maxiter": most})
        spreads = Spreads(spreads.numbers, _call_scale_w(model, spreads))
    return spreads


def _with_sets(model: Model, plain: Spreads) -> tuple[Model, Spreads]:
    """Return the model and its most likely spreads, with what sets draw more if that makes the readings more likely."""
    kinds, *others = plain.numbers
    tried = [
        Spreads(np.array([min(kinds, _KINDS_LOG), *others, *more]), plain.call_scale_w)
        for more in product(_MORE_LOGS, _GONES)
    ]
    tried.insert(0, Spreads(np.array([*plain.numbers, LEAST_LOG, 0.0]), plain.call_scale_w))
    best = min(tried, key=model.unlikelihood)
    if best is tried[0]:
        return model, best
    start = Spreads(best.numbers, _call_scale_w(model, best))
    simplex = np.vstack((start.numbers, start.numbers + np.diag(_STEPS)))
    return model, _searched(model, start, {"maxiter": 120, "initial_simplex": simplex})


def _around(model: Model, best: Spreads) -> list[tuple[float, Spreads]]:
    tried = [Spreads(best.numbers + np.array(off), best.call_scale_w) for off in product(*_AROUND)]
    tried = [one for one in tried if one.numbers[3] >= LEAST_LOG]
    unlikelihood = np.array([model.unlikelihood(one) for one in tried])
    likely = np.exp(unlikelihood.min() - unlikelihood)
    likely[likely < _LEAST_LIKELY] = 0
    likely /= likely.sum()
    return [(float(likely[place]), tried[place]) for place in np.argsort(-likely) if likely[place]]


def _searched(model: Model, start: Spreads, options: dict[str, object]) -> Spreads:
    result = minimize(
        lambda numbers: model.unlikelihood(Spreads(numbers, start.call_scale_w)),
        start.numbers,
        method="Nelder-Mead",
        options=_CLOSE | options,
    )
    return Spreads(result.x, start.call_scale_w)


def _call_scale_w(model: Model, spreads: Spreads) -> Floats:
    scale_w: Floats = np.maximum(model.solved(spreads)[0].kind_w, _LEAST_POWER * model.mean_w)
    return scale_w
