"""Lag and averaging span of a meter, from steps of load: a delayed box filter is fitted to what it showed.

The model: what a meter shows is the mean of power over `average` seconds, ending `lag` seconds before its update. Each
step has a level and a rise of its own; those are projected out (variable projection, Golub and Pereyra 1973), so that
two parameters are left for all steps together. Each step has a noise of its own, too, which bounds what a disturbed one
can do. A counter is fitted as mean power between its updates: in joules, what chance adds once would stay for good.
A step seen in samples is not smooth in its lag: the likelihood is summed up over a grid that closes in on its bulk, and
the answer is its mean.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from framewatt.energy.coverage import Values

_LAG_S = (-0.5, 3.0)
"""Range of lags in seconds: a meter with its own clock may seem to be ahead."""

_AVERAGE_S = (0.0, 3.0)
_GRID = 31
_ZOOMS = 4
_ZOOM_SD = 4.0
_FEWEST_POINTS = 4
_FLOOR = 0.01
"""Noise floor as a share of the step: no power is steadier, so smaller residuals carry no information."""

_THINNER = 1 / 25
"""Share of the time since the step within which one reading tells as much as several."""


@dataclass(frozen=True)
class Step:
    """A meter's readings around one step of the load.

    Attributes:
        time_s: shape (n,), seconds since the step.
        value: shape (n,), watts, or the joules that a counter had gained.
        rises: whether power went up.
        digit: the meter's last digit, in the unit of `value`.
    """

    time_s: Values
    value: Values
    rises: bool
    digit: float


@dataclass(frozen=True)
class BoxFilter:
    """Parameters of the fitted filter.

    Attributes:
        lag_s: seconds by which values are late, beyond half their averaging span.
        lag_uncertainty_s: its standard uncertainty.
        average_s: seconds over which a value is a mean.
        average_uncertainty_s: its standard uncertainty.
        delay_s: lag and half the averaging span, which is better known than either.
        delay_uncertainty_s: its standard uncertainty.
    """

    lag_s: float
    lag_uncertainty_s: float
    average_s: float
    average_uncertainty_s: float
    delay_s: float
    delay_uncertainty_s: float


def fit_box(steps: Sequence[Step], counter: bool) -> BoxFilter | None:
    """The delayed box filter that fits all steps best, or None where there is none.

    The uncertainty is that of the likelihood together with that of leaving out each step in turn (jackknife), which
    sees what the model does not: a load that steps late, a meter whose lag changes.

    Args:
        steps: at least two, of any sizes.
        counter: whether values are a counter's.
    """
    steps = [_thinned(step) for step in steps if len(step.time_s) > _FEWEST_POINTS]
    if len(steps) < 2:
        return None
    lags, averages = np.linspace(*_LAG_S, _GRID), np.linspace(*_AVERAGE_S, _GRID)
    for zoom in range(_ZOOMS):
        log_likelihood = np.stack([_log_likelihood(step, lags, averages, counter) for step in steps])
        mean, sd = _moments(log_likelihood.sum(0), lags, averages)
        if zoom < _ZOOMS - 1:
            lags = _closer(lags, mean[0], sd[0])
            averages = _closer(averages, mean[1], sd[1], least=0.0)
    without = np.array([_moments(np.delete(log_likelihood, i, 0).sum(0), lags, averages)[0] for i in range(len(steps))])
    n = len(steps)
    jackknife = np.sqrt((n - 1) / n * ((without - without.mean(0)) ** 2).sum(0))
    spread = np.hypot(sd, jackknife)
    return BoxFilter(*(float(number) for pair in zip(mean, spread, strict=True) for number in pair))


def _thinned(step: Step) -> Step:
    """The readings that tell something: the closer to the step, the closer together."""
    kept, last_s = [], -math.inf
    for number, second in enumerate(step.time_s):
        if second - last_s >= _THINNER * abs(second):
            kept.append(number)
            last_s = float(second)
    return Step(step.time_s[kept], step.value[kept], step.rises, step.digit)


def _closer(grid: Values, mean: float, sd: float, least: float = -math.inf) -> Values:
    """A grid about the bulk of the likelihood, never finer than a tenth of the last one, so that nothing is lost."""
    half = max(_ZOOM_SD * sd, 3 * (grid[1] - grid[0]))
    return np.linspace(max(mean - half, least, grid[0]), min(mean + half, grid[-1]), _GRID)


def _moments(log_likelihood: Values, lags: Values, averages: Values) -> tuple[Values, Values]:
    """Means and standard deviations of lag, averaging span and delay under a likelihood, shape (lags, averages)."""
    weight = np.exp(log_likelihood - log_likelihood.max())
    weight /= weight.sum()
    lag, average = np.meshgrid(lags, averages, indexing="ij")
    grid = np.array([((lags[1] - lags[0]) ** 2), ((averages[1] - averages[0]) ** 2)]) / 12
    quantities = np.stack([lag, average, lag + average / 2])
    mean = (quantities * weight).sum((1, 2))
    variance = ((quantities - mean[:, None, None]) ** 2 * weight).sum((1, 2))
    return mean, np.sqrt(variance + np.append(grid, grid[0] + grid[1] / 4))


def _log_likelihood(step: Step, lags: Values, averages: Values, counter: bool) -> Values:
    """Of one step, whose level, rise and noise are its own; shape (lags, averages)."""
    value, shape, digit = step.value, _shape(step.time_s, lags, averages, counter), step.digit
    if counter:
        width_s = np.diff(step.time_s)
        value, shape, digit = np.diff(value) / width_s, np.diff(shape) / width_s, digit / float(np.median(width_s))
    n = len(value)
    left = value - value.mean()
    shape -= shape.mean(-1, keepdims=True)
    size = np.maximum((shape**2).sum(-1), 1e-12)
    along = shape @ left
    rising = along > 0 if step.rises else along < 0
    squares = (left @ left) - np.where(rising, along**2 / size, 0.0)
    # Beyond a share of the step, of its last digit and of what a double keeps, residuals tell nothing.
    rise = math.sqrt((left @ left) / n)
    floor = (_FLOOR * rise) ** 2 + digit**2 / 12 + 1e-24
    return np.asarray(-n / 2 * np.log(np.maximum(squares, 0.0) / n + floor))


def _shape(t: Values, lags: Values, averages: Values, counter: bool) -> Values:
    """A step of 1 at second 0 as the filter shows it; of a counter, the seconds of it. Shape (lags, averages, n)."""
    late = t - lags[:, None, None]
    average = np.maximum(averages, 1e-6)[None, :, None]
    if not counter:
        return np.clip(late / average, 0.0, 1.0)
    inside = np.clip(late, 0.0, average)
    return np.asarray(inside**2 / (2 * average) + np.maximum(late - average, 0.0))
