"""A quantity by runtime and batch size, or by the study's compared factors, with each repetition shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from framewatt.figures import marks, notes, style
from framewatt.figures.cells import LABEL, error_bars, heading, headline_rows, labelled, panels, with_intervals
from framewatt.frames.factor_words import factors_of, named
from framewatt.frames.headline import headline_of_runs, only_aside
from framewatt.study.factors import COMPARED, shared

TITLE = "{what} per {per} by {compared}"
_SPREAD = 0.5
"""Share of a label's row over which its repetitions are spread, in the order in which they ran."""
_MOST_IN_A_COLUMN = 8
_LEAST = 4.5
"""Rows for which there is room in the smallest figure, so that its notes leave its axes some."""


@dataclass(frozen=True)
class Quantity:
    """What is drawn.

    Attributes:
        name: of it, as a title begins.
        column: of the runs frame, or `time_per_sample_s`.
        unit: SI unit.
        best: what the cell with the least of it is.
    """

    name: str
    column: str
    unit: str
    best: str


@style.styled
def draw_repetitions(runs: pd.DataFrame, cells: pd.DataFrame, compared: Sequence[str], quantity: Quantity) -> Figure:
    """One panel per group of comparable cells, one row per cell: every repetition as a dot, the mean with its interval.

    Args:
        runs: the runs frame (framewatt.frames.frames.runs_columns); totals are drawn.
        cells: statistics of cells; their intervals become error bars.
        compared: the factors in which cells are compared.
        quantity: what is drawn.
    """
    head = headline_of_runs(runs)
    title = TITLE.format(what=quantity.name, per=head.per, compared=named(compared))
    rows = labelled(headline_rows(runs, head), compared)
    if rows.empty:
        return notes.empty(title, "No run gave an energy that counts.", [notes.left_out(runs)])
    aside = headline_rows(only_aside(runs), head)
    every = panels(rows, shared(factors_of(rows), compared))
    parts = notes.evenly(every, notes.MOST_PANELS)
    columns = 1 if len(parts) <= _MOST_IN_A_COLUMN else 2
    heights = [part["cell"].nunique() + 1.6 for _, part in parts]
    across = [max(heights[i : i + columns]) for i in range(0, len(heights), columns)]
    figure = Figure(figsize=(7.4 if columns == 1 else 10, 0.75 + 0.3 * max(sum(across), _LEAST)), layout="constrained")
    grid = list(figure.subplots(len(across), columns, squeeze=False, height_ratios=across).flat)
    colours = style.looks(rows[LABEL])
    means = [with_intervals(part, cells, quantity.column) for _, part in parts]
    shown = [[*part[quantity.column], *points["high"].dropna()] for (_, part), points in zip(parts, means, strict=True)]
    logarithmic = style.is_wide(shown, from_zero=True)
    pale = 0
    for number, (axes, (levels, part)) in enumerate(zip(grid, parts, strict=False)):
        notes.panel_title(axes, heading(levels), 5.8 if columns == 1 else 3.5)
        heights_of = _panel(axes, part, means[number], quantity, colours)
        if number >= len(parts) - columns:
            axes.set_xlabel(f"{quantity.name.lower()} per {head.per}")
        style.scale(axes.xaxis, shown[number], quantity.unit, logarithmic=logarithmic, from_zero=True, ticks=8)
        own = aside.assign(height=aside["cell"].map(heights_of))
        pale += marks.pale_rings(axes, own[own["height"].notna()], quantity.column, "height")
    for axes in grid[len(parts) :]:
        axes.set_axis_off()
    handles = [
        Line2D([], [], marker="o", ls="", ms=3.5, color="#777777", label="a run, the first block topmost"),
        Line2D([], [], marker="|", ls="-", ms=11, color="#222222", label="mean and its interval"),
    ]
    handles += marks.handles(notes.disturbed(rows), pale)
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    how = f"The {quantity.best} {' and '.join(compared[:1])} is on top".replace("_", " ")
    estimate = notes.estimate_of(rows, runs) if quantity.column == head.energy else ""
    sentences = [
        how,
        notes.panels_words(len(parts), len(every)),
        notes.disturbed_words(rows, "drawn as rings"),
        notes.left_out(runs, pale),
    ]
    return notes.finish(figure, title, estimate, sentences)


def _panel(
    axes: Axes, rows: pd.DataFrame, points: pd.DataFrame, quantity: Quantity, looks: dict[str, style.Look]
) -> dict[str, int]:
    """Draw a panel; returns at which height each cell is."""
    points = points.sort_values("mean", ascending=False, ignore_index=True)
    for height, point in enumerate(points.itertuples(index=False)):
        own = rows[rows["cell"] == point.cell].sort_values("repetition")
        last = max(len(own) - 1, 1)
        offsets = [height + _SPREAD * (0.5 - i / last) if len(own) > 1 else height for i in range(len(own))]
        paint = looks[point.label].colour
        marks.dots(axes, own.assign(height=offsets), quantity.column, "height", s=14, color=paint, zorder=3)
    axes.errorbar(
        points["mean"], points.index, xerr=error_bars(points), fmt="|", ms=14, color="#222222", elinewidth=1.1, zorder=4
    )
    axes.set_yticks(points.index, points[LABEL])
    axes.set_ylim(-0.6, len(points) - 0.4)
    axes.grid(visible=False, axis="y")
    return {cell: height for height, cell in enumerate(points["cell"])}


def draw_energy(runs: pd.DataFrame, cells: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """Return the figure of energy.

    Args:
        runs: the runs frame (framewatt.frames.frames.runs_columns); totals are drawn.
        cells: statistics of cells; their intervals become error bars.
        compared: the factors in which cells are compared.
    """
    quantity = Quantity("Energy", headline_of_runs(runs).energy, "J", "most frugal")
    figure: Figure = draw_repetitions(runs, cells, compared, quantity)
    return figure


def draw_time(runs: pd.DataFrame, cells: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """Return the figure of time.

    Args:
        runs: the runs frame (framewatt.frames.frames.runs_columns); totals are drawn.
        cells: statistics of cells; their intervals become error bars.
        compared: the factors in which cells are compared.
    """
    quantity = Quantity("Time", headline_of_runs(runs).time, "s", "fastest")
    figure: Figure = draw_repetitions(runs, cells, compared, quantity)
    return figure
