"""Which cells of a study have a profile, or a timeline of operators."""

from collections.abc import Iterable, Mapping
from typing import Any

from framewatt.study.cell import Cell
from framewatt.study.load import rate_of


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
