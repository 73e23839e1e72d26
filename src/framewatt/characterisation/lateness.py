"""How late a meter shows power: its lag and averaging span, fitted to its response to steps of load."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from framewatt.characterisation.measured import Measured, unknown
from framewatt.characterisation.schedule import Edge
from framewatt.characterisation.series import Series
from framewatt.energy.counter_steps import fresh, knots_of
from framewatt.energy.windows import Values

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
"""Share of the time since the step within which one reading has as much information as several."""


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
    """Return the delayed box filter that fits all steps best, or None where there is none.

    The uncertainty is that of the likelihood together with that of leaving out each step in turn (jackknife), which
    shows what the model does not: a load that steps late, a meter with a lag that changes.

    Args:
        steps: at least two, of any sizes.
        counter: whether values are readings of a counter.
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
    """Return the readings with information: the closer to the step, the closer together."""
    chosen, last_s = [], -math.inf
    for number, second in enumerate(step.time_s):
        if second - last_s >= _THINNER * abs(second):
            chosen.append(number)
            last_s = float(second)
    return Step(step.time_s[chosen], step.value[chosen], step.rises, step.digit)


def _closer(grid: Values, mean: float, sd: float, least: float = -math.inf) -> Values:
    """Return a grid about the bulk of the likelihood, at most ten times as fine as the last grid."""
    half = max(_ZOOM_SD * sd, 3 * (grid[1] - grid[0]))
    return np.linspace(max(mean - half, least, grid[0]), min(mean + half, grid[-1]), _GRID)


def _moments(log_likelihood: Values, lags: Values, averages: Values) -> tuple[Values, Values]:
    """Return means and standard deviations of lag, averaging span and delay; likelihood of shape (lags, averages)."""
    weight = np.exp(log_likelihood - log_likelihood.max())
    weight /= weight.sum()
    lag, average = np.meshgrid(lags, averages, indexing="ij")
    grid = np.array([((lags[1] - lags[0]) ** 2), ((averages[1] - averages[0]) ** 2)]) / 12
    quantities = np.stack([lag, average, lag + average / 2])
    mean = (quantities * weight).sum((1, 2))
    variance = ((quantities - mean[:, None, None]) ** 2 * weight).sum((1, 2))
    return mean, np.sqrt(variance + np.append(grid, grid[0] + grid[1] / 4))


def _log_likelihood(step: Step, lags: Values, averages: Values, counter: bool) -> Values:
    """Return the log-likelihood of a step, which has its own level, rise and noise; shape (lags, averages)."""
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
    # Below a share of the step, of its last digit and of the precision of a double, residuals have no information.
    rise = math.sqrt((left @ left) / n)
    floor = (_FLOOR * rise) ** 2 + digit**2 / 12 + 1e-24
    return np.asarray(-n / 2 * np.log(np.maximum(squares, 0.0) / n + floor))


def _shape(t: Values, lags: Values, averages: Values, counter: bool) -> Values:
    """Return a step of 1 at second 0 as a filter shows it, or its integral for a counter; shape (lags, averages, n)."""
    late = t - lags[:, None, None]
    average = np.maximum(averages, 1e-6)[None, :, None]
    if not counter:
        return np.clip(late / average, 0.0, 1.0)
    inside = np.clip(late, 0.0, average)
    return np.asarray(inside**2 / (2 * average) + np.maximum(late - average, 0.0))


_UPDATES_A_STEP = 3
"""Fewest updates on either side of a step; with fewer the meter is too slow for it."""

_BEFORE = 0.5
"""Share of the load before a step that is used."""

_APART = 3.0
"""Delays of rising and falling power differ if they are more than this many combined standard uncertainties apart."""

_LEAST_APART_S = 0.05


@dataclass(frozen=True)
class Lateness:
    """How late a meter shows power.

    Attributes:
        lag: seconds by which its values are late, beyond half their averaging span.
        average: seconds over which each is a mean.
        delay: lag plus half the averaging span: the delay of a whole step.
        note: what makes it doubtful; empty where nothing does.
    """

    lag: Measured
    average: Measured
    delay: Measured
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return asdict(self)


