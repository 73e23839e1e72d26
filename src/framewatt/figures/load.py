"""Latency and energy per request against the rate of requests."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from framewatt.figures import notes, style
from framewatt.figures.cells import LABEL, heading, labelled, panels
from framewatt.frames.factor_words import factors_of
from framewatt.statistics.deploy import ENERGY_OF_A_REQUEST, under_load
from framewatt.study.factors import COMPARED, shared

TITLE = "Latency and energy against the rate of requests"
_ROWS = (
    ("latency_p50_s", "latency, median", "s"),
    ("latency_p99_s", "latency, 99 %", "s"),
    (ENERGY_OF_A_REQUEST, "energy per request", "J"),
)
_LATENCIES = ("latency_p50_s", "latency_p99_s")
_DASHES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)))
"""They and the markers distinguish lines of one colour."""


@style.styled
def draw(runs: pd.DataFrame, statistics: Mapping[str, Any], compared: Sequence[str] = COMPARED) -> Figure:
    """Three panels below each other for every group: median and 99 % of latency, joules per request; a line a choice.

    Args:
        runs: the runs frame (framewatt.frames.frames.runs_columns).
        statistics: the study's settings; its `deadline_s` becomes a line.
        compared: the factors in which cells are compared.
    """
    deadline_s = statistics.get("deadline_s")
    rows = under_load(runs, deadline_s).dropna(subset=[name for name, _, _ in _ROWS])
    if rows.empty:
        reason = "No run in which requests arrive at a rate gave an energy that counts."
        return notes.empty(TITLE, reason, [notes.left_out(runs)])
    rows = labelled(rows, compared)
    groups = panels(rows, [name for name in shared(factors_of(rows), compared) if name not in ("phase", "load")])
    figure = Figure(figsize=(2.6 + 3.4 * len(groups), 1.2 + 2.4 * len(_ROWS)), layout="constrained")
    axes_of = figure.subplots(len(_ROWS), len(groups), squeeze=False, sharex="col")
    looks = style.looks(rows[LABEL])
    dashes = dict(zip(looks, itertools.cycle(_DASHES), strict=False))
    wide = {quantity: style.is_wide(part[quantity] for _, part in groups) for quantity, _, _ in _ROWS}
    # Both rows of latency on one kind of scale.
    wide |= dict.fromkeys(_LATENCIES, any(wide[name] for name in _LATENCIES))
    for across, (levels, part) in enumerate(groups):
        for axes, (quantity, words, unit) in zip(axes_of[:, across], _ROWS, strict=True):
            _panel(axes, part, quantity, looks, dashes)
            axes.set_ylabel(words)
            style.scale(axes.yaxis, part[quantity], unit, logarithmic=wide[quantity])
            if quantity == "latency_p99_s" and deadline_s is not None:
                axes.axhline(deadline_s, color="black", linewidth=0.8, linestyle=(0, (1, 3)))
        axes_of[0, across].set_title(heading(levels))
        axes_of[-1, across].set_xlabel("requests per second")
    figure.legend(handles=_legend(looks, dashes), loc="outside right center", alignment="left")
    return notes.finish(
        figure,
        TITLE,
        notes.estimate_words(rows["energy_estimated"]),
        [_hollow(rows), _dashed(deadline_s), notes.disturbed_words(runs), notes.left_out(runs)],
    )


def _panel(
    axes: Axes, rows: pd.DataFrame, quantity: str, looks: Mapping[str, style.Look], dashes: Mapping[str, Any]
) -> None:
    for name, part in rows.sort_values("rate_per_s").groupby(LABEL, sort=False):
        look = looks[str(name)]
        axes.plot(part["rate_per_s"], part[quantity], color=look.colour, linestyle=dashes[str(name)], zorder=3)
        for hollow, points in part.groupby("overloaded"):
            axes.scatter(
                points["rate_per_s"],
                points[quantity],
                marker=look.marker,
                s=34,
                color=["white" if hollow else look.colour],
                edgecolor=look.colour,
                zorder=4,
            )


def _hollow(rows: pd.DataFrame) -> str:
    if not rows["overloaded"].any():
        return ""
    return "Hollow: busy for nearly all of the window, so that latency grows with the window"


def _dashed(deadline_s: float | None) -> str:
    return "" if deadline_s is None else f"Dotted line: {1000 * deadline_s:g} ms"


def _legend(looks: Mapping[str, style.Look], dashes: Mapping[str, Any]) -> list[Line2D]:
    return [
        Line2D([], [], color=look.colour, marker=look.marker, linestyle=dashes[name], label=name)
        for name, look in looks.items()
    ]
