"""Ratios to the best and their evidence after each block, for a study with a stopping rule."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from framewatt.figures import notes, style
from framewatt.frames.factor_words import label
from framewatt.study.factors import COMPARED
from framewatt.study.stopping_rule import ENERGY, rule_of

TITLE = "What was known after each block"
_TITLE_CHARACTERS = 44
"""Characters of a title that fit over a panel."""

_MOST_WIDTH_PERCENT = 50
"""Half-width up to which intervals of a rule for the best are drawn."""

_SHIFT = 0.12
"""Horizontal shift between the intervals of two cells, in blocks."""


def draw_study(stopping: pd.DataFrame, plan: Mapping[str, Any], runs: pd.DataFrame) -> Figure:
    """Return what a study with a stopping rule knew after each block.

    Args:
        stopping: stopping.csv.
        plan: of the study.
        runs: the runs frame, which marks estimated energy and disturbed runs.
    """
    rule = rule_of(plan["settings"])
    assert rule is not None, "the study has a stopping rule"
    estimated = rule.quantity == ENERGY and bool(runs.loc[runs["status"].eq("ok"), "estimated"].eq(True).any())
    cells = {cell["id"]: cell for cell in plan["cells"]}
    compared = plan["settings"]["statistics"]["compare"]
    figure: Figure = draw(stopping, cells, rule.width, estimated, compared, notes.disturbed_words(runs))
    return figure


@style.styled
def draw(
    path: pd.DataFrame,
    cells: Mapping[str, Mapping[str, object]],
    width: float | None,
    estimated: bool,
    compared: Sequence[str] = COMPARED,
    disturbed: str = "",
) -> Figure:
    """One row of panels per group: the ratio of every cell to the best with its interval; evidence, or the width.

    Args:
        path: framewatt.stopping.record.COLUMNS.
        cells: levels of every cell, by its name.
        width: target precision of the ratios, as a share; None for a rule that looks for the best, which draws evidence
            where it has some.
        estimated: whether the compared quantity is energy, and estimated.
        compared: the factors in which cells are compared.
        disturbed: from `notes.disturbed_words`.
    """
    rows = path.dropna(subset=["ratio"])
    if rows.empty:
        return notes.empty(TITLE, "No two choices of a group have a block in which both count.", [disturbed])
    rows = rows.assign(label=[label(cells[cell], compared) for cell in rows["cell"]])
    groups = list(rows.groupby("group", sort=False))
    looks = style.looks([*rows["label"], *(label(cells[cell], compared) for cell in rows["leader"].unique())])
    figure = Figure(figsize=(8.4, 1.1 + 2.6 * len(groups)), layout="constrained")
    axes_of = figure.subplots(len(groups), 2, squeeze=False)
    for (left, right), (group, own) in zip(axes_of, groups, strict=True):
        leader = label(cells[own["leader"].iloc[0]], compared)
        left.set_title(fill(str(group), _TITLE_CHARACTERS))
        _ratios(left, own, leader, looks)
        if own["e_value"].notna().any():
            right.set_title(fill(f"Evidence that {leader} takes less", _TITLE_CHARACTERS))
            _evidence(right, own, looks)
        else:
            right.set_title("Half-width of the interval")
            _widths(right, own, width, looks)
    handles = [
        Line2D([], [], color=looks[name].colour, marker=looks[name].marker, ms=4.5, label=name)
        for name in dict.fromkeys(rows["label"])
    ]
    figure.legend(handles=handles, loc="outside right center", alignment="left")
    how = "Intervals hold at all looks together; few blocks give none"
    if width is not None or rows["e_value"].notna().any():
        how += ". Dashed: where it is enough"
    first = f"First look after block {rows.loc[rows['looked'], 'blocks'].min()}" if rows["looked"].any() else ""
    return notes.finish(figure, TITLE, notes.estimate_words([estimated]), [how, first, disturbed])


def _ratios(axes: Axes, rows: pd.DataFrame, leader: str, looks: Mapping[str, style.Look]) -> None:
    names = list(dict.fromkeys(rows["label"]))
    for place, name in enumerate(names):
        own = rows[rows["label"] == name]
        shift = _SHIFT * (place - (len(names) - 1) / 2)
        look = looks[name]
        axes.errorbar(
            own["blocks"] + shift,
            own["ratio"],
            yerr=[own["ratio"] - own["ratio_low"], own["ratio_high"] - own["ratio"]],
            color=look.colour,
            marker=look.marker,
            ms=3.5,
            lw=1,
            elinewidth=0.8,
            label="_ratio",
        )
    axes.axhline(1, color="#222222", lw=0.9)
    axes.set_yscale("log")
    ends = [*rows["ratio_low"].dropna(), *rows["ratio_high"].dropna()]
    least, most = min(0.95, *rows["ratio"]), max(1.05, *rows["ratio"])
    if ends:
        # One interval of few blocks may span decades, in which nothing else is seen.
        least, most = max(least / 2, min(least, *ends)), min(2 * most, max(most, *ends))
    axes.set_ylim(least * 0.97, most * 1.03)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    axes.set_ylabel(f"ratio to {leader}")
    style.say_logarithmic(axes.yaxis)
    _blocks(axes, rows)


def _evidence(axes: Axes, rows: pd.DataFrame, looks: Mapping[str, style.Look]) -> None:
    for name, own in rows.groupby("label", sort=False):
        look = looks[str(name)]
        axes.plot(own["blocks"], own["e_value"], color=look.colour, marker=look.marker, ms=3.5, lw=1, label="_evidence")
    axes.axhline(rows["threshold"].iloc[0], color="#222222", lw=0.9, ls="--")
    axes.set_yscale("log")
    axes.set_ylabel("e-value")
    style.say_logarithmic(axes.yaxis)
    _blocks(axes, rows)


def _widths(axes: Axes, rows: pd.DataFrame, width: float | None, looks: Mapping[str, style.Look]) -> None:
    known = rows.dropna(subset=["ratio_high"])
    for name, own in known.groupby("label", sort=False):
        look = looks[str(name)]
        share = 100 * (own["ratio_high"] / own["ratio"] - 1)
        axes.plot(own["blocks"], share, color=look.colour, marker=look.marker, ms=3.5, lw=1, label="_width")
    if width is None:
        # Wide intervals of few blocks would hide the others.
        axes.set_ylim(0, _MOST_WIDTH_PERCENT)
    else:
        axes.axhline(100 * width, color="#222222", lw=0.9, ls="--")
        axes.set_ylim(0, 100 * width * 4)
    axes.set_ylabel("half-width (%)")
    _blocks(axes, rows)
    if known.empty:
        notes.nothing(axes, "no interval yet")


def _blocks(axes: Axes, rows: pd.DataFrame) -> None:
    axes.set_xlabel("blocks")
    axes.set_xlim(0.5, rows["blocks"].max() + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
