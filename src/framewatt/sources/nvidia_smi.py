"""What `nvidia-smi --query-gpu=… --format=csv` wrote: units in the header or in the cells, or bare numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from framewatt.errors import FramewattError
from framewatt.meters.contract import GAUGE, Channel
from framewatt.meters.nvidia_smi import unit_of
from framewatt.sources.contract import Log, Options
from framewatt.sources.nvidia_smi_layout import INDEX, QUANTITIES, TIME, Columns, Layout, factor, layout_of
from framewatt.sources.nvidia_smi_lines import line_by_line
from framewatt.sources.text import Text, read_text
from framewatt.trace import Trace

_UPDATE_PERIOD_S = 0.1


def read(path: Path, options: Options) -> Log:
    """Power, utilisation, memory, temperature and clocks of every GPU in the file.

    Raises:
        FramewattError: a line has too few or too many fields, a value has no unit or another than its column, a time
            is before the one above it, or there is no power.
    """
    layout, text = layout_of(read_text(path), options)
    text = text.dropped(options)
    found = _quickly(text, layout) or line_by_line(text, layout)
    if not len(found.gpu):
        raise FramewattError(f"{path}: found no reading below the header; allowed: at least two")
    gpus = [int(gpu) for gpu in np.unique(found.gpu)]
    parts = [_gpu_trace(found, layout, options, gpu, alone=INDEX not in layout.place) for gpu in gpus]
    trace = parts[0] if len(parts) == 1 else _together(parts)
    return Log(trace, dated=found.time_ns is not None, paced=found.time_ns is None, flags=found.flags)


def _quickly(text: Text, layout: Layout) -> Columns | None:
    """The columns of a file in which every line is whole and every column has one unit; None for any other."""
    cells = [cell.strip() for cell in text.data.split(b"\n", 1)[0].decode("utf-8", "replace").split(",")]
    if text.last is not None or len(cells) != layout.columns:
        return None
    suffixes = [cell.rpartition(" ")[2] if unit_of(cell) else "" for cell in cells]
    units = {field: suffixes[layout.place[field]] or layout.unit[field] for field in layout.fields}
    table = _bare_numbers(text, layout, suffixes)
    if table is None or any(layout.unit[field] not in (None, unit) for field, unit in units.items()):
        return None

    def column(field: str) -> Any:
        return table[f"f{layout.place[field]}"].to_numpy()

    time_ns = column(TIME).view(np.int64) if TIME in layout.place else None
    gpu = column(INDEX).astype(np.int64) if INDEX in layout.place else np.zeros(table.num_rows, np.int64)
    value = np.stack([column(field) * factor(field, units[field]) for field in layout.fields])
    return Columns(time_ns, gpu, value) if np.isfinite(value).all() and not _steps_back(time_ns, gpu) else None


def _bare_numbers(text: Text, layout: Layout, suffixes: Sequence[str]) -> Any:
    """The wanted columns (`f0`, `f1`, …) without their units; None where a cell is not what its column's first is.

    Args:
        text: lines below the header.
        layout: what the columns are.
        suffixes: unit behind the number in every cell of the first line, empty where there is none.
    """
    data, rows = text.data, text.data.count(b"\n")
    for suffix in {suffix for suffix in suffixes if suffix}:
        if data.count(f" {suffix}".encode()) != rows * suffixes.count(suffix):
            return None
        data = data.replace(f" {suffix}".encode(), b"")
    kinds = {f"f{index}": pa.float64() for index in layout.place.values()}
    if TIME in layout.place:
        kinds[f"f{layout.place[TIME]}"] = pa.timestamp("ns")
        data = data.replace(b"/", b"-")
    try:
        return pa.csv.read_csv(
            pa.BufferReader(data.replace(b", ", b",")),
            read_options=pa.csv.ReadOptions(autogenerate_column_names=True, use_threads=False),
            convert_options=pa.csv.ConvertOptions(column_types=kinds, include_columns=list(kinds), null_values=[]),
        )
    except (pa.ArrowInvalid, KeyError):
        return None


def _steps_back(time_ns: NDArray[np.int64] | None, gpu: NDArray[np.int64]) -> bool:
    """Whether some reading of a GPU is dated before the one above it."""
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
    period_s = options.interval_s or (float(np.median(np.diff(time_ns))) * 1e-9 if n > 1 else 1.0)
    channels = tuple(
        Channel(
            "nvidia-smi",
            options.domain if alone else f"gpu:{gpu}",
            QUANTITIES[field][0],
            GAUGE,
            max(period_s, _UPDATE_PERIOD_S),
            resolution=QUANTITIES[field][1],
            period_s=period_s,
        )
        for field in layout.fields
    )
    k = len(channels)
    return Trace(channels, np.tile(time_ns, k), np.repeat(np.arange(k, dtype=np.int32), n), value.ravel())


def _together(parts: Sequence[Trace]) -> Trace:
    """One trace of several."""
    firsts = np.cumsum([0, *(len(part.channels) for part in parts[:-1])])
    return Trace(
        tuple(channel for part in parts for channel in part.channels),
        np.concatenate([part.monotonic_ns for part in parts]),
        np.concatenate([part.channel + first for part, first in zip(parts, firsts, strict=True)]),
        np.concatenate([part.value for part in parts]),
    )
