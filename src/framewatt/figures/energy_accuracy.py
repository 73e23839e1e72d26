"""Energy per sample against accuracy, or the metric of the task, one point per cell."""

import re
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from framewatt.figures import marks, notes, style
from framewatt.figures.cells import LABEL, error_bars, heading, labelled, panels, with_intervals
from framewatt.figures.labels import Named, name_points, room
from framewatt.frames.factor_words import factors_of
from framewatt.frames.headline import headline_of_runs, only_aside
from framewatt.frames.quality import METRIC, QUALITY, QUALITY_UNKNOWN, is_higher_better, with_quality, words_of
from framewatt.study.factors import COMPARED, shared
from framewatt.tasks import METRICS

TITLE = "Energy per {per} against {quality}"
_MOST_ACROSS = 3
_LABELS_IN = 0.9
"""Width of the labels along the y axis of a panel."""


@style.styled
def draw(runs: pd.DataFrame, cells: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """Return one panel per group of comparable cells: mean joules over mean quality, and every run as a dot.

    Where no run has a value of it, as with random weights, the figure states that in words.

    Args:
        runs: the runs frame (framewatt.frames.frames.runs_columns); totals are drawn.
        cells: statistics of cells; their intervals become error bars.
        compared: the factors in which cells are compared.
    """
    head = headline_of_runs(runs)
    runs = with_quality(runs)
    title = TITLE.format(per=head.per, quality=words_of(runs[METRIC]))
    rows = notes.usable(runs, [head.energy])
    if rows.empty:
        return notes.empty(title, "No run gave an energy that counts.", [notes.left_out(runs)])
    rows = labelled(notes.usable(runs, [head.energy, QUALITY]), compared)
    if rows.empty:
        return notes.empty(title, _why_none(runs), [notes.left_out(runs)])
    aside = notes.usable(only_aside(runs), [head.energy, QUALITY])
    every = panels(rows, shared(factors_of(rows), compared))
    parts = notes.evenly(every, notes.MOST_PANELS)
    across = min(_MOST_ACROSS, len(parts))
    lines = -(-len(parts) // across)
    larger = max(room(part.drop_duplicates("cell")[LABEL]) for _, part in parts)
    figure = Figure(figsize=(2.6 + 3.2 * larger * across, 1.2 + 2.9 * larger * lines), layout="constrained")
    grid = list(figure.subplots(lines, across, squeeze=False).flat)
    looks = style.looks(rows[LABEL])
    logarithmic = style.is_wide(part[head.energy] for _, part in parts)
    named: list[Named] = []
    pale = 0
    for axes, (levels, part) in zip(grid, parts, strict=False):
        notes.panel_title(axes, heading(levels), 3.2 * larger - _LABELS_IN)
        axes.set(xlabel=words_of(part[METRIC]), ylabel=f"energy per {head.per}")
        named.append(_panel(axes, part, cells, head.energy, looks))
        style.scale(axes.yaxis, part[head.energy], "J", logarithmic=logarithmic)
        pale += marks.pale_rings(axes, aside[aside["cell"].isin(part["cell"])], QUALITY, head.energy)
    for axes in grid[len(parts) :]:
        axes.set_axis_off()
    handles = [
        Line2D([], [], marker=look.marker, color=look.colour, ls="", ms=7, label=label) for label, look in looks.items()
    ]
    handles += marks.handles(notes.disturbed(rows), pale)
    figure.legend(handles=handles, loc="outside right center", alignment="left")
    sides = {"right" if is_higher_better(metric) else "left" for metric in rows[METRIC]}
    better = f"Down and to the {sides.pop()} is better" if len(sides) == 1 else "Down is better"
    how = f"Large: mean of a cell's runs, with the interval of the mean; small: every run. {better}"
    fullest = max(part["cell"].nunique() for _, part in parts)
    groups = notes.panels_words(len(parts), len(every))
    left_out = "; ".join(filter(None, [groups, notes.names_words(fullest)]))
    sentences = [how, left_out, notes.disturbed_words(rows, "drawn as rings"), notes.left_out(runs, pale)]
    notes.finish(figure, title, notes.estimate_of(rows, runs), sentences)
    name_points(figure, named)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, energy: str, looks: dict[str, style.Look]) -> Named:
    """Draw a panel, all but the scale of energies; returns where its cells lie and their names."""
    energies = with_intervals(rows, cells, energy)
    metric = rows[METRIC].iloc[0]
    qualities = with_intervals(rows, cells, metric)
    bars = error_bars(energies)
    for index, (point, quality) in enumerate(zip(energies.itertuples(index=False), qualities["mean"], strict=True)):
        look = looks[point.label]
        own = rows[rows["cell"] == point.cell]
        marks.dots(axes, own, QUALITY, energy, s=6, color=look.colour)
        reach = [[bars[0][index]], [bars[1][index]]]
        axes.errorbar(
            quality, point.mean, yerr=reach, fmt=look.marker, ms=7, color=look.colour, mec="#222222", mew=0.7, zorder=3
        )
    axes.margins(x=0.2, y=0.1)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    if METRICS[metric].is_share():
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}%"))
    return axes, list(zip(qualities["mean"], energies["mean"], strict=True)), list(energies[LABEL])


def _why_none(runs: pd.DataFrame) -> str:
    """Return why no run has a value of its metric, as far as their flags tell."""
    what = words_of(runs[METRIC])
    flags = {flag for flags in runs["flags"].dropna() for flag in str(flags).split("; ")}
    reasons = sorted(flag for flag in flags if re.search(QUALITY_UNKNOWN, flag))
    return f"No {what}: {reasons[0]}." if reasons else f"No {what} is known of any run."
