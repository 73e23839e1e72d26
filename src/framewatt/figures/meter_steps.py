"""Steps of load as each meter saw them: `make preflight METERS=1`."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from framewatt.characterisation.channel import Character
from framewatt.characterisation.measure import Characterisation
from framewatt.characterisation.schedule import ALL_CORES, GPU, GPU_CLOSED, IDLE, ONE_CORE, period_of
from framewatt.characterisation.series import Series
from framewatt.energy.windows import Values
from framewatt.figures import notes, style

TITLE = "Steps of load as each meter saw them"

_WAVES = "GPU, square waves"

_SHADES: dict[str, dict[str, Any]] = {
    ONE_CORE: {"facecolor": "#fde6b8", "edgecolor": "#d8b36a", "hatch": "//", "lw": 0},
    ALL_CORES: {"facecolor": "#d5ecd5", "edgecolor": "#d5ecd5", "lw": 0},
    GPU: {"facecolor": "#e6def2", "edgecolor": "#b9a8d6", "hatch": "..", "lw": 0},
    _WAVES: {"facecolor": "#f3eef9", "edgecolor": "#b9a8d6", "hatch": "||", "lw": 0},
    GPU_CLOSED: {"facecolor": "#f2f2f2", "edgecolor": "#c8c8c8", "hatch": "\\\\", "lw": 0},
}
"""Hatches tell the loads apart in grey."""

_TRUSTED, _DOUBTED = "#0072b2", style.ESTIMATE_COLOUR
_SHORTEST_STEP_S = 0.1
"""Power from a counter is drawn over steps of at least this long: shorter ones show the counter's digits."""


@style.styled
def draw(measured: Characterisation) -> Figure:
    """Return one panel per channel: its power over time, with the loads shaded.

    Args:
        measured: what the meters showed; at least one channel.
    """
    figure = Figure(figsize=(8.4, 0.9 + 1.25 * len(measured.characters)), layout="constrained")
    panels = figure.subplots(len(measured.characters), 1, sharex=True, squeeze=False)[:, 0]
    for axes, one, series, wrong in zip(panels, measured.characters, measured.series, measured.problems, strict=True):
        _panel(axes, one, series, measured, not wrong)
    panels[-1].set_xlabel("time (s)")
    loads = dict.fromkeys(_shaded_as(stretch.load) for stretch in measured.stretches if stretch.load != IDLE)
    handles = [Patch(**_SHADES[load], label=load) for load in loads]
    figure.legend(handles=handles, loc="outside right center", alignment="left")
    return notes.finish(figure, TITLE, "", measured.disturbances[:3])


def _panel(axes: Axes, one: Character, series: Series, measured: Characterisation, trusted: bool) -> None:
    for stretch in measured.stretches:
        if stretch.load != IDLE:
            edges_s = ((instant - measured.origin_ns) * 1e-9 for instant in (stretch.start_ns, stretch.end_ns))
            axes.axvspan(*edges_s, **_SHADES[_shaded_as(stretch.load)])
    time_s, power_w = power_of(series)
    drawn = "default" if not series.counter else "steps-post"
    axes.plot(time_s, power_w, color=_TRUSTED if trusted else _DOUBTED, lw=0.8, drawstyle=drawn)
    axes.set_title(one.name if trusted else f"{one.name}: not to be trusted")
    axes.set_ylabel("power")
    if not len(power_w):
        notes.nothing(axes, "no reading")
    else:
        style.scale(axes.yaxis, [float(power_w.max()) or 1.0], "W", from_zero=True)


def _shaded_as(load: str) -> str:
    """Return the entry of _SHADES for a load: square waves of all periods share one."""
    return load if period_of(load) is None else _WAVES


def power_of(series: Series) -> tuple[Values, Values]:
    """Times in seconds and watts; of a counter, mean power of steps in which it moved, the last one repeated."""
    if not series.counter or len(series.time_s) < 2:
        return series.time_s, series.value
    moved = np.flatnonzero(np.concatenate(([True], np.diff(series.value) > 0)))
    chosen = [int(moved[0])]
    for number in moved[1:]:
        if series.time_s[number] - series.time_s[chosen[-1]] >= _SHORTEST_STEP_S:
            chosen.append(int(number))
    if len(chosen) < 2:
        chosen = [0, len(series.time_s) - 1]
    power_w = np.diff(series.value[chosen]) / np.diff(series.time_s[chosen])
    return series.time_s[chosen], np.append(power_w, power_w[-1])
