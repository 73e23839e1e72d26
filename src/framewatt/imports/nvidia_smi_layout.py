"""The columns of a log of nvidia-smi and their units."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framewatt.imports.contract import Options
from framewatt.imports.text import Text
from framewatt.meters.nvidia_smi import FIELDS, UNITS

QUANTITIES = FIELDS | {
    "power.draw.instant": ("power_instant_w", 0.01),
    "power.draw.average": ("power_average_w", 0.01),
}
TIME, INDEX = "timestamp", "index"
_USUAL_UNITS = {"power.draw": "W", "power.draw.instant": "W", "power.draw.average": "W", "memory.used": "MiB"}
"""Units of bare numbers (`--format=csv,nounits`), where the header names none."""


@dataclass(frozen=True)
class Layout:
    """Fields and units of the columns.

    Attributes:
        columns: number of columns.
        place: field -> number of its column, from 0.
        unit: field -> the unit that the header names, or the study's column mapping leaves to the cells (None).
    """

    columns: int
    place: dict[str, int]
    unit: dict[str, str | None]

    @property
    def fields(self) -> list[str]:
        """The fields that become channels."""
        return [field for field in self.place if field in QUANTITIES]


@dataclass(frozen=True)
class Columns:
    """Columns of a file: times (None where there is no clock), GPU of each row, and one row of values per field."""

    time_ns: NDArray[np.int64] | None
    gpu: NDArray[np.int64]
    value: NDArray[np.float64]
    flags: tuple[str, ...] = ()


def layout_of(text: Text, options: Options) -> tuple[Layout, Text]:
    """The layout from the header and the study, and the lines below the header."""
    number, header = next(text.lines())
    names = [name.strip() for name in header.split(",")]
    bare = [name.split(" [")[0] for name in names]
    wanted = {field: field for field in (*QUANTITIES, TIME, INDEX)} | dict(options.columns)
    numbered = all(isinstance(column, int) for column in options.columns.values()) and options.columns
    if numbered:
        place = {field: int(column) - 1 for field, column in options.columns.items()}
        rest = text
    else:
        where = {name: index for index, name in reversed([*enumerate(bare), *enumerate(names)])}
        place = {field: where[str(column)] for field, column in wanted.items() if str(column) in where}
        rest = text.from_line(number + 1)
        if missing := [str(column) for field, column in options.columns.items() if field not in place]:
            raise text.wrong(number, f"no column {missing[0]!r}", f"one of {', '.join(names)}")
    if not any(QUANTITIES[field][0].startswith("power") for field in place if field in QUANTITIES):
        raise text.wrong(
            number, f"no power among {', '.join(names)}", "a header with power.draw, or its column's number"
        )
    if TIME not in place and options.interval_s is None:
        raise text.wrong(number, "no timestamp", "a column timestamp, or the study's interval_s")
    units = {} if numbered else {f: names[i].split(" [")[1].rstrip("]") for f, i in place.items() if " [" in names[i]}
    return Layout(len(names), place, {field: units.get(field) for field in place}), rest


def factor(field: str, unit: str | None) -> float:
    """Conversion factor from the unit of a cell to the quantity's unit."""
    return UNITS.get(unit or _USUAL_UNITS.get(field, ""), 1.0)
