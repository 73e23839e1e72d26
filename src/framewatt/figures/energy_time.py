"""Energy against time, per sample or per run: after Georgiou et al. 2022, figure 1."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from framewatt.figures import marks, notes, style
from framewatt.figures.cells import LABEL, error_bars, heading, headline_rows, labelled, panels, with_intervals
from framewatt.figures.labels import Named, name_points, point_of, room
from framewatt.frames.factor_words import factors_of
from framewatt.frames.headline import Headline, headline_of_runs, only_aside
from framewatt.frames.quality import METRIC, QUALITY, with_quality, words_of
from framewatt.study.factors import COMPARED, shared

TITLE = "Energy against time, {of}"
_SMALLEST_PT2, _LARGEST_PT2 = 34.0, 90.0
_NO_QUALITY = "#bbbbbb"
_MOST_ACROSS = 3
_LABELS_IN = 0.9
"""Width of the labels along the y axis of a panel."""


@style.styled
def draw(runs: pd.DataFrame, cells: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """One point per cell: mean joules over mean seconds, colour for quality, marker for label, size for batch size.

    Args:
        runs: the runs frame (framewatt.frames.frames.runs_columns); totals are drawn, every run as a dot of its own.
        cells: statistics of cells; their intervals become error bars where a cell ran more than once.
        compared: the factors in which cells are compared.
    """
    head = headline_of_runs(runs)
    title = TITLE.format(of=f"per {head.per}")
    rows = labelled(headline_rows(with_quality(runs), head), compared)
    if rows.empty:
        return notes.empty(title, "No run gave an energy that counts.", [notes.left_out(runs)])
    aside = headline_rows(with_quality(only_aside(runs)), head)
    group = [name for name in shared(factors_of(rows), compared) if name not in ("phase", "batch_size")]
    grid, groups = _grid(rows, group)
    across = len(grid[0])
    drawn = [panel for line in grid for panel in line if panel is not None]
    larger = max(room(_names(part)) for _, part in drawn)
    figure = Figure(figsize=(2.6 + 3.4 * larger * across, 1.2 + 3.2 * larger * len(grid)), layout="constrained")
    axes_of = figure.subplots(len(grid), across, squeeze=False)
    looks = style.looks(rows[LABEL])
    scales = Scales(
        quality_colours(rows),
        _sizes(rows),
        {k: look.marker for k, look in looks.items()},
        {name: style.is_wide(part[name] for _, part in drawn) for name in (head.time, head.energy)},
        len(rows) <= notes.MOST_DOTS,
    )
    named: list[Named] = []
    pale = 0
    for axes, panel in zip(axes_of.flat, (panel for line in grid for panel in line), strict=True):
        if panel is None:
            axes.set_axis_off()
            continue
        notes.panel_title(axes, heading(panel[0]), 3.4 * larger - _LABELS_IN)
        named.append(_panel(axes, panel[1], cells, head, scales))
        pale += marks.pale_rings(axes, aside[aside["cell"].isin(panel[1]["cell"])], head.time, head.energy)
    if scales.colours is not None:
        what = words_of(rows[METRIC])
        figure.colorbar(scales.colours, ax=axes_of, label=what, shrink=0.8, aspect=30, ticks=MaxNLocator(4))
    handles = [*_legend(scales), *marks.handles(notes.disturbed(rows), pale)]
    figure.legend(handles=handles, loc="outside right center", alignment="left")
    fullest = max(part["cell"].nunique() for _, part in drawn)
    how = "Large: mean of a cell's runs, with the interval of the mean" + marks.small_words(rows)
    left_out = "; ".join(filter(None, [groups, notes.dots_words(len(rows)), notes.names_words(fullest)]))
    sentences = [how, left_out, notes.disturbed_words(rows, "drawn as rings"), notes.left_out(runs, pale)]
    notes.finish(figure, title, notes.estimate_of(rows, runs), sentences)
    name_points(figure, named)
    return figure


@dataclass(frozen=True)
class Scales:
    """Scales of colour, size and marker.

    Attributes:
        colours: of qualities, None where there is none.
        sizes: area in square points by batch size; None is that of a study without the factor.
        markers: by label.
        logarithmic: whether the axes of a quantity are, by its column.
        dots: whether every run is drawn.
    """

    colours: ScalarMappable | None
    sizes: dict[Any, float]
    markers: dict[str, str]
    logarithmic: dict[str, bool]
    dots: bool


Panel = tuple[dict[str, Any], pd.DataFrame] | None


def _grid(rows: pd.DataFrame, group: list[str]) -> tuple[list[list[Panel]], str]:
    """Return panels line by line, and what is left out: columns of phases where each group has all, else what fits."""
    phases = panels(rows, ["phase"]) if "phase" in factors_of(rows) else []
    every = panels(rows, group)
    groups = notes.evenly(every, notes.MOST_PANELS)
    left_out_words = notes.panels_words(len(groups), len(every))
    grid: list[Panel]
    if len(phases) > 1:
        lines = [
            [({**phase, **levels}, part[part["phase"] == phase["phase"]]) for phase, _ in phases]
            for levels, part in groups
        ]
        grid = [panel for line in lines for panel in line if len(panel[1])]
        if len(grid) == len(lines) * len(phases):
            return [list(line) for line in lines], left_out_words
    else:
        grid = [({**(phases[0][0] if phases else {}), **levels}, part) for levels, part in groups]
    across = min(_MOST_ACROSS, len(grid))
    grid += [None] * (-len(grid) % across)
    return [grid[i : i + across] for i in range(0, len(grid), across)], left_out_words


def _names(rows: pd.DataFrame) -> list[str]:
    """Return the name of every cell of a panel: its label and batch size."""
    cells = rows.drop_duplicates("cell")
    sizes = cells.get("batch_size", [None] * len(cells))
    return [name_of(name, size) for name, size in zip(cells[LABEL], sizes, strict=True)]


def name_of(label: str, batch_size: Any) -> str:
    """Return the name of a point: the compared levels, and the batch size where that is none of them.

    Args:
        label: the compared levels.
        batch_size: None in a study without that factor.
    """
    return label if batch_size is None or f"batch {batch_size}" in label else f"{label}, {batch_size}"


def _panel(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, head: Headline, scales: Scales) -> Named:
    """Draw a panel; returns where its cells lie and their names."""
    axes.set(xlabel=f"time per {head.per}", ylabel=f"energy per {head.per}")
    points = with_intervals(rows, cells, head.energy)
    times = with_intervals(rows, cells, head.time)
    quality = rows[QUALITY].groupby(rows["cell"]).mean()
    marks.dots(axes, rows, head.time, head.energy, quietly=not scales.dots, s=5, color="#777777")
    axes.errorbar(
        times["mean"],
        points["mean"],
        xerr=error_bars(times),
        yerr=error_bars(points),
        fmt="none",
        ecolor="#999999",
        elinewidth=0.9,
        zorder=3,
    )
    for time_s, point in zip(times["mean"], points.itertuples(index=False), strict=True):
        value = quality[point.cell]
        face = _NO_QUALITY if scales.colours is None or pd.isna(value) else scales.colours.to_rgba(value)
        shape = scales.markers[point.label]
        size = scales.sizes[getattr(point, "batch_size", None)]
        axes.scatter(
            time_s,
            point.mean,
            s=size,
            marker=shape,
            color=[face],
            edgecolor="#222222",
            linewidth=0.7,
            zorder=4,
            gid=point_of(point.cell),
        )
    axes.margins(x=0.2, y=0.1)
    style.scale(axes.xaxis, rows[head.time], "s", logarithmic=scales.logarithmic[head.time], ticks=4)
    style.scale(axes.yaxis, rows[head.energy], "J", logarithmic=scales.logarithmic[head.energy])
    return axes, list(zip(times["mean"], points["mean"], strict=True)), _names(points)


def quality_colours(rows: pd.DataFrame) -> ScalarMappable | None:
    """Return colours over the qualities grid; None where there is none, or several metrics, which share no scale.

    Args:
        rows: with METRIC and QUALITY.
    """
    known = rows[rows[QUALITY].notna()]
    if known[METRIC].nunique() != 1:
        return None
    values = known[QUALITY]
    middle, half = (values.min() + values.max()) / 2, max(values.max() - values.min(), 0.02) / 2
    return ScalarMappable(Normalize(middle - half, middle + half), cmap="cividis")


def _sizes(rows: pd.DataFrame) -> dict[Any, float]:
    """Marker area in square points by batch size, evenly from the smallest batch to the largest."""
    levels = sorted(rows["batch_size"].unique()) if "batch_size" in factors_of(rows) else [None]
    step = (_LARGEST_PT2 - _SMALLEST_PT2) / max(len(levels) - 1, 1)
    return {level: _SMALLEST_PT2 + i * step for i, level in enumerate(levels)}


def _legend(scales: Scales) -> Iterator[Line2D]:
    for label, marker in scales.markers.items():
        yield _handle(marker, 7.0, label)
    for batch, size in notes.evenly(list(scales.sizes.items()), notes.MOST_LISTED):
        if batch is not None:
            yield _handle("o", size**0.5, f"batch {batch}")


def _handle(shape: str, size: float, label: str) -> Line2D:
    return Line2D([], [], marker=shape, markersize=size, label=label, ls="", color="white", markeredgecolor="#222222")
