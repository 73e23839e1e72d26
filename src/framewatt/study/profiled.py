"""What a run is for, and which cells of a study have a profile, or a timeline of operators.

A profiled run is slowed by its profiler, so it is a run of its own and never a measurement.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from framewatt.study.cell import Cell
from framewatt.study.load import rate_of

MEASURE, PROFILE, TIMELINE, REPEAT = "measure", "profile", "timeline", "repeat"

WINDOWS, PROGRAM = "windows", "program"
"""What a profile is of: the primary windows alone, or everything from the first import on, as georgiou2022 has it."""


def is_measured(job: Mapping[str, Any]) -> bool:
    """Whether a job, or the record of a run, is of a measurement; those from before schema 4 are, and do not say so."""
    return bool(job.get("purpose", MEASURE) == MEASURE)


def profiled_cells(settings: Mapping[str, Any], cells: Iterable[Cell]) -> dict[str, Cell]:
    """The cells that are profiled, by name; none unless the study asks for it.

    A program in Node.js is none that cProfile sees into.

    Args:
        settings: of the study.
        cells: its cells.
    """
    return _programs(cells) if settings.get("profile") else {}


def timeline_cells(settings: Mapping[str, Any], cells: Iterable[Cell]) -> dict[str, Cell]:
    """The cells that have a timeline, by name; none unless the study asks for it.

    Requests at a rate are served by threads, in no step of the program's.

    Args:
        settings: of the study.
        cells: its cells.
    """
    if not settings.get("operators"):
        return {}
    return {name: cell for name, cell in _programs(cells).items() if rate_of(cell.to_dict().get("load")) is None}


def repeated_cells(settings: Mapping[str, Any], cells: Iterable[Cell]) -> dict[str, Cell]:
    """The cells whose operators are repeated alone, by name: those that have a timeline, where the study asks for it.

    Args:
        settings: of the study.
        cells: its cells.
    """
    return timeline_cells(settings, cells) if settings.get("repeated_operators") else {}


def _programs(cells: Iterable[Cell]) -> dict[str, Cell]:
    """Cells that are programs in Python, by name; of those that differ in the state of caches alone, the first."""
    found: dict[tuple[Any, ...], Cell] = {}
    for cell in cells:
        levels = {name: level for name, level in cell.to_dict().items() if name != "caches"}
        if cell.changed.get("client") != "node":
            found.setdefault(tuple(levels.items()), cell)
    return {cell.id: cell for cell in found.values()}
