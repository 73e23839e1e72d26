"""Reads output of `nvidia-smi --query-gpu=… --format=csv`: units in the header or in the cells, or bare numbers.

A file with complete lines and one unit per column is read at once, any other line by line: errors name the line.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.base.instants import utc_ns
from framewatt.imports.contract import Log, Options
from framewatt.imports.text import Text, comma_hint, is_failed_reading, read_text
from framewatt.meters.contract import GAUGE, Channel
from framewatt.meters.nvidia_smi import FIELDS, UNITS, unit_of
from framewatt.meters.trace import Trace, joined

QUANTITIES = FIELDS | {
    "power.draw.instant": ("power_instant_w", 0.01),
    "power.draw.average": ("power_average_w", 0.01),
}
TIME, INDEX = "timestamp", "index"
_DEFAULT_UNITS = {"power.draw": "W", "power.draw.instant": "W", "power.draw.average": "W", "memory.used": "MiB"}
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
    """Return the layout from the header and the study, and the lines below the header."""
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
    """Return the conversion factor from the unit of a cell to the quantity's unit."""
    return UNITS.get(unit or _DEFAULT_UNITS.get(field, ""), 1.0)


def line_by_line(text: Text, layout: Layout) -> Columns:
    """Return the columns of any file, NaN for failed readings; raises an error that names a malformed line."""
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
    """Return time, GPU and values of a line; the units of its cells are stored in `units`."""
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


_UPDATE_PERIOD_S = 0.1


def read(path: Path, options: Options) -> Log:
    """Return power, utilisation, memory, temperature and clocks of every GPU in the file.

    Raises:
        FramewattError: a line has too few or too many fields, a value has no unit or another than its column, a time
            is before the previous one, or there is no power.
    """
    layout, text = layout_of(read_text(path), options)
    text = text.dropped(options)
    columns = _quickly(text, layout) or line_by_line(text, layout)
    if not len(columns.gpu):
        raise FramewattError(f"{path}: found no reading below the header; allowed: at least two")
    gpus = [int(gpu) for gpu in np.unique(columns.gpu)]
    parts = [_gpu_trace(columns, layout, options, gpu, alone=INDEX not in layout.place) for gpu in gpus]
    trace = joined(parts)
    return Log(trace, dated=columns.time_ns is not None, paced=columns.time_ns is None, flags=columns.flags)


def _quickly(text: Text, layout: Layout) -> Columns | None:
    """Fast path: the columns of a file with complete lines and one unit per column; None for any other file."""
    cells = [cell.strip() for cell in text.data.split(b"\n", 1)[0].decode("utf-8", "replace").split(",")]
    if text.last is not None or len(cells) != layout.columns:
        return None
    suffixes = [cell.rpartition(" ")[2] if unit_of(cell) else "" for cell in cells]
    units = {field: suffixes[layout.place[field]] or layout.unit[field] for field in layout.fields}
    columns = _bare_cells(text, suffixes)
    if columns is None or any(layout.unit[field] not in (None, unit) for field, unit in units.items()):
        return None
    try:
        time_ns = _times(columns[layout.place[TIME]]) if TIME in layout.place else None
        numbers = [_numbers(columns[layout.place[field]]) for field in layout.fields]
        gpu = np.zeros(len(numbers[0]), np.int64)
        if INDEX in layout.place:
            gpu = _numbers(columns[layout.place[INDEX]]).astype(np.int64)
    except pa.ArrowInvalid:
        return None
    value = np.stack([n * factor(f, units[f]) for n, f in zip(numbers, layout.fields, strict=True)])
    fine = np.isfinite(value).all() and not _steps_back(time_ns, gpu)
    return Columns(time_ns, gpu, value) if fine else None


def _bare_cells(text: Text, suffixes: Sequence[str]) -> list[list[bytes]] | None:
    """Return the cells of every column without their units; None where a line has another layout than the first.

    Args:
        text: lines below the header.
        suffixes: unit after the number in every cell of the first line, empty where there is none.
    """
    data, rows, width = text.data, text.data.count(b"\n"), len(suffixes)
    for suffix in {suffix for suffix in suffixes if suffix}:
        if data.count(f" {suffix}".encode()) != rows * suffixes.count(suffix):
            return None
        data = data.replace(f" {suffix}".encode(), b"")
    data = data.replace(b", ", b",").replace(b"/", b"-")
    # A mark at the end of every line shows that no line is longer or shorter than the others.
    cells = data.replace(b"\n", b",\0,").split(b",")
    ends = cells[width :: width + 1]
    if len(cells) != rows * (width + 1) + 1 or ends.count(b"\0") != rows:
        return None
    return [cells[index : -1 : width + 1] for index in range(width)]


def _numbers(cells: Sequence[bytes]) -> NDArray[np.float64]:
    """Return cells as numbers.

    Raises:
        ArrowInvalid: a cell is no number.
    """
    numbers: NDArray[np.float64] = pa.array(cells, pa.string()).cast(pa.float64()).to_numpy()
    return numbers


def _times(cells: Sequence[bytes]) -> NDArray[np.int64]:
    """Return the nanoseconds since 1970 of cells that are dates and times without a zone.

    Raises:
        ArrowInvalid: a cell has another format.
    """
    times: NDArray[np.int64] = pa.array(cells, pa.string()).cast(pa.timestamp("ns")).to_numpy().view(np.int64)
    return times


def _steps_back(time_ns: NDArray[np.int64] | None, gpu: NDArray[np.int64]) -> bool:
    """Return whether some reading of a GPU has an earlier timestamp than the previous reading."""
    return time_ns is not None and any((np.diff(time_ns[gpu == one]) < 0).any() for one in np.unique(gpu))


def _gpu_trace(columns: Columns, layout: Layout, options: Options, gpu: int, *, alone: bool) -> Trace:
    """Return the trace of one GPU."""
    rows = slice(None) if alone else columns.gpu == gpu
    value = columns.value[:, rows]
    n = value.shape[1]
    if columns.time_ns is None:
        time_ns = np.rint(np.arange(n) * ((options.interval_s or 0) * 1e9)).astype(np.int64)
    else:
        time_ns = columns.time_ns[rows]
    domain, period_s = options.domain if alone else f"gpu:{gpu}", period_of(time_ns, options)
    channels = tuple(channel_of(domain, field, period_s) for field in layout.fields)
    k = len(channels)
    return Trace(channels, np.tile(time_ns, k), np.repeat(np.arange(k, dtype=np.int32), n), value.ravel())


def period_of(time_ns: NDArray[np.int64], options: Options) -> float:
    """Return the seconds between two readings of a GPU: as the study states, else the median of its intervals."""
    return options.interval_s or (float(np.median(np.diff(time_ns))) * 1e-9 if len(time_ns) > 1 else 1.0)


def channel_of(domain: str, field: str, period_s: float) -> Channel:
    """Return the channel of a GPU's column.

    Args:
        domain: of the GPU.
        field: one of QUANTITIES.
        period_s: seconds between two readings.
    """
    quantity, resolution = QUANTITIES[field]
    update_period_s = max(period_s, _UPDATE_PERIOD_S)
    return Channel("nvidia-smi", domain, quantity, GAUGE, update_period_s, resolution=resolution, period_s=period_s)
