"""Which cells of a study are profiled."""

from collections.abc import Iterable, Mapping
from typing import Any

from framewatt.study.cell import Cell


def profiled_cells(settings: Mapping[str, Any], cells: Iterable[Cell]) -> dict[str, Cell]:
    """The cells that are profiled, by name; none unless the study asks for it.

    Cells that differ in the state of caches alone are the same program: the first of them is profiled. A program in
    Node.js is none that cProfile sees into.

    Args:
        settings: of the study.
        cells: its cells.
    """
    if not settings.get("profile"):
        return {}
    found: dict[tuple[Any, ...], Cell] = {}
    for cell in cells:
        levels = {name: level for name, level in cell.to_dict().items() if name != "caches"}
        if cell.changed.get("client") != "node":
            found.setdefault(tuple(levels.items()), cell)
    return {cell.id: cell for cell in found.values()}
