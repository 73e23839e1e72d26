"""What every choice costs over the cheapest one, on each of several machines and over all of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from framewatt.figures import notes, style
from framewatt.frames.factor_words import label
from framewatt.planning.plan import planned_cells
from framewatt.statistics.machines import ALL, without_machine

TITLE = "Energy over that of one choice, by machine"
_SPREAD = 0.5
"""Height over which the choices of a machine are spread, in rows."""


@style.styled
def draw(machines: pd.DataFrame, plan: Mapping[str, Any]) -> Figure:
    """A panel a group, a row a machine and one over all: ratios of the other choices to one, with their intervals.

    Args:
        machines: MACHINES_COLUMNS.
        plan: of the study.
    """
    whole = machines[(machines["machine"] == ALL) & (machines["quantity"] == machines["quantity"].iloc[:1].squeeze())]
    shown = [row for row in whole.to_dict("records") if json.loads(row["ratios"])]
    if not shown:
        return notes.empty(TITLE, "No two choices of a group have runs that count on every machine.")
    compared = plan["settings"]["statistics"]["compare"]
    cells = {cell.id: label(cell.to_dict(), compared) for cell in map(without_machine, planned_cells(plan))}
    names = sorted(set(machines["machine"]) - {ALL})
    others = [cell for row in shown for cell in json.loads(row["ratios"])]
    looks = style.looks(dict.fromkeys([*(cells[cell] for cell in others), *(cells[row["reference"]] for row in shown)]))
    figure = Figure(figsize=(8.4, 1.4 + (0.9 + 0.5 * len(names)) * len(shown)), layout="constrained")
    for axes, row in zip(figure.subplots(len(shown), 1, squeeze=False)[:, 0], shown, strict=True):
        notes.panel_title(axes, row["group"] if isinstance(row["group"], str) else "All cells", 6.0)
        _panel(axes, row, names, cells, looks)
    drawn = dict.fromkeys(cells[cell] for cell in others)
    handles = [Line2D([], [], color=looks[one].colour, marker=looks[one].marker, ls="", label=one) for one in drawn]
    figure.legend(handles=handles, loc="outside right center", alignment="left")
    sentences = [
        "Each interval holds by itself. Nothing is drawn over all machines where they disagree.",
    ]
    return notes.finish(figure, TITLE, notes.estimate_words(whole["estimated"]), sentences)


def _panel(
    axes: Axes, row: Mapping[str, Any], names: Sequence[str], cells: Mapping[str, str], looks: Mapping[str, style.Look]
) -> None:
    """The ratios of a group, machines from the top and all of them below."""
    ratios: dict[str, Any] = json.loads(row["ratios"])
    rows = [*names, ALL]
    for place, (cell, over_all) in enumerate(ratios.items()):
        look = looks[cells[cell]]
        shift = _SPREAD * ((place + 0.5) / len(ratios) - 0.5)
        for height, name in enumerate(reversed(rows)):
            estimate = over_all if name == ALL else over_all["machines"][name]
            if estimate["ratio"] is None:
                continue
            if estimate["low"] is not None:
                axes.plot([estimate["low"], estimate["high"]], [height - shift] * 2, color=look.colour, lw=1.2)
            axes.plot(estimate["ratio"], height - shift, color=look.colour, marker=look.marker, ms=5, ls="")
    axes.axvline(1, color="#222222", lw=0.9)
    axes.axhline(0.5, color=style.NOTE_COLOUR, lw=0.6, ls=":")
    axes.set_ylim(-0.5, len(rows) - 0.5)
    axes.set_yticks(range(len(rows)), ["all of them", *reversed(names)])
    axes.set_xlabel(f"times {cells[row['reference']]}")
