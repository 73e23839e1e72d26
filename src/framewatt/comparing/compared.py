"""The comparison of two packages as a whole, and its verdict."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.comparing.alike import differences_of, quantity_of, shared_cells
from framewatt.comparing.side import Side
from framewatt.statistics.changes import CANNOT_TELL, LOST, MORE, changes
from framewatt.statistics.selection import ENERGIES
from framewatt.study.stopping_rule import ENERGY, TIME

ALPHA = 0.05


@dataclass(frozen=True)
class Compared:
    """Two packages of the same cells, side by side.

    Attributes:
        quantity: the column that is compared.
        margin: share by which a cell may cost more.
        cells: CHANGES_COLUMNS.
        differs: what differs between the packages: name, and its value in each.
        only_old: cells that only the first has.
        only_new: cells that only the second has.
        estimated: whether energies are estimates, in both.
    """

    quantity: str
    margin: float
    cells: pd.DataFrame
    differs: list[tuple[str, str, str]]
    only_old: list[str]
    only_new: list[str]
    estimated: bool

    def failing(self, *, strict: bool) -> pd.DataFrame:
        """Return the cells for which a comparison fails.

        Args:
            strict: whether cells also fail that are not shown to cost at most the margin more.
        """
        verdicts = [MORE, LOST, *([CANNOT_TELL] if strict else [])]
        return self.cells[self.cells["verdict"].isin(verdicts)]

    @property
    def judged(self) -> bool:
        """Whether any cell could have failed by the costs of its runs."""
        return bool((self.cells["no_interval"] == "").any())

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison in the form of its JSON file."""
        return {
            "quantity": self.quantity,
            "estimated": self.estimated,
            "fail_above": self.margin,
            "alpha": ALPHA,
            "differs": [{"what": what, "old": old, "new": new} for what, old, new in self.differs],
            "only_old": self.only_old,
            "only_new": self.only_new,
            "cells": [_plain(row) for row in self.cells.to_dict("records")],
        }


def compare(old: Side, new: Side, requested: str, margin: float) -> Compared:
    """Compare two packages.

    Args:
        old: the package that the other one is compared with.
        new: the package that may have become worse.
        requested: `energy` or `time`.
        margin: share by which a cell may cost more.

    Raises:
        FramewattError: they are not of the same cells, or not measured alike.
    """
    quantity = quantity_of(old, new, requested)
    cells = shared_cells(old, new, quantity)
    before, now = ({cell: side.rows_of(cell)[quantity].to_numpy(dtype=float) for cell in cells} for side in (old, new))
    if not any(len(before[cell]) and len(now[cell]) for cell in cells):
        raise FramewattError(
            f"{new.path} and {old.path} have no cell with runs that count in both. Compare packages with such runs."
        )
    return Compared(
        quantity,
        margin,
        changes(before, now, margin, ALPHA),
        differences_of(old, new),
        [cell for cell in old.cells if cell not in cells],
        [cell for cell in new.cells if cell not in cells],
        quantity in ENERGIES and any(bool(old.rows_of(cell)["estimated"].any()) for cell in cells),
    )


def margin_of(text: str) -> float:
    """Return the share of FAIL_ABOVE: `5%` or `0.05`.

    Raises:
        FramewattError: it is not a share; a plain 5 may mean either.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip(), re.ASCII)
    share = float(match[1]) / (100 if match[2] else 1) if match else math.nan
    if not match or share > 10 or (not match[2] and share >= 1):
        raise FramewattError(f"FAIL_ABOVE: {text!r} is not a share. Use 5% or 0.05.")
    return share


def requested_quantity(text: str) -> str:
    """Return `energy` or `time`, as QUANTITY gives it.

    Raises:
        FramewattError: it is neither.
    """
    if text not in (ENERGY, TIME):
        raise FramewattError(f"QUANTITY: {text!r} cannot be compared. Use {ENERGY} or {TIME}.")
    return text


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row with None for NaN, which JSON lacks."""
    return {
        str(key): None if isinstance(value, float) and not math.isfinite(value) else value for key, value in row.items()
    }
