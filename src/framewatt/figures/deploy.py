"""What to deploy: energy against latency of every choice, with quality, and the Pareto front."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from framewatt.figures import notes, style
from framewatt.figures.cells import LABEL, heading, labelled, panels
from framewatt.figures.energy_time import quality_colours
from framewatt.figures.labels import name_points, point_of
from framewatt.frames.quality import METRIC, unit_of, with_quality, words_of
from framewatt.study.factors import COMPARED

TITLE = "What to deploy: energy per {per} against latency"
_ENERGY, _LATENCY = "energy_per_sample_j", "latency_p95_s"
_NO_QUALITY = "#bbbbbb"
_MOST_ACROSS = 3


@style.styled
def draw(runs: pd.DataFrame, choices: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """One panel per workload and data set: mean joules over 95th percentile of latency; Pareto front in thick rings.

    Args:
        runs: the runs frame (framewatt.frames.columns.runs_columns); every inference run is a dot of its own.
        choices: the frame of framewatt.statistics.judge_choices.
        compared: the factors in which cells are compared; markers show their levels.
    """
    title = TITLE.format(per=unit_of(choices["metric"]))
    known = choices.dropna(subset=[_ENERGY, _LATENCY])
    if known.empty:
        return notes.empty(title, "No inference run gave an energy that counts and a latency.", [notes.left_out(runs)])
    rows = labelled(notes.usable(with_quality(runs)[runs["cell"].isin(known["cell"])], [_ENERGY, _LATENCY]), compared)
    tasks = panels(rows, ["workload", "dataset"])
    across = min(_MOST_ACROSS, len(tasks))
    down = -(-len(tasks) // across)
    figure = Figure(figsize=(2.8 + 3.6 * across, 1.4 + 3.4 * down), layout="constrained")
    axes_of = figure.subplots(down, across, squeeze=False)
    markers = {label: look.marker for label, look in style.looks(rows[LABEL]).items()}
    colours = quality_colours(rows)
    for axes in axes_of.flat[len(tasks) :]:
        axes.set_axis_off()
    for axes, (levels, part) in zip(axes_of.flat, tasks, strict=False):
        axes.set_title(heading(levels))
        _panel(axes, part, known, markers, colours)
    if colours is not None:
        figure.colorbar(colours, ax=axes_of, label=words_of(rows[METRIC]), shrink=0.8, aspect=30, ticks=MaxNLocator(4))
    figure.legend(handles=_legend(markers), loc="outside right center", alignment="left")
    how = "Large: mean of a choice's runs, with its batch size; small: every run; lower left is better"
    return notes.finish(
        figure, title, notes.estimate_words(rows["estimated"]), [how, notes.disturbed_words(runs), notes.left_out(runs)]
    )


def _panel(axes: Axes, rows: pd.DataFrame, choices: pd.DataFrame, markers: dict[str, str], colours: Any) -> None:
    axes.set(xlabel="latency of a batch, 95th percentile", ylabel=f"energy per {unit_of(rows[METRIC])}")
    axes.scatter(rows[_LATENCY], rows[_ENERGY], s=5, color="#777777", linewidths=0, label="_repetitions", zorder=2)
    labels = rows.drop_duplicates("cell").set_index("cell")[LABEL]
    here = choices[choices["cell"].isin(labels.index)].sort_values(_LATENCY)
    for choice in here.to_dict("records"):
        none = colours is None or pd.isna(choice["quality"])
        on_front = choice["on_front"] is True or choice["on_front"] == 1
        place = (choice[_LATENCY], choice[_ENERGY])
        axes.scatter(
            *place,
            s=60,
            marker=markers[labels[choice["cell"]]],
            color=[_NO_QUALITY if none else colours.to_rgba(choice["quality"])],
            edgecolor="#d62728" if on_front else "#222222",
            linewidth=2.0 if on_front else 0.7,
            label="_front" if on_front else "_choice",
            zorder=5 if on_front else 4,
            gid=point_of(choice["cell"]),
        )
    style.scale(axes.xaxis, rows[_LATENCY], "s")
    style.scale(axes.yaxis, rows[_ENERGY], "J")
    name_points(
        axes,
        list(zip(here[_LATENCY], here[_ENERGY], strict=True)),
        [_name(labels[choice["cell"]], choice) for choice in here.to_dict("records")],
    )


def _name(label: str, choice: dict[str, Any]) -> str:
    """Name of a choice: the compared levels, and the batch size where that is none of them."""
    size = choice.get("batch_size")
    return label if size is None or f"batch {size}" in label else f"{label}, {size}"


def _legend(markers: dict[str, str]) -> list[Line2D]:
    empty: dict[str, Any] = {"ls": "", "color": "white", "markersize": 7.0}
    handles = [Line2D([], [], marker=m, label=name, markeredgecolor="#222222", **empty) for name, m in markers.items()]
    front = Line2D([], [], marker="o", label="Pareto front", markeredgecolor="#d62728", markeredgewidth=2.0, **empty)
    return [*handles, front]
