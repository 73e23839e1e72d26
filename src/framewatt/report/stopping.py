"""When the study stopped and why, on its page."""

import math
from collections.abc import Mapping
from typing import Any

from framewatt.frames.factor_words import label
from framewatt.report.material import Material
from framewatt.report.numbers import significant
from framewatt.report.tables import Table
from framewatt.stopping.history import sentences

_OF_PAIRS = (
    "Answers allow for the looks; the p and intervals of single pairs and cells, in tables and files, are those of a "
    "number of blocks fixed before."
)


def stopping_sentences(material: Material) -> list[str]:
    """Sentences: what the study expected, when it stopped and why, what was changed after results existed."""
    found = [material.plan["stopping"]["sentence"], material.stopping["why"], _OF_PAIRS] if material.stopping else []
    return found + sentences(material.repetitions_changed)


def table(material: Material) -> Table | None:
    """One row per look and group; None where the study has a fixed number of blocks."""
    if not material.stopping:
        return None
    levels = {cell["id"]: cell for cell in material.plan["cells"]}
    by_width = "interval" in material.stopping["repetitions"]["until"]
    rows = [
        [str(step["blocks"]), name, *_row(group, levels, material.compared, by_width=by_width)]
        for step in material.stopping["steps"]
        if step["looked"]
        for name, group in step["groups"].items()
    ]
    header = ["blocks", "group", "least so far", "least sure of", "its ratio", "e-value", "enough at", "settled"]
    return Table("stopping", "What each look saw", header, rows, frozenset({"blocks"}))


def _row(group: Mapping[str, Any], levels: Mapping[str, Any], compared: Any, *, by_width: bool) -> list[str]:
    settled = "yes" if group["settled"] else "no"
    others = [other for other in group["others"] if other["ratio"] is not None]
    if group["leader"] is None or not others:
        return [_name(group["leader"], levels, compared), "none", *[""] * 3, settled]
    near = min(others, key=_width if by_width else _how_sure)
    ends = [near["ratio_low"], near["ratio_high"]]
    interval = "" if None in ends else f" ({significant(ends[0])} to {significant(ends[1])})"
    evidence = [significant(value) if value is not None else "" for value in (near["e_value"], group["threshold"])]
    names = [_name(name, levels, compared) for name in (group["leader"], near["cell"])]
    return [*names, f"{significant(near['ratio'])}{interval}", *evidence, settled]


def _how_sure(other: Mapping[str, Any]) -> tuple[float, float, float]:
    """Sort key of how certain a cell's difference to the best is: its e-value, or the lower end of its ratio."""
    return (other["e_value"] or 0.0, other["ratio_low"] or 0.0, other["ratio"])


def _width(other: Mapping[str, Any]) -> float:
    """Sort key of how well a cell's ratio to the best is known, the worst first."""
    return -(math.inf if other["ratio_high"] is None else other["ratio_high"] / other["ratio"])


def _name(cell: str | None, levels: Mapping[str, Any], compared: Any) -> str:
    return "none" if cell is None else label(levels[cell], compared)
