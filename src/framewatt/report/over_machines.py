"""What several machines say together: which choice costs least on all of them, or that they do not agree."""

from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.planning.plan import planned_cells
from framewatt.report.answered import Answered
from framewatt.report.groups import Group, groups_of
from framewatt.report.material import Material
from framewatt.report.numbers import known, listed, p_value
from framewatt.statistics.answers import JOINT
from framewatt.statistics.machines import ALL, without_machine
from framewatt.study.statistical_tests import is_paired
from framewatt.tables.ratios import times


def sentences(material: Material, quantity: str, what: str) -> list[str]:
    """A sentence a group in which cells are compared; none where runs are of one machine.

    Args:
        material: of the study.
        quantity: a column.
        what: the quantity as a word.
    """
    return [_sentence(one, rows) for one, rows in _answered(material, quantity, what) if one.compared]


def _answered(material: Material, quantity: str, what: str) -> Iterator[tuple[Answered, dict[str, dict[str, Any]]]]:
    """The answer over all machines of every group, with the rows of its machines."""
    rows = [_plain(row) for row in material.machines.to_dict("records") if row["quantity"] == quantity]
    settings = material.plan["settings"]["statistics"]
    paired, confidence = is_paired(settings), 1 - float(settings["alpha"])
    for name, group in _groups(material).items():
        of_group = {row["machine"]: row for row in rows if row["group"] == name}
        if ALL in of_group:
            whole = of_group.pop(ALL)
            yield Answered(group, whole, what, material.headline.per, confidence, paired), of_group


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row with a group that is a text, also where all factors are compared."""
    told = {str(key): value for key, value in row.items()}
    return told | {"machine": str(told["machine"]), "group": told["group"] if isinstance(told["group"], str) else ""}


def _groups(material: Material) -> dict[str, Group]:
    """The groups of the study's cells, whatever machine they are of."""
    cells = {cell.id: cell for cell in map(without_machine, planned_cells(material.plan))}
    return groups_of({**material.plan, "cells": [{"id": cell.id, **cell.to_dict()} for cell in cells.values()]})


def _sentence(one: Answered, machines: Mapping[str, Mapping[str, Any]]) -> str:
    if str(one.row["agree"]) == "True":
        return f"On all {len(machines)} machines, in the mean over them: {one.sentence}{_differs(one)}{one.remark}"
    best = [f"on {name} it is {_names(one, row)}" for name, row in machines.items()]
    known_of_all = str(one.row["contradict"]) == "True"
    sure = "" if known_of_all else "; each is known by itself, and not of all of them together"
    return (
        f"Machines do not agree in {one.what} for one {one.per} ({one.group.name}): {listed(best)}{sure}.{one.remark}"
    )


def _names(one: Answered, row: Mapping[str, Any]) -> str:
    cells = row["best"].split(JOINT) if isinstance(row["best"], str) else []
    return " or ".join(one.label(cell) for cell in cells) or "unknown"


def _differs(one: Answered) -> str:
    """Whether ratios differ between machines."""
    p, most = one.row["differ_p"], one.row["differ_at_most"]
    if not known(p, most):
        return " Whether ratios differ between machines is not known."
    return f" Between machines ratios differ by at most {times(most)} ({p_value(p)} for not at all)."
