"""Energy per sample against accuracy, one point per cell."""

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
from framewatt.study.factors import COMPARED, shared

TITLE = "Energy per {per} against accuracy"
_MOST_ACROSS = 3


@style.styled
def draw(runs: pd.DataFrame, cells: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """One panel per group of comparable cells: mean joules over mean accuracy, and every run as a dot of its own.

    Where no run has an accuracy, as with random weights, the figure says so in words.

    Args:
        runs: the runs frame (framewatt.frames.frames.runs_columns); totals are drawn.
        cells: statistics of cells, whose intervals become error bars.
        compared: the factors in which cells are compared.
    """
    head = headline_of_runs(runs)
    title = TITLE.format(per=head.per)
    rows = notes.usable(runs, [head.energy])
    if rows.empty:
        return notes.empty(title, "No run gave an energy that counts.", [notes.left_out(runs)])
    rows = labelled(notes.usable(runs, [head.energy, "accuracy"]), compared)
    if rows.empty:
        return notes.empty(title, _why_none(runs), [notes.left_out(runs)])
    parts = panels(rows, shared(factors_of(rows), compared))
    across = min(_MOST_ACROSS, len(parts))
    lines = -(-len(parts) // across)
    figure = Figure(figsize=(2.6 + 3.2 * across, 1.2 + 2.9 * lines), layout="constrained")
    grid = list(figure.subplots(lines, across, squeeze=False).flat)
    looks = style.looks(rows[LABEL])
    for axes, (levels, part) in zip(grid, parts, strict=False):
        axes.set(title=heading(levels), xlabel="accuracy", ylabel=f"energy per {head.per}")
        _panel(axes, part, cells, head.energy, looks)
    for axes in grid[len(parts) :]:
        axes.set_axis_off()
    handles = [
        Line2D([], [], marker=look.marker, color=look.colour, ls="", ms=7, label=label) for label, look in looks.items()
    ]
    figure.legend(handles=handles, loc="outside right center", alignment="left")
    how = (
        "Large: mean of a cell's runs, with the interval of the mean; small: every run. Down and to the right is better"
    )
    return notes.finish(
        figure, title, notes.estimate_words(rows["estimated"]), [how, notes.disturbed_words(runs), notes.left_out(runs)]
    )


def _panel(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, energy: str, looks: dict[str, style.Look]) -> None:
    energies = with_intervals(rows, cells, energy)
    accuracies = with_intervals(rows, cells, "accuracy")
    bars = error_bars(energies)
    for index, (point, accuracy) in enumerate(zip(energies.itertuples(index=False), accuracies["mean"], strict=True)):
        look = looks[point.label]
        own = rows[rows["cell"] == point.cell]
        axes.scatter(own["accuracy"], own[energy], s=6, color=look.colour, linewidths=0, label="_repetitions", zorder=2)
        reach = [[bars[0][index]], [bars[1][index]]]
        axes.errorbar(
            accuracy, point.mean, yerr=reach, fmt=look.marker, ms=7, color=look.colour, mec="#222222", mew=0.7, zorder=3
        )
    axes.margins(x=0.15)
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    style.scale(axes.yaxis, rows[energy], "J")


def _why_none(runs: pd.DataFrame) -> str:
    """Why no run has an accuracy, as far as their flags tell."""
    flags = {flag for flags in runs["flags"].dropna() for flag in str(flags).split("; ")}
    told = sorted(flag for flag in flags if flag.endswith("accuracy is unknown"))
    return f"No accuracy: {told[0]}." if told else "No run has an accuracy."
