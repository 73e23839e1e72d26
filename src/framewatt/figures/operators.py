"""Where the joules of a step go, by kind of operator, frameworks side by side."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from framewatt.figures import notes, style
from framewatt.profiling.api_names import FAMILIES
from framewatt.profiling.operators import OPERATOR

TITLE = "Where the joules go, by kind of operator"

_COLOURS = (
    *("#cc79a7", "#0072b2", "#56b4e9", "#009e73", "#7f3c8d", "#f0e442", "#e69f00", "#999933", "#d55e00", "#8c564b"),
    *("#bbbbbb", "#dddddd", "#ffffff"),
)
"""One for each of FAMILIES; what is in no operator is white."""


@style.styled
def draw(operators: pd.DataFrame) -> Figure:
    """Return a bar a cell, in joules per unit of work, by families of operators; a panel a phase and domain.

    Args:
        operators: a row an operator or API of a cell (framewatt.profiling.operators.COLUMNS).
    """
    rows = operators[operators["by"] == OPERATOR]
    if rows.empty:
        return notes.empty(TITLE, "No timeline of a cell could be joined with an energy that is valid.", [])
    rows = rows.assign(per_unit_j=rows["energy_j"] / rows["units"])
    panels = list(rows.groupby(["phase", "domain"], sort=False))
    heights = [part["cell"].nunique() for _, part in panels]
    figure = Figure(figsize=(9.0, 1.4 + 0.42 * sum(heights) + 0.7 * len(panels)), layout="constrained")
    axes_of = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    colours = dict(zip(FAMILIES, _COLOURS, strict=True))
    for axes, ((phase, domain), part) in zip(axes_of, panels, strict=True):
        _panel(axes, part, colours)
        axes.set_title(f"{phase}, {domain}")
    shown = [name for name in FAMILIES if name in set(rows["family"])]
    handles = [Patch(facecolor=colours[name], edgecolor="#666666", linewidth=0.5, label=name) for name in shown]
    figure.legend(handles=handles, loc="outside right center", alignment="left")
    return notes.finish(
        figure,
        TITLE,
        notes.estimate_words(rows["estimated"]),
        ["Under the frameworks' profilers, which slow them: read shares"],
    )


def _panel(axes: Axes, rows: pd.DataFrame, colours: dict[str, str]) -> None:
    cells = list(dict.fromkeys(rows["cell"]))
    totals = []
    for place, cell in enumerate(cells):
        part = rows[rows["cell"] == cell]
        left = 0.0
        by_family = part.groupby("family")["per_unit_j"].sum()
        for family in (name for name in FAMILIES if name in by_family):
            width = float(by_family[family])
            axes.barh(place, width, 0.62, left, color=colours[family], edgecolor="#666666", linewidth=0.5, zorder=3)
            left += width
        totals.append(left)
    axes.set_yticks(range(len(cells)), [_short(cell) for cell in cells])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("energy per unit of work")
    style.scale(axes.xaxis, totals, "J", from_zero=True)


def _short(cell: str) -> str:
    """Return a cell without its phase, which its panel names."""
    return cell.partition("-")[2] or cell
