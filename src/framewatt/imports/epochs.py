"""Reads a training's CSV file with one row per epoch: when it ended, and the model's metrics."""

import csv
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.instants import utc_ns
from framewatt.imports.contract import NO_READINGS, Epoch, Log, Options
from framewatt.imports.text import Text, comma_hint, is_failed_reading, read_text
from framewatt.tasks import DEFAULT

METRICS = DEFAULT.names
"""Metrics that a file may have columns of."""

_END = "end"


def read(path: Path, options: Options) -> Log:
    """Return the epochs in order, on the file's clock.

    The columns are `end` and any of METRICS. The column `end` has the name `timestamp` unless the study names another.

    Raises:
        FramewattError: a row is incomplete, a cell is no number or time, or an epoch ends before the previous one.
    """
    text = read_text(path)
    number, header = next(text.lines())
    delimiter = max(",;\t", key=header.count)
    names = next(csv.reader([header], delimiter=delimiter))
    wanted = {name: name for name in METRICS} | {_END: "timestamp"} | dict(options.columns)
    place = {field: names.index(str(column)) for field, column in wanted.items() if column in names}
    for field, column in wanted.items():
        if field not in place and (field == _END or field in options.columns):
            raise text.wrong(number, f"no column {column!r}", f"one of {', '.join(names)}")
    epochs: list[Epoch] = []
    flags: tuple[str, ...] = ()
    below = text.from_line(number + 1).dropped(options)
    for line, row in below.lines():
        cells = next(csv.reader([row], delimiter=delimiter))
        try:
            epoch = _epoch(below, line, cells, place, len(names))
        except FramewattError:
            if line != below.last or not epochs:
                raise
            flags = (f"line {line} of {path.name} is cut short and left out",)
            break
        if epochs and epoch.end_ns <= epochs[-1].end_ns:
            raise below.wrong(line, f"{cells[place[_END]]}, not after the epoch above", "times that ascend")
        epochs.append(epoch)
    if not epochs:
        raise FramewattError(f"{path}: found no epoch below the header; allowed: one row per epoch")
    if all(epoch.end_ns % 1_000_000_000 == 0 for epoch in epochs):
        flags += ("epochs end at whole seconds, so that their edges may be up to a second off",)
    return Log(NO_READINGS, dated=True, epochs=tuple(epochs), flags=flags)


def _epoch(text: Text, line: int, cells: list[str], place: dict[str, int], columns: int) -> Epoch:
    if len(cells) != columns:
        raise text.wrong(line, f"{len(cells)} fields", f"{columns}, as in the header")
    stamp = cells[place[_END]]
    try:
        end_ns = utc_ns(stamp)
    except ValueError:
        raise text.wrong(line, f"time {stamp!r}", "ISO 8601 or seconds since 1970") from None
    metrics: dict[str, float | None] = {}
    for name in METRICS:
        if name not in place:
            continue
        cell = cells[place[name]]
        try:
            metrics[name] = None if is_failed_reading(cell) else float(cell)
        except ValueError:
            raise text.wrong(
                line, f"{name} {cell!r}{comma_hint(cell)}", "a number with a point as decimal mark"
            ) from None
    return Epoch(end_ns, metrics)
