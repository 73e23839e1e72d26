"""The spreads that a meter's readings make most likely, and others that they leave open."""

from itertools import product

import numpy as np
from scipy.optimize import minimize

from framewatt.profiling.design import Design
from framewatt.profiling.powers import LEAST_LOG, Model, Spreads
from framewatt.profiling.timeline import Floats

_STARTS = (0.5, 0.05, 0.05)
"""Where the search begins: spread of kinds, size of fluctuations in a second, spread of calls; in mean powers."""

_LEAST_POWER = 0.1
"""Calls of a kind without power of its own differ as if it had this share of the mean power."""

_CLOSE = {"xatol": 3e-2, "fatol": 1e-2}

_MORE_LOGS, _GONE = (LEAST_LOG, -5.0, -4.0, -3.0, -2.0, -1.0), (0.0, 0.4, 0.8)
"""Where the search of spreads of sets begins: at the best of these."""

_KINDS_LOG = -1.0
"""It begins with no larger a spread of kinds: an overlap that the first search did not know looks like one."""

_STEPS = (0.4, 0.4, 0.4, 0.4, -0.15)
"""Its first steps."""

_AROUND = ((-0.5, 0.0, 0.5, 1.0), (0.0,), (0.0,), (-0.7, 0.0, 0.7), (-0.3, 0.0, 0.3))
"""Of the spreads that are left open where operators overlap: how far off the most likely ones."""

_LEAST_LIKELY = 0.01
"""Spreads that are less likely than this share of the most likely ones are left out."""


def spreads_of(design: Design, energy_j: Floats, digit_j: float) -> list[tuple[float, Spreads]]:
    """Spreads and how likely each is, together 1; the most likely first. One, where nothing overlaps.

    Args:
        design: what ran.
        energy_j: (k,), joules of each interval.
        digit_j: smallest step of the meter.
    """
    plain = _adding(Model(design.adding(), energy_j, digit_j))
    return [(1.0, plain)] if design.overlaps is None else _around(*_beside(Model(design, energy_j, digit_j), plain))


def _adding(model: Model) -> Spreads:
    """As if powers added."""
    # How much calls differ is in proportion to their power, which is not known before it is fitted.
    found = Spreads(np.log(_STARTS), np.full(model.design.kinds, model.mean_w))
    for most in (150, 75):
        found = _searched(model, found, {"maxiter": most})
        found = Spreads(found.numbers, _call_scale_w(model, found))
    return found


def _beside(model: Model, plain: Spreads) -> tuple[Model, Spreads]:
    """With what sets draw more, if that makes the readings more likely."""
    kinds, *others = plain.numbers
    tried = [
        Spreads(np.array([min(kinds, _KINDS_LOG), *others, *more]), plain.call_scale_w)
        for more in product(_MORE_LOGS, _GONE)
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
    found = minimize(
        lambda numbers: model.unlikelihood(Spreads(numbers, start.call_scale_w)),
        start.numbers,
        method="Nelder-Mead",
        options=_CLOSE | options,
    )
    return Spreads(found.x, start.call_scale_w)


def _call_scale_w(model: Model, spreads: Spreads) -> Floats:
    found: Floats = np.maximum(model.solved(spreads)[0].kind_w, _LEAST_POWER * model.mean_w)
    return found
