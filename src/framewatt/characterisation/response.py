"""A meter's lag and averaging span, from its response to steps of load."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from framewatt.characterisation.measured import Measured, unknown
from framewatt.characterisation.schedule import Edge
from framewatt.characterisation.series import Series
from framewatt.characterisation.step_fit import BoxFilter, Step, fit_box
from framewatt.energy.counter_steps import fresh, knots_of

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
        """JSON-ready values."""
        return asdict(self)


def lateness(series: Series, edges: Sequence[Edge], origin_ns: int, update: Measured, digit: float) -> Lateness:
    """Fit the steps of a load that a meter has shown.

    Power itself may be late: usually when it rises, if a clock or a fan speeds up slowly; when it falls, if a GPU keeps
    its clocks up for a while. A meter delays both alike, so any difference is due to the load, and the quicker
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
    found, note = _quicker(steps, series.counter)
    if found is None:
        return _nothing("too few readings about each step")
    # Errors common to all steps add no spread between them: the times of the load's begin and of updates.
    unsure_s = math.sqrt((np.mean([edge.unsure_s**2 for edge in edges]) + min(series.reading_s, update_s) ** 2) / 12)
    # A mean over less than the time between two values looks instantaneous.
    apart_s = max(update_s, series.reading_s) / math.sqrt(12)
    return Lateness(
        Measured(found.lag_s, math.hypot(found.lag_uncertainty_s, unsure_s, apart_s / 2)),
        Measured(found.average_s, math.hypot(found.average_uncertainty_s, apart_s)),
        Measured(found.delay_s, math.hypot(found.delay_uncertainty_s, unsure_s)),
        note,
    )


def _why_not(series: Series, edges: Sequence[Edge], update: Measured) -> str:
    """Why the lag cannot be found from the steps; empty if it can."""
    if not edges:
        return "no step of the load was seen"
    if update.bound is None:
        # A gauge may show each load as one level, and change no oftener; a counter always moves.
        return "it changes too rarely to tell its updates" if series.counter else ""
    shortest_s = min(min(edge.at_ns - edge.from_ns, edge.to_ns - edge.at_ns) * 1e-9 for edge in edges)
    if shortest_s < _UPDATES_A_STEP * update.bound:
        return f"it changes every {update.bound:.3g} s, too rarely for steps of {shortest_s:.3g} s"
    return ""


def _quicker(steps: Sequence[Step], counter: bool) -> tuple[BoxFilter | None, str]:
    """The fit of all steps, or if rising and falling ones differ, of the quicker ones, with a note."""
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
    """The updates around an edge, with their times."""
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
