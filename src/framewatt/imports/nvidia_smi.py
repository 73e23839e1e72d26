"""Reads output of `nvidia-smi --query-gpu=… --format=csv`: units in the header or in the cells, or bare numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.imports.contract import Log, Options
from framewatt.imports.nvidia_smi_layout import INDEX, QUANTITIES, TIME, Columns, Layout, factor, layout_of
from framewatt.imports.nvidia_smi_lines import line_by_line
from framewatt.imports.text import Text, read_text
from framewatt.meters.contract import GAUGE, Channel
from framewatt.meters.nvidia_smi import unit_of
from framewatt.meters.trace import Trace, joined

_UPDATE_PERIOD_S = 0.1


def read(path: Path, options: Options) -> Log:
    """Power, utilisation, memory, temperature and clocks of every GPU in the file.

    Raises:
        FramewattError: a line has too few or too many fields, a value has no unit or another than its column, a time
            is before the previous one, or there is no power.
    """
    layout, text = layout_of(read_text(path), options)
    text = text.dropped(options)
    found = _quickly(text, layout) or line_by_line(text, layout)
    if not len(found.gpu):
        raise FramewattError(f"{path}: found no reading below the header; allowed: at least two")
    gpus = [int(gpu) for gpu in np.unique(found.gpu)]
    parts = [_gpu_trace(found, layout, options, gpu, alone=INDEX not in layout.place) for gpu in gpus]
    trace = joined(parts)
    return Log(trace, dated=found.time_ns is not None, paced=found.time_ns is None, flags=found.flags)


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
    """The cells of every column without their units; None where a line has another layout than the first.

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
    """Cells as numbers.

    Raises:
        ArrowInvalid: a cell is no number.
    """
    found: NDArray[np.float64] = pa.array(cells, pa.string()).cast(pa.float64()).to_numpy()
    return found


def _times(cells: Sequence[bytes]) -> NDArray[np.int64]:
    """Nanoseconds since 1970 of cells that are dates and times without a zone.

    Raises:
        ArrowInvalid: a cell has another format.
    """
    found: NDArray[np.int64] = pa.array(cells, pa.string()).cast(pa.timestamp("ns")).to_numpy().view(np.int64)
    return found


def _steps_back(time_ns: NDArray[np.int64] | None, gpu: NDArray[np.int64]) -> bool:
    """Whether some reading of a GPU has an earlier timestamp than its previous one."""
    return time_ns is not None and any((np.diff(time_ns[gpu == one]) < 0).any() for one in np.unique(gpu))


def _gpu_trace(found: Columns, layout: Layout, options: Options, gpu: int, *, alone: bool) -> Trace:
    """The trace of one GPU."""
    mine = slice(None) if alone else found.gpu == gpu
    value = found.value[:, mine]
    n = value.shape[1]
    if found.time_ns is None:
        time_ns = np.rint(np.arange(n) * ((options.interval_s or 0) * 1e9)).astype(np.int64)
    else:
        time_ns = found.time_ns[mine]
    domain, period_s = options.domain if alone else f"gpu:{gpu}", period_of(time_ns, options)
    channels = tuple(channel_of(domain, field, period_s) for field in layout.fields)
    k = len(channels)
    return Trace(channels, np.tile(time_ns, k), np.repeat(np.arange(k, dtype=np.int32), n), value.ravel())


def period_of(time_ns: NDArray[np.int64], options: Options) -> float:
    """Seconds between two readings of a GPU: stated by the study, else the median interval of its readings."""
    return options.interval_s or (float(np.median(np.diff(time_ns))) * 1e-9 if len(time_ns) > 1 else 1.0)


def channel_of(domain: str, field: str, period_s: float) -> Channel:
    """The channel of a GPU's column.

    Args:
        domain: of the GPU.
        field: one of QUANTITIES.
        period_s: seconds between two readings.
    """
    quantity, resolution = QUANTITIES[field]
    update_period_s = max(period_s, _UPDATE_PERIOD_S)
    return Channel("nvidia-smi", domain, quantity, GAUGE, update_period_s, resolution=resolution, period_s=period_s)
