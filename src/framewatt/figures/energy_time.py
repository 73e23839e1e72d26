"""Energy per sample against time per sample: after Georgiou et al. 2022, figure 1."""

from collections.abc import Iterator
from itertools import product

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from framewatt.figures import notes, style
from framewatt.figures.cells import error_bars, with_intervals

TITLE = "Energy against time, per sample"
_ENERGY, _TIME = "energy_per_sample_j", "time_per_sample_s"
_SMALLEST_PT2, _LARGEST_PT2 = 34.0, 90.0
_NO_ACCURACY = "#bbbbbb"


@style.styled
def draw(runs: pd.DataFrame, cells: pd.DataFrame) -> Figure:
    """A point a cell: mean joules over mean seconds, colour for accuracy, marker for runtime, size for batch size.

    Args:
        runs: the runs frame (framewatt.frames.RUNS_COLUMNS); totals are drawn, every run as a dot of its own.
        cells: statistics of cells, whose intervals become error bars where a cell ran more than once.
    """
    rows = notes.usable(runs, [_ENERGY, "duration_s", "samples_processed"])
    if rows.empty:
        return notes.empty(TITLE, "No run gave an energy that counts.", [notes.left_out(runs)])
    rows[_TIME] = rows["duration_s"] / rows["samples_processed"]
    groups = list(rows[notes.GROUP].drop_duplicates().itertuples(index=False))
    phases = sorted(rows["phase"].unique(), reverse=True)
    figure = Figure(figsize=(2.6 + 3.4 * len(phases), 1.2 + 3.2 * len(groups)), layout="constrained")
    panels = figure.subplots(len(groups), len(phases), squeeze=False)
    colours, sizes = _accuracy_colours(rows["accuracy"]), _sizes(rows["batch_size"])
    for axes, (group, phase) in zip(panels.flat, product(groups, phases), strict=True):
        here = rows[(rows[notes.GROUP] == list(group)).all(axis=1) & (rows["phase"] == phase)]
        axes.set_title(f"{phase}: {group.workload}, {group.dataset}")
        _panel(axes, here, cells, colours, sizes)
    if colours is not None:
        figure.colorbar(colours, ax=panels, label="accuracy", shrink=0.8, aspect=30, ticks=MaxNLocator(4))
    figure.legend(handles=list(_legend(rows, sizes)), loc="outside right center", alignment="left")
    how = "Large: mean of a cell's runs, with the interval of the mean; small: every run"
    return notes.finish(figure, TITLE, notes.estimate_words(rows["estimated"]), [how, notes.left_out(runs)])


def _panel(
    axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame, colours: ScalarMappable | None, sizes: dict[int, float]
) -> None:
    axes.set(xlabel="time per sample", ylabel="energy per sample")
    if rows.empty:
        axes.text(0.5, 0.5, "no run that counts", ha="center", transform=axes.transAxes, color=style.NOTE_COLOUR)
        return
    points = with_intervals(rows, cells, _ENERGY)
    times = with_intervals(rows, cells, _TIME)
    accuracy = pd.to_numeric(rows["accuracy"], errors="coerce").groupby(rows["cell"]).mean()
    axes.scatter(rows[_TIME], rows[_ENERGY], s=5, color="#777777", linewidths=0, label="_repetitions", zorder=2)
    axes.errorbar(
        times["mean"],
        points["mean"],
        xerr=error_bars(times),
        yerr=error_bars(points),
        fmt="none",
        ecolor="#666666",
        elinewidth=0.9,
        zorder=3,
    )
    for time_s, point in zip(times["mean"], points.itertuples(index=False), strict=True):
        value = accuracy[point.cell]
        face = _NO_ACCURACY if colours is None or pd.isna(value) else colours.to_rgba(value)
        shape = style.marker(point.runtime, point.provider)
        size = sizes[point.batch_size]
        axes.scatter(
            time_s, point.mean, s=size, marker=shape, color=[face], edgecolor="#222222", linewidth=0.7, zorder=4
        )
    style.scale(axes.xaxis, rows[_TIME], "s")
    style.scale(axes.yaxis, rows[_ENERGY], "J")


def _accuracy_colours(accuracy: pd.Series) -> ScalarMappable | None:
    """Colours over the accuracies found; None where there is none."""
    values = pd.to_numeric(accuracy, errors="coerce").dropna()
    if values.empty:
        return None
    middle, half = (values.min() + values.max()) / 2, max(values.max() - values.min(), 0.02) / 2
    return ScalarMappable(Normalize(middle - half, middle + half), cmap="cividis")


def _sizes(batches: pd.Series) -> dict[int, float]:
    """Marker area in square points by batch size, evenly from the smallest batch to the largest."""
    levels = sorted(batches.unique())
    step = (_LARGEST_PT2 - _SMALLEST_PT2) / max(len(levels) - 1, 1)
    return {level: _SMALLEST_PT2 + i * step for i, level in enumerate(levels)}


def _legend(rows: pd.DataFrame, sizes: dict[int, float]) -> Iterator[Line2D]:
    keys = set(zip(rows["runtime"], rows["provider"], strict=True))
    for key in sorted(keys, key=style.runtime_order):
        yield _handle(style.marker(*key), 7.0, style.runtime_label(*key))
    for batch, size in sizes.items():
        yield _handle("o", size**0.5, f"batch {batch}")


def _handle(shape: str, size: float, label: str) -> Line2D:
    return Line2D([], [], marker=shape, markersize=size, label=label, ls="", color="white", markeredgecolor="#222222")
