"""Reads a log of nvidia-smi line by line (slow path), so that errors name the line."""

import math
from collections.abc import Sequence

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.base.instants import utc_ns
from framewatt.imports.nvidia_smi_layout import INDEX, TIME, Columns, Layout, factor
from framewatt.imports.text import Text
from framewatt.imports.values import comma_hint, is_failed_reading
from framewatt.meters.nvidia_smi import unit_of


def line_by_line(text: Text, layout: Layout) -> Columns:
    """The columns of any file, NaN for failed readings; raises an error that names a malformed line."""
    times: list[int] = []
    gpus: list[int] = []
    values: list[list[float]] = []
    flags: tuple[str, ...] = ()
    units = dict(layout.unit)
    latest: dict[int, int] = {}
    for number, line in text.lines():
        try:
            time_ns, gpu, row = _row(text, number, [cell.strip() for cell in line.split(",")], layout, units)
        except FramewattError:
            if number != text.last or not values:
                raise
            flags = (f"line {number} of {text.path.name} is cut short and left out",)
            break
        if time_ns < latest.get(gpu, time_ns):
            raise text.wrong(
                number, f"{line.split(',')[layout.place[TIME]].strip()}, before the reading above", "times that ascend"
            )
        latest[gpu] = time_ns
        times.append(time_ns)
        gpus.append(gpu)
        values.append(row)
    value = np.array(values).reshape(len(values), len(layout.fields)).T
    dated = np.array(times, np.int64) if TIME in layout.place else None
    return Columns(dated, np.array(gpus, np.int64), value, flags)


def _row(
    text: Text, number: int, cells: Sequence[str], layout: Layout, units: dict[str, str | None]
) -> tuple[int, int, list[float]]:
    """Time, GPU and values of a line; the units of its cells are kept in `units`."""
    if len(cells) != layout.columns:
        hint = " (a comma as decimal mark?)" if len(cells) > layout.columns else ""
        raise text.wrong(number, f"{len(cells)} fields{hint}", f"{layout.columns}, as in the header or first line")
    time_ns = gpu = 0
    if TIME in layout.place:
        stamp = cells[layout.place[TIME]]
        try:
            time_ns = utc_ns(stamp)
        except ValueError:
            raise text.wrong(
                number, f"time {stamp!r}", "2026/01/31 23:59:59.999, ISO 8601 or seconds since 1970"
            ) from None
    if INDEX in layout.place:
        index = cells[layout.place[INDEX]]
        if not index.isdigit():
            raise text.wrong(number, f"GPU {index!r}", "the number of a GPU")
        gpu = int(index)
    return time_ns, gpu, [_value(text, number, field, cells[layout.place[field]], units) for field in layout.fields]


def _value(text: Text, number: int, field: str, cell: str, units: dict[str, str | None]) -> float:
    if is_failed_reading(cell):
        return math.nan
    unit = unit_of(cell)
    if unit is None:
        raise text.wrong(number, f"{field} {cell!r}{comma_hint(cell)}", "a number in a unit of nvidia-smi's, or [N/A]")
    known = units[field]
    # Bare numbers below a header with a unit are in that unit.
    if known is not None and unit not in (known, ""):
        raise text.wrong(number, f"{field} in {unit}", f"{known or 'no unit'}, as above")
    if known and not unit and number == text.last:
        raise text.wrong(number, f"{field} {cell!r} at the end of the file", "a whole line")
    units[field] = known if known is not None else unit
    return float(cell.removesuffix(unit)) * factor(field, unit or known)
