"""Energy, run time and accuracy of every model and framework: Georgiou et al. 2022, figure 1."""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from framewatt.figures import beside_paper as frameworks
from framewatt.figures import notes, style

TITLE = "georgiou2022, Figure 1: energy and run time"
_LARGEST_PT2 = 900.0
_OFFSETS = {"pytorch": -0.2, "tensorflow": 0.2}
_SPREAD = 0.12


@style.styled
def draw(runs: pd.DataFrame, phases: str) -> Figure:
    """Draw a circle for each model and framework: height is mean energy, area is mean run time; each run is a dot.

    Args:
        runs: columns model, framework, repetition, energy_j (PKG + RAM + GPU) and run_time_s, in the order of the
            models.
        phases: what a run spans, in words.
    """
    if runs.empty:
        return notes.empty(TITLE, "No raw results are given.")
    models = list(dict.fromkeys(runs["model"]))
    figure = Figure(figsize=(1.6 + 1.25 * len(models), 4.6), layout="constrained")
    axes = figure.add_subplot()
    largest_s = runs.groupby(["model", "framework"])["run_time_s"].mean().max()
    for (model, framework), cell in runs.groupby(["model", "framework"], sort=False):
        _cell(axes, models.index(model), framework, cell, largest_s)
    axes.set_xticks(range(len(models)), models)
    axes.set_xlim(-0.6, len(models) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("energy: PKG + RAM + GPU")
    style.scale(axes.yaxis, runs["energy_j"], "J", logarithmic=style.is_wide([runs["energy_j"]]))
    low, high = axes.get_ylim()
    axes.set_ylim(low / 1.15, high * 1.25)
    present = [name for name in frameworks.NAMES if name in set(runs["framework"])]
    figure.legend(handles=frameworks.handles(present, shape="o"), loc="outside right center")
    how = [
        f"Of {phases}. Circle: mean energy, its area the mean run time (in words beside it); dots: every run.",
        "Colour is not accuracy, as in the paper: it prints no accuracy as a number, and the raw results hold none.",
    ]
    return notes.finish(figure, TITLE, "", how)


def _cell(axes: Axes, place: int, framework: str, cell: pd.DataFrame, largest_s: float) -> None:
    x = place + _OFFSETS.get(framework, 0.0)
    look = frameworks.LOOKS[framework].colour
    mean_j, mean_s = cell["energy_j"].mean(), cell["run_time_s"].mean()
    area = _LARGEST_PT2 * mean_s / largest_s
    axes.scatter(x, mean_j, s=area, color=look, alpha=0.55, linewidths=0.8, edgecolor=look)
    ordered = cell.sort_values("repetition")["energy_j"]
    step = 2 * _SPREAD / max(len(ordered) - 1, 1)
    places = [x - _SPREAD + i * step for i in range(len(ordered))]
    axes.scatter(places, ordered, s=5, color="#333333", linewidths=0, zorder=3)
    axes.annotate(
        f"{mean_s:.0f}{style.NO_BREAK_SPACE}s",
        (x, mean_j),
        xytext=(0, -math.sqrt(area / math.pi) - 9),
        textcoords="offset points",
        ha="center",
        fontsize=6.5,
        color=style.NOTE_COLOUR,
    )
