"""A quantity of training by batch size, model, data set and framework, every run shown: after ITU 2023, figures 2 to 5.

Own runs and the raw results of the report are drawn by the same code.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from framewatt.figures import marks, notes, style
from framewatt.figures.training_quantities import FIGURES, NOTHING_COUNTS, Levels
from framewatt.frames.factor_words import rank
from framewatt.frames.headline import counts
from framewatt.frames.totals import TOTAL
from framewatt.statistics.effect_size import mean_interval
from framewatt.statistics.to_accuracy import LABEL, PANELS, counted_epochs, gpu_or_total, labelled
from framewatt.study.factors import natural

APART = "apart"
"""Column: whether the run was disturbed."""

FIRST = "epoch 1"
"""`part` of the values that hold the first epoch alone."""

_STEP = 0.06
"""Shift between two series at one batch size, in distances of batch sizes, for each of up to four batch sizes."""

_CELL = ["dataset", "workload", "batch_size", LABEL]
_NARROWEST_IN = 7.0
_PANEL_IN = 2.5
_HOW = "Small marks: every run; lines: their mean; bars: its interval, from three runs on."


@style.styled
def draw(
    values: pd.DataFrame,
    intervals: pd.DataFrame,
    levels: Levels,
    *,
    names: Mapping[str, str] | None = None,
    estimate: str = "",
    left_out: str = "",
) -> Figure:
    """One panel per data set and model: every run as a small mark, the mean of the runs as a line over batch sizes.

    Args:
        values: columns dataset, workload, batch_size, LABEL, repetition, part (FIRST or empty), value; perhaps APART,
            whether the run was disturbed.
        intervals: columns dataset, workload, batch_size, LABEL, part, low, high (NaN where there is no interval).
        levels: what is shown.
        names: what labels are called in the legend; as they are where it names none.
        estimate: from `notes.estimate_words`.
        left_out: what is not drawn, in words.
    """
    if values.empty:
        return notes.empty(levels.title, levels.empty, [left_out])
    datasets, workloads = (_ordered(values[name]) for name in ("dataset", "workload"))
    looks = style.looks(values[LABEL])
    figure = Figure(
        figsize=(max(1.9 + _PANEL_IN * len(workloads), _NARROWEST_IN), 1.6 + 2.1 * len(datasets)), layout="constrained"
    )
    panels = figure.subplots(len(datasets), len(workloads), squeeze=False, sharex=True, sharey="row")
    by_dataset = [values.loc[values["dataset"] == dataset, "value"] for dataset in datasets]
    logarithmic = bool(levels.unit) and style.is_wide(by_dataset, from_zero=True)
    values = values if APART in values else values.assign(**{APART: False})
    for row, dataset in zip(panels, datasets, strict=True):
        of_dataset = values[values["dataset"] == dataset]
        for axes, workload in zip(row, workloads, strict=True):
            notes.panel_title(axes, ", ".join(filter(None, [dataset, workload])), _PANEL_IN - 0.4)
            here = (intervals["dataset"] == dataset) & (intervals["workload"] == workload)
            _panel(axes, of_dataset[of_dataset["workload"] == workload], intervals[here], looks)
        row[0].set_ylabel(levels.label)
        if levels.unit:
            style.scale(row[0].yaxis, of_dataset["value"], levels.unit, logarithmic=logarithmic, from_zero=True)
        else:
            row[0].set_ylim(0, (of_dataset["value"].max() or 1) * 1.08)
    for axes in panels[-1]:
        axes.set_xlabel("batch size")
    drawn = values.drop_duplicates([*_CELL, "repetition"])[APART]
    handles = [*_legend(values, looks, names or {}), *marks.handles(drawn)]
    figure.legend(handles=handles, loc="outside right center")
    sentences = [_HOW, levels.note, notes.counted_words(drawn, "ringed"), left_out]
    return notes.finish(figure, levels.title, estimate, sentences)


def _ordered(column: pd.Series) -> list[str]:
    """Return levels as a reader looks them up: ResNet-50 before ResNet-101."""
    unique = column.drop_duplicates()
    return list(unique.iloc[rank(str(column.name), unique).argsort()])


def _panel(axes: Axes, values: pd.DataFrame, intervals: pd.DataFrame, looks: Mapping[str, style.Look]) -> None:
    batches = sorted(values["batch_size"].unique())
    places = {batch: place for place, batch in enumerate(batches)}
    step = _STEP * min(len(batches), 4)
    shifts = {label: (number - (len(looks) - 1) / 2) * step for number, label in enumerate(looks)}
    for (label, part), cell in values.groupby([LABEL, "part"]):
        look, shape, shift = looks[label].colour, looks[label].marker, shifts[label]
        face = "white" if part == FIRST else look
        means = cell.groupby("batch_size")["value"].mean()
        at = [places[batch] + shift for batch in means.index]
        axes.plot(at, means, color=look, lw=1.0, ls=":" if part == FIRST else "-", zorder=2)
        dots = [places[batch] + shift for batch in cell["batch_size"]]
        axes.scatter(dots, cell["value"], s=15, marker=shape, color=face, edgecolor=look, linewidth=0.8, zorder=3)
        own = cell.assign(at=dots)[cell[APART]]
        marks.rings(axes, own["at"], own["value"], 50)
        known = intervals[(intervals[LABEL] == label) & (intervals["part"] == part)].dropna(subset=["low", "high"])
        if len(known):
            at = [places[batch] + shift for batch in known["batch_size"]]
            axes.vlines(at, known["low"], known["high"], color=look, lw=1.0)
    axes.set_xticks(range(len(batches)), [str(batch) for batch in batches])
    axes.set_xlim(-0.6, len(batches) - 0.4)


def _legend(values: pd.DataFrame, looks: Mapping[str, style.Look], names: Mapping[str, str]) -> list[Line2D]:
    handles = [
        Line2D([], [], color=look.colour, marker=look.marker, ms=5, ls="", label=names.get(label, label))
        for label, look in looks.items()
    ]
    if FIRST not in set(values["part"]):
        return handles
    faces = {FIRST: "white", "other epochs": "#555555"}
    return handles + [
        Line2D([], [], marker="o", ms=5, ls="", markeredgecolor="#555555", markerfacecolor=face, label=label)
        for label, face in faces.items()
    ]


_GROUP = [*PANELS, LABEL]


def draw_study(figure: str, epochs: pd.DataFrame, runs: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Return every run, by batch size, model, data set and framework.

    Args:
        figure: the figure's name, `training_<one of FIGURES>`.
        epochs: the epochs frame.
        runs: the runs frame, which marks the runs that count.
        settings: the study's `statistics`: compare, confidence.
    """
    quantity = figure.removeprefix("training_")
    shown = values(epochs, runs, quantity, settings["compare"])
    levels = described(quantity, epochs)
    if not counts(runs).any():
        levels = replace(levels, empty=NOTHING_COUNTS)
    drawn: Figure = draw(
        shown,
        intervals(shown, settings),
        levels,
        estimate=estimate_words(quantity, epochs),
        left_out=notes.left_out(runs[runs["phase"] == "train"] if "phase" in runs else runs),
    )
    return drawn


