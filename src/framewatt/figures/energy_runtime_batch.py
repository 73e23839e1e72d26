"""Energy per sample of every runtime at every batch size, each repetition shown."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from framewatt.figures import notes, style
from framewatt.figures.cells import error_bars, with_intervals

TITLE = "Energy per sample by runtime and batch size"
_ENERGY = "energy_per_sample_j"
_SPREAD = 0.5
"""Share of a runtime's row over which its repetitions are spread, in the order in which they ran."""


@style.styled
def draw(runs: pd.DataFrame, cells: pd.DataFrame) -> Figure:
    """A panel a phase and batch size, a row a runtime: every repetition as a dot, the mean with its interval.

    Args:
        runs: the runs frame (framewatt.frames.RUNS_COLUMNS); totals are drawn.
        cells: statistics of cells, whose intervals become error bars.
    """
    rows = notes.usable(runs, [_ENERGY])
    if rows.empty:
        return notes.empty(TITLE, "No run gave an energy that counts.", [notes.left_out(runs)])
    panels = rows.groupby([*notes.GROUP, "phase", "batch_size"], sort=False)
    keys = sorted(panels.groups, key=lambda key: (*key[:3], key[3] != "train", key[4]))
    heights = [panels.get_group(key)[["runtime", "provider"]].drop_duplicates().shape[0] + 1.6 for key in keys]
    figure = Figure(figsize=(7.4, 0.75 + 0.3 * sum(heights)), layout="constrained")
    grid = figure.subplots(len(keys), 1, squeeze=False, height_ratios=heights)
    for axes, key in zip(grid.flat, keys, strict=True):
        workload, dataset, _precision, phase, batch = key
        axes.set_title(f"{phase}, batch {batch}: {workload}, {dataset}")
        _panel(axes, panels.get_group(key), cells)
    handles = [
        Line2D([], [], marker="o", ls="", ms=3.5, color="#777777", label="a run, the first block topmost"),
        Line2D([], [], marker="|", ls="-", ms=11, color="#222222", label="mean and its interval"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return notes.finish(
        figure,
        TITLE,
        notes.estimate_words(rows["estimated"]),
        ["The most frugal runtime is on top", notes.left_out(runs)],
    )


def _panel(axes: Axes, rows: pd.DataFrame, cells: pd.DataFrame) -> None:
    points = with_intervals(rows, cells, _ENERGY)
    points = points.sort_values("mean", ascending=False, ignore_index=True)
    for height, point in enumerate(points.itertuples(index=False)):
        own = rows[rows["cell"] == point.cell].sort_values("repetition")
        last = max(len(own) - 1, 1)
        offsets = [height + _SPREAD * (0.5 - i / last) if len(own) > 1 else height for i in range(len(own))]
        paint = style.colour(point.runtime)
        axes.scatter(own[_ENERGY], offsets, s=14, color=paint, linewidths=0, label="_repetitions", zorder=3)
    axes.errorbar(
        points["mean"], points.index, xerr=error_bars(points), fmt="|", ms=14, color="#222222", elinewidth=1.1, zorder=4
    )
    labels = [style.runtime_label(p.runtime, p.provider) for p in points.itertuples(index=False)]
    axes.set_yticks(points.index, labels)
    axes.set_ylim(-0.6, len(points) - 0.4)
    axes.grid(visible=False, axis="y")
    style.scale(axes.xaxis, [*rows[_ENERGY], *points["high"].dropna()], "J", from_zero=True)
