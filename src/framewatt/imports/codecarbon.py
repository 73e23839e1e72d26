"""codecarbon's emissions.csv: kilowatt-hours of processor, memory and GPU over a run, one row per tracker.

The file does not say which of them codecarbon measured and which it computed from a nominal power; memory is always
computed. Only the domains that the study declares as measured are taken as measured. Source: codecarbon's
documentation, "Output".
"""

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.base.instants import utc_ns
from framewatt.imports.contract import Log, Options
from framewatt.imports.text import Text, comma_hint, is_failed_reading, read_text
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Trace

_J_PER_KWH = 3.6e6
DOMAINS = {"cpu_energy": "cpu:package", "gpu_energy": "gpu:all", "ram_energy": "cpu:dram"}
_MEASURED_AS = {"cpu_energy": "cpu", "gpu_energy": "gpu", "ram_energy": "ram"}
_UPDATE_PERIOD_S = 15.0
"""Sampling period in seconds: codecarbon's default."""


def read(path: Path, options: Options) -> Log:
    """Return the joules of every domain that is not 0, and the seconds of the run.

    Raises:
        FramewattError: the file has no row, or more than one, lacks a column, or has a malformed number.
    """
    text = read_text(path)
    number, row = _only_row(text, options)
    duration_s = _number(text, number, row, "duration")
    if not duration_s > 0:
        raise text.wrong(number, f"duration {row['duration']!r}", "seconds above 0")
    joules = {column: _number(text, number, row, column) * _J_PER_KWH for column in DOMAINS if row.get(column)}
    # codecarbon writes 0 for what it has no meter for.
    joules = {column: energy for column, energy in joules.items() if energy}
    if not joules:
        raise text.wrong(number, "no energy above 0", f"one in {', '.join(DOMAINS)}")
    channels = tuple(channel_of(column, options, duration_s) for column in joules)
    end_ns = round(duration_s * 1e9)
    start_ns = _end_of(text, number, row) - end_ns
    n = len(channels)
    time_ns = np.repeat(np.array([start_ns, start_ns + end_ns], np.int64), n)
    value = np.concatenate([np.zeros(n), np.array(list(joules.values()))])
    trace = Trace(channels, time_ns, np.tile(np.arange(n, dtype=np.int32), 2), value)
    return Log(trace, dated=True, duration_s=duration_s)


def channel_of(column: str, options: Options, duration_s: float) -> Channel:
    """Return the channel of a column.

    Args:
        column: one of DOMAINS.
        options: how the file is read.
        duration_s: seconds that the run took.
    """
    return Channel(
        "codecarbon",
        DOMAINS[column],
        "energy_j",
        COUNTER,
        options.interval_s or _UPDATE_PERIOD_S,
        estimated=_MEASURED_AS[column] not in options.measured,
        period_s=duration_s,
    )


def _only_row(text: Text, options: Options) -> tuple[int, Mapping[str, str]]:
    """Return the number and the cells of the only row that is left after dropping."""
    (_, header), *_ = text.lines()
    names = next(csv.reader([header]))
    rows = [(number, next(csv.reader([line]))) for number, line in text.from_line(2).dropped(options).lines()]
    if len(rows) != 1:
        raise FramewattError(
            f"{text.path}: found {len(rows)} rows; allowed: one, the run's (drop_head and drop_tail leave out others)"
        )
    number, cells = rows[0]
    if len(cells) != len(names):
        raise text.wrong(
            number,
            f"{len(cells)} fields{' (cut short?)' if number == text.last else ''}",
            f"{len(names)}, as in the header",
        )
    row = dict(zip(names, cells, strict=True))
    if missing := [name for name in ("timestamp", "duration") if name not in row]:
        raise text.wrong(1, f"no column {missing[0]}", "the header of codecarbon's emissions.csv")
    return number, row


def _number(text: Text, line: int, row: Mapping[str, str], column: str) -> float:
    cell = row[column]
    if is_failed_reading(cell):
        return float("nan")
    try:
        return float(cell)
    except ValueError:
        raise text.wrong(
            line, f"{column} {cell!r}{comma_hint(cell)}", "a number with a point as decimal mark"
        ) from None


def _end_of(text: Text, line: int, row: Mapping[str, str]) -> int:
    try:
        return utc_ns(row["timestamp"])
    except ValueError:
        raise text.wrong(line, f"timestamp {row['timestamp']!r}", "ISO 8601") from None
