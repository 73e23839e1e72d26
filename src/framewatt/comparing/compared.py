"""The comparison of two packages as a whole, and what it comes to."""

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
        differs: what differs between the packages: name, and what it is in either.
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
        """The cells for which a comparison fails.

        Args:
            strict: whether those fail too of which it cannot be told that they cost no more than the margin.
        """
        verdicts = [MORE, LOST, *([CANNOT_TELL] if strict else [])]
        return self.cells[self.cells["verdict"].isin(verdicts)]

    @property
    def judged(self) -> bool:
        """Whether there is any cell that could have failed by what its runs cost."""
        return bool((self.cells["no_interval"] == "").any())

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
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


def compare(old: Side, new: Side, asked: str, margin: float) -> Compared:
    """Compare two packages.

    Args:
        old: what is held to.
        new: what is held.
        asked: `energy` or `time`.
        margin: share by which a cell may cost more.

    Raises:
        FramewattError: they are not of the same cells, or not measured alike.
    """
    quantity = quantity_of(old, new, asked)
    cells = shared_cells(old, new, quantity)
    before, now = ({cell: side.of(cell)[quantity].to_numpy(dtype=float) for cell in cells} for side in (old, new))
    if not any(len(before[cell]) and len(now[cell]) for cell in cells):
        raise FramewattError(f"{new.path}: found no cell with runs that count in both; allowed: one or more")
    return Compared(
        quantity,
        margin,
        changes(before, now, margin, ALPHA),
        differences_of(old, new),
        [cell for cell in old.cells if cell not in cells],
        [cell for cell in new.cells if cell not in cells],
        quantity in ENERGIES and any(bool(old.of(cell)["estimated"].any()) for cell in cells),
    )


def margin_of(text: str) -> float:
    """The share that FAIL_ABOVE gives: `5%` or `0.05`.

    Raises:
        FramewattError: it is none; a plain 5 may be either.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip(), re.ASCII)
    share = float(found[1]) / (100 if found[2] else 1) if found else math.nan
    if not found or share > 10 or (not found[2] and share >= 1):
        raise FramewattError(f"FAIL_ABOVE: found {text!r}; allowed: a share, as 5% or 0.05")
    return share


def requested_quantity(text: str) -> str:
    """`energy` or `time`, as QUANTITY gives it.

    Raises:
        FramewattError: it is neither.
    """
    if text not in (ENERGY, TIME):
        raise FramewattError(f"QUANTITY: found {text!r}; allowed: {ENERGY} or {TIME}")
    return text


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row without NaN, which JSON does not have."""
    return {
        str(key): None if isinstance(value, float) and not math.isfinite(value) else value for key, value in row.items()
    }
