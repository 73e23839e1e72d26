"""Energy per sample against accuracy, or the metric of the task, one point per cell."""

import re
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from framewatt.figures import notes, style
from framewatt.figures.cells import LABEL, error_bars, heading, labelled, panels, with_intervals
from framewatt.frames.factor_columns import factors_of
from framewatt.frames.headline import headline_of_runs
from framewatt.frames.quality import METRIC, QUALITY, QUALITY_UNKNOWN, is_higher_better, with_quality, words_of
from framewatt.study.factors import COMPARED, shared
from framewatt.tasks import METRICS

TITLE = "Energy per {per} against {quality}"
_MOST_ACROSS = 3


@style.styled
def draw(runs: pd.DataFrame, cells: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """One panel per group of comparable cells: mean joules over mean quality, and every run as a dot.

    Where no run has a value of it, as with random weights, the figure says so in words.

    Args:
        runs: the runs frame (framewatt.frames.columns.runs_columns); totals are drawn.
        cells: statistics of cells, whose intervals become error bars.
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
    parts = panels(rows, shared(factors_of(rows), compared))
    across = min(_MOST_ACROSS, len(parts))
    lines = -(-len(parts) // across)
    figure = Figure(figsize=(2.6 + 3.2 * across, 1.2 + 2.9 * lines), layout="constrained")
    grid = list(figure.subplots(lines, across, squeeze=False).flat)
    looks = style.looks(rows[LABEL])
    for axes, (levels, part) in zip(grid, parts, strict=False):
        axes.set(title=heading(levels), xlabel=words_of(part[METRIC]), ylabel=f"energy per {head.per}")
        _panel(axes, part, cells, head.energy, looks)
    for axes in grid[len(parts) :]:
        axes.set_axis_off()
    handles = [
        Line2D([], [], marker=look.marker, color=look.colour, ls="", ms=7, label=label) for label, look in looks.items()
    ]
    figure.legend(handles=handles, loc="outside right center", alignment="left")
    sides = {"right" if is_higher_better(metric) else "left" for metric in rows[METRIC]}
    better = f"Down and to the {sides.pop()} is better" if len(sides) == 1 else "Down is better"
    how = f"Large: mean of a cell's runs, with the interval of the mean; small: every run. {better}"
    return notes.finish(
        figure, title, notes.estimate_words(rows["estimated"]), [how, notes.disturbed_words(runs), notes.left_out(runs)]
    )


def _panel(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, energy: str, looks: dict[str, style.Look]) -> None:
    energies = with_intervals(rows, cells, energy)
    metric = rows[METRIC].iloc[0]
    qualities = with_intervals(rows, cells, metric)
    bars = error_bars(energies)
    for index, (point, quality) in enumerate(zip(energies.itertuples(index=False), qualities["mean"], strict=True)):
        look = looks[point.label]
        own = rows[rows["cell"] == point.cell]
        axes.scatter(own[QUALITY], own[energy], s=6, color=look.colour, linewidths=0, label="_repetitions", zorder=2)
        reach = [[bars[0][index]], [bars[1][index]]]
        axes.errorbar(
            quality, point.mean, yerr=reach, fmt=look.marker, ms=7, color=look.colour, mec="#222222", mew=0.7, zorder=3
        )
    axes.margins(x=0.15)
    if METRICS[metric].is_share():
        axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    style.scale(axes.yaxis, rows[energy], "J")


def _why_none(runs: pd.DataFrame) -> str:
    """Why no run has a value of its metric, as far as their flags tell."""
    what = words_of(runs[METRIC])
    flags = {flag for flags in runs["flags"].dropna() for flag in str(flags).split("; ")}
    told = sorted(flag for flag in flags if re.search(QUALITY_UNKNOWN, flag))
    return f"No {what}: {told[0]}." if told else f"No {what} is known of any run."
