"""What to deploy: energy against latency of every choice, with quality, and the Pareto front."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from framewatt.figures import marks, notes, style
from framewatt.figures.cells import LABEL, heading, labelled, panels
from framewatt.figures.energy_time import name_of, quality_colours
from framewatt.figures.labels import Named, name_points, point_of, room
from framewatt.frames.factor_words import factors_of
from framewatt.frames.headline import only_aside
from framewatt.frames.quality import METRIC, unit_of, with_quality, words_of
from framewatt.study.factors import COMPARED, given_in, rate_of

TITLE = "What to deploy: energy per {per} against latency"
_ENERGY, _LATENCY = "energy_per_sample_j", "latency_p95_s"
_NO_QUALITY = "#bbbbbb"
_MOST_ACROSS = 3
_LABELS_IN = 0.9
"""Width of the labels along the y axis of a panel."""


@style.styled
def draw(runs: pd.DataFrame, choices: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """One panel per workload and data set: mean joules over 95th percentile of latency; Pareto front in thick rings.

    Args:
        runs: the runs frame (framewatt.frames.frames.runs_columns); every inference run is a dot of its own.
        choices: the frame of framewatt.statistics.judge_choices.
        compared: the factors in which cells are compared; markers show their levels.
    """
    title = TITLE.format(per=unit_of(choices["metric"]))
    known = choices.dropna(subset=[_ENERGY, _LATENCY])
    if known.empty:
        reason = "No inference run gave an energy that counts and a latency."
        return notes.empty(title, reason, [notes.left_out(_inference(runs))])
    rows = labelled(notes.usable(with_quality(runs)[runs["cell"].isin(known["cell"])], [_ENERGY, _LATENCY]), compared)
    aside = notes.usable(with_quality(only_aside(runs)), [_ENERGY, _LATENCY])
    every = panels(rows, given_in(factors_of(rows)))
    tasks = notes.evenly(every, notes.MOST_PANELS)
    across = min(_MOST_ACROSS, len(tasks))
    down = -(-len(tasks) // across)
    names = {cell: name_of(label, size) for cell, label, size in _cells(rows)}
    larger = max(room(names[cell] for cell in part["cell"].unique()) for _, part in tasks)
    figure = Figure(figsize=(2.8 + 3.6 * larger * across, 1.4 + 3.4 * larger * down), layout="constrained")
    axes_of = figure.subplots(down, across, squeeze=False)
    markers = {label: look.marker for label, look in style.looks(rows[LABEL]).items()}
    colours = quality_colours(rows)
    for axes in axes_of.flat[len(tasks) :]:
        axes.set_axis_off()
    wide = {name: style.is_wide(part[name] for _, part in tasks) for name in (_LATENCY, _ENERGY)}
    named: list[Named] = []
    pale = 0
    for axes, (levels, part) in zip(axes_of.flat, tasks, strict=False):
        notes.panel_title(axes, heading(levels), 3.6 * larger - _LABELS_IN)
        here = known[known["cell"].isin(part["cell"])].sort_values([_LATENCY, "cell"])
        marks.dots(axes, part, _LATENCY, _ENERGY, quietly=len(rows) > notes.MOST_DOTS, s=5, color="#777777")
        _panel(axes, part, here, markers, colours)
        what = "batch" if rate_of(levels.get("load")) is None else "request"
        axes.set_xlabel(f"latency of a {what}, 95th percentile")
        axes.margins(x=0.2, y=0.1)
        style.scale(axes.xaxis, part[_LATENCY], "s", logarithmic=wide[_LATENCY], ticks=4)
        style.scale(axes.yaxis, part[_ENERGY], "J", logarithmic=wide[_ENERGY])
        pale += marks.pale_rings(axes, aside[aside["cell"].isin(part["cell"])], _LATENCY, _ENERGY)
        places = list(zip(here[_LATENCY], here[_ENERGY], strict=True))
        named.append((axes, places, [names[cell] for cell in here["cell"]]))
    if colours is not None:
        figure.colorbar(colours, ax=axes_of, label=words_of(rows[METRIC]), shrink=0.8, aspect=30, ticks=MaxNLocator(4))
    handles = [*_legend(markers), *marks.handles(notes.disturbed(rows), pale)]
    figure.legend(handles=handles, loc="outside right center", alignment="left")
    how = f"Large: mean of a choice's runs, with its batch size{marks.small_words(rows)}; lower left is better"
    groups = notes.panels_words(len(tasks), len(every))
    fullest = max(part["cell"].nunique() for _, part in tasks)
    left_out = "; ".join(filter(None, [groups, notes.dots_words(len(rows)), notes.names_words(fullest)]))
    sentences = [how, left_out, notes.disturbed_words(rows, "drawn as rings"), notes.left_out(_inference(runs), pale)]
    notes.finish(figure, title, notes.estimate_of(rows, runs), sentences)
    name_points(figure, named)
    return figure


def _inference(runs: pd.DataFrame) -> pd.DataFrame:
    return runs[runs["phase"] == "infer"] if "phase" in factors_of(runs) else runs


def _cells(rows: pd.DataFrame) -> Iterator[tuple[str, str, Any]]:
    """Cell, label and batch size, None in a study without that factor."""
    known = rows.drop_duplicates("cell")
    return zip(known["cell"], known[LABEL], known.get("batch_size", [None] * len(known)), strict=True)


def _panel(axes: Axes, rows: pd.DataFrame, choices: pd.DataFrame, markers: dict[str, str], colours: Any) -> None:
    axes.set(ylabel=f"energy per {unit_of(rows[METRIC])}")
    labels = rows.drop_duplicates("cell").set_index("cell")[LABEL]
    for choice in choices.to_dict("records"):
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


def _legend(markers: dict[str, str]) -> list[Line2D]:
    empty: dict[str, Any] = {"ls": "", "color": "white", "markersize": 7.0}
    handles = [Line2D([], [], marker=m, label=name, markeredgecolor="#222222", **empty) for name, m in markers.items()]
    front = Line2D([], [], marker="o", label="Pareto front", markeredgecolor="#d62728", markeredgewidth=2.0, **empty)
    return [*handles, front]