def values(epochs: pd.DataFrame, runs: pd.DataFrame, figure: str, compared: Sequence[str]) -> pd.DataFrame:
    """Return what a figure shows, one row per run (and part of it).

    Energy and power are the GPU's where every run has one and the same, as in the report, else those of the total.

    Args:
        epochs: the epochs frame.
        runs: the runs frame, which marks the runs that count.
        figure: of FIGURES.
        compared: the compared factors.

    Returns:
        Columns PANELS, LABEL, repetition, APART, part, value.
    """
    rows = labelled(counted_epochs(epochs, runs, gpu_or_total(epochs)), compared)
    others = runs[notes.disturbed(runs)]
    apart = set(zip(others["cell"], others["repetition"], strict=True))
    rows[APART] = [run in apart for run in zip(rows["cell"], rows["repetition"], strict=True)]
    run = [*_GROUP, "repetition", APART]
    grouped = rows.groupby(run)
    if figure == "energy":
        return _rows(grouped["energy_gross_j"].sum(min_count=1))
    if figure == "power":
        part = rows["epoch"].eq(1).map({True: FIRST, False: ""}).rename("part")
        return _rows(rows.groupby([*run, part])["mean_power_w"].mean())
    if figure == "utilisation":
        return _rows(grouped["gpu_utilization_percent"].mean())
    return _rows(rows.sort_values("epoch").groupby(run)["quality"].last())


def intervals(shown: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the interval of the mean of every mark of a figure, missing below three runs.

    Args:
        shown: from `values`.
        settings: the study's `statistics`: confidence.

    Returns:
        Columns PANELS, LABEL, part, low, high.
    """
    keys = [*_GROUP, "part"]
    rows = []
    for levels, part in shown.groupby(keys):
        interval = mean_interval(part["value"].to_numpy(dtype=np.float64), settings["confidence"])
        rows.append([*levels, interval.low, interval.high])
    return pd.DataFrame(rows, columns=[*keys, "low", "high"]).astype({"low": "float64", "high": "float64"})


def described(figure: str, epochs: pd.DataFrame) -> Levels:
    """Return what a figure shows, with the domain of its energy."""
    domain = gpu_or_total(epochs)
    levels = FIGURES[figure]
    if not levels.unit:
        return levels
    of_domain = "All domains together." if domain == TOTAL else f"{domain} alone, as in the report."
    return replace(levels, note=f"{levels.note} {of_domain}")


def estimate_words(figure: str, epochs: pd.DataFrame) -> str:
    """That the energy or power of a figure is estimated, in words; empty where it is measured or something else."""
    if not FIGURES[figure].unit:
        return ""
    shown = gpu_or_total(epochs)
    drawn = epochs[epochs["domain"] == shown]
    words = notes.estimate_of(drawn, epochs) if shown == TOTAL else notes.estimate_words(drawn["estimated"])
    return words.replace("Energy", FIGURES[figure].label.capitalize())


def in_the_middle(cells: Iterable[Mapping[str, Any]], compared: Sequence[str]) -> dict[str, Any]:
    """Levels of one combination: of every factor but the compared ones that in the middle of those that are there.

    Args:
        cells: of runs that count; each factor's level may be missing in no cell.
        compared: the compared factors.
    """
    left = list(cells)
    chosen: dict[str, Any] = {}
    for name in dict.fromkeys(name for cell in left for name in cell if name not in compared):
        levels = sorted({cell[name] for cell in left}, key=natural)
        chosen[name] = levels[len(levels) // 2]
        left = [cell for cell in left if cell[name] == chosen[name]]
    return chosen


def _rows(values: "pd.Series[float]") -> pd.DataFrame:
    frame = values.dropna().rename("value").reset_index()
    return frame if "part" in frame else frame.assign(part="")