def lateness(series: Series, edges: Sequence[Edge], origin_ns: int, update: Measured, digit: float) -> Lateness:
    """Fit the steps of a load that a meter has shown.

    Power itself may be late: when it rises, if a clock or a fan speeds up slowly, or when it falls, if a GPU keeps its
    clocks up for a while. A meter delays both alike, so any difference is due to the load, and the quicker
    direction counts.

    If updates can be distinguished, the lag is that of an update; else that of a reading, including the value's age.

    Args:
        series: the readings.
        edges: of loads that the meter sees; empty where it sees none.
        origin_ns: the series' second 0.
        update: seconds between two updates of the source.
        digit: the meter's last digit, in its unit.
    """
    why = _why_not(series, edges, update)
    if why:
        return _nothing(why)
    update_s = update.value or 0.0
    steps = [_step(series, edge, origin_ns, update_s, digit) for edge in edges]
    fit, note = _quicker(steps, series.counter)
    if fit is None:
        return _nothing("too few readings about each step")
    # Errors common to all steps add no spread between them: the times of the start of the load and of updates.
    unsure_s = math.sqrt((np.mean([edge.unsure_s**2 for edge in edges]) + min(series.reading_s, update_s) ** 2) / 12)
    # A mean over less than the time between two values looks instantaneous.
    apart_s = max(update_s, series.reading_s) / math.sqrt(12)
    return Lateness(
        Measured(fit.lag_s, math.hypot(fit.lag_uncertainty_s, unsure_s, apart_s / 2)),
        Measured(fit.average_s, math.hypot(fit.average_uncertainty_s, apart_s)),
        Measured(fit.delay_s, math.hypot(fit.delay_uncertainty_s, unsure_s)),
        note,
    )


def _why_not(series: Series, edges: Sequence[Edge], update: Measured) -> str:
    """Return why the lag cannot be found from the steps; empty if it can."""
    if not edges:
        return "no step of the load was seen"
    if update.bound is None:
        # A gauge may show each load as one level, and change no oftener; a counter always moves.
        return "it changes too rarely to distinguish its updates" if series.counter else ""
    shortest_s = min(min(edge.at_ns - edge.from_ns, edge.to_ns - edge.at_ns) * 1e-9 for edge in edges)
    if shortest_s < _UPDATES_A_STEP * update.bound:
        return f"it changes every {update.bound:.3g} s, too rarely for steps of {shortest_s:.3g} s"
    return ""


def _quicker(steps: Sequence[Step], counter: bool) -> tuple[BoxFilter | None, str]:
    """Return the fit of all steps, or if rising and falling ones differ, of the quicker ones, with a note."""
    rising, falling = (fit_box([step for step in steps if step.rises is rises], counter) for rises in (True, False))
    if rising is None or falling is None:
        return fit_box(steps, counter), ""
    later_s = rising.delay_s - falling.delay_s
    allowed_s = _APART * math.hypot(rising.delay_uncertainty_s, falling.delay_uncertainty_s)
    if abs(later_s) <= max(allowed_s, _LEAST_APART_S):
        return fit_box(steps, counter), ""
    slow, quick = ("rises", "falls") if later_s > 0 else ("falls", "rises")
    note = f"power {slow} {abs(later_s):.2g} s later than it {quick}: the load itself ramps"
    return (falling if later_s > 0 else rising), note


def _step(series: Series, edge: Edge, origin_ns: int, update_s: float, digit: float) -> Step:
    """Return the updates around an edge, with their times."""
    from_s, at_s, to_s = ((instant - origin_ns) * 1e-9 for instant in (edge.from_ns, edge.at_ns, edge.to_ns))
    # Leaves out the after-effects of the previous step in a slow meter.
    part = series.between(at_s - _BEFORE * (at_s - from_s), to_s)
    if not len(part.time_s):
        return Step(part.time_s, part.value, edge.rises, digit)
    if series.counter:
        shown = np.concatenate(([True], np.diff(part.value) > 0))
    else:
        shown = fresh(part.time_s, part.value, update_s)
    knots = knots_of(part.time_s, part.value, update_s, shown)
    return Step(knots.time_s - at_s, knots.value, edge.rises, digit)


def _nothing(reason: str) -> Lateness:
    return Lateness(unknown(reason), unknown(reason), unknown(reason))
