"""Plain watts, one reading per line: `37.51 W`, or a bare number. The file has no clock; the study states the interval.

Georgiou et al. 2022 stored the output of `nvidia-smi --query-gpu=power.draw --loop=1` in this form.
"""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.imports.contract import Log, Options, single_channel
from framewatt.imports.text import Text, is_failed_reading, read_text
from framewatt.meters.contract import GAUGE, Channel
from framewatt.meters.nvidia_smi import UNITS, unit_of

_POWERS = ("W", "mW", "")
_ALLOWED = "a number, alone or with W or mW as on the lines before, or [N/A]"


def read(path: Path, options: Options) -> Log:
    """Read watts at the study's interval.

    Raises:
        FramewattError: a line is no power, its unit differs from the first line's, or the study states no interval.
    """
    if options.interval_s is None:
        raise FramewattError(f"{path}: has no clock; state the seconds between two lines as interval_s")
    text = read_text(path).dropped(options)
    quick = _quickly(text)
    value, flags = (quick, ()) if quick is not None else _line_by_line(text)
    time_ns = np.rint(np.arange(len(value)) * (options.interval_s * 1e9))
    return Log(single_channel(channel_of(options, options.interval_s), time_ns, value), paced=True, flags=flags)


def channel_of(options: Options, interval_s: float) -> Channel:
    """Return the channel of a file.

    Args:
        options: how it is read.
        interval_s: seconds between two of its lines.
    """
    return Channel("watts", options.domain, "power_w", GAUGE, interval_s, period_s=interval_s)


def _quickly(text: Text) -> NDArray[np.float64] | None:
    """Fast path: the values of a file in which every line is a number with the same unit; None for any other file."""
    data = text.data
    unit = next((u for u in _POWERS if u and data.split(b"\n", 1)[0].rstrip().endswith(f" {u}".encode())), "")
    lines = data.count(b"\n")
    if text.last is not None or (unit and data.count(f" {unit}\n".encode()) != lines):
        return None
    numbers = data.replace(f" {unit}".encode(), b"") if unit else data
    try:
        cells = pc.split_pattern(pa.array([numbers[:-1]], pa.string()), "\n").values
        value: NDArray[np.float64] = cells.cast(pa.float64()).to_numpy() * UNITS[unit]
    except pa.ArrowInvalid:
        return None
    return value if np.isfinite(value).all() else None


def _line_by_line(text: Text) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the values of any file, NaN for a failed reading, and flags; an error names the malformed line."""
    values: list[float] = []
    unit: str | None = None
    for number, line in text.lines():
        if is_failed_reading(line):
            values.append(math.nan)
            continue
        unit_here = unit_of(line)
        if unit_here not in _POWERS or unit_here != (unit_here if unit is None else unit):
            if number == text.last and values:
                return np.array(values), (f"line {number} of {text.path.name} is cut short and left out",)
            raise text.wrong(number, repr(line), _ALLOWED)
        unit = unit_here
        values.append(float(line.removesuffix(unit_here)) * UNITS[unit_here])
    flags = (f"line {text.last} of {text.path.name} has no end, and may be cut short",) if text.last else ()
    return np.array(values), flags
