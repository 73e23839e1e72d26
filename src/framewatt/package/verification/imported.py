"""Check imported runs: their records, their channels, and what their logs give when they are read again."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from framewatt.energy.accounts import energy_channels
from framewatt.imports import codecarbon, nvidia_smi, perf, watts
from framewatt.imports.assemble import FROM_THE_LOG, PROCESS, STEADY
from framewatt.imports.contract import Options
from framewatt.imports.epochs import METRICS
from framewatt.imports.importing import import_runs, unknown_of
from framewatt.imports.nvidia_smi import QUANTITIES
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Readings, Trace
from framewatt.meters.trace_file import open_trace
from framewatt.package.verification import earlier
from framewatt.package.verification.opened import Opened, RunFolder
from framewatt.package.verification.reading import differences, some
from framewatt.runs.verdict import FAILED, OK
from framewatt.study.study import FileStudy
from framewatt.study.wordings import is_sentence, meaning_of, unmatched

WITHOUT_READINGS = "epochs"
"""Name of the reader that gives epochs and no channels."""

_GPU = re.compile(r"gpu:\d+")
_SPREADS = "perf"
"""Name of the reader for logs with a length and no clock; readings of other logs may be stretched to that length."""


@dataclass(frozen=True)
class Log:
    """A log of an imported run.

    Attributes:
        reader: name of its reader.
        options: the study's options for the reader.
    """

    reader: str
    options: Options


@dataclass(frozen=True)
class _Seen:
    """A channel of the trace, with the times of its readings and whether they may be stretched."""

    channel: Channel
    time_ns: np.ndarray
    stretched: bool

    @property
    def span_s(self) -> float:
        """Return the seconds from its first reading to its last."""
        return float(self.time_ns.max(initial=0) - self.time_ns.min(initial=0)) * 1e-9 if len(self.time_ns) else 0.0


def problems_of_imported(trace: Readings, logs: Sequence[Log]) -> Iterator[str]:
    """Yield the channels that none of a run's logs can give, the logs that gave none, and malformed totals.

    Args:
        trace: of the run.
        logs: those that it was read from.
    """
    stretched = any(log.reader == _SPREADS for log in logs)
    matched: set[int] = set()
    for index, channel in enumerate(trace.channels):
        time_ns, value = (np.asarray(part) for part in trace.read_channel(index))
        where = f"channel {channel.domain}, {channel.quantity}"
        given = [
            (number, one)
            for number, log in enumerate(logs)
            for one in _given(log, _Seen(channel, time_ns, stretched))
            if (one.domain, one.quantity) == (channel.domain, channel.quantity)
        ]
        if not given:
            readers = ", ".join(dict.fromkeys(log.reader for log in logs))
            yield f"{where}: no reader of its logs gives it ({readers})"
            continue
        lines = [list(_between(channel, one, logs[number].reader, where)) for number, one in given]
        if energy_channels([channel]):
            matched |= {number for (number, _), problems in zip(given, lines, strict=True) if not problems}
        yield from min(lines, key=len)
        if channel.kind == COUNTER and (len(value) != 2 or value[0] != 0):
            yield f"{where}: {len(value)} readings from {value[0] if len(value) else 'none'} on; a total is two, from 0"
    for number, log in enumerate(logs):
        if log.reader != WITHOUT_READINGS and number not in matched:
            yield f"no channel of energy or power is what {log.reader} gives, and a log of its is among the run's"


def _between(channel: Channel, given: Channel, reader: str, where: str) -> Iterator[str]:
    yield from differences(channel.to_dict(), given.to_dict(), where, by="the trace states", why=f"{reader} gives")


def _given(log: Log, seen: _Seen) -> Iterable[Channel]:
    """Return the channels that a log may give; the channel of the trace has to be one of them."""
    maker = _READERS.get(log.reader)
    return maker(seen, log.options) if maker else ()


def _codecarbon_channels(seen: _Seen, options: Options) -> Iterator[Channel]:
    return (codecarbon.channel_of(column, options, seen.span_s) for column in codecarbon.DOMAINS)


def _perf_channels(seen: _Seen, _: Options) -> Iterator[Channel]:
    if perf.DOMAIN.fullmatch(seen.channel.domain):
        yield perf.channel_of(seen.channel.domain, seen.span_s)


def _watts_channels(_: _Seen, options: Options) -> Iterator[Channel]:
    if options.interval_s:
        yield watts.channel_of(options, options.interval_s)


def _nvidia_smi_channels(seen: _Seen, options: Options) -> Iterator[Channel]:
    period_s = nvidia_smi.period_of(seen.time_ns, options)
    if seen.stretched and not options.interval_s:
        # The reader took the median before the readings were stretched.
        period_s = seen.channel.period_s
    # A file of several GPUs numbers them; a file of one GPU has no number.
    for domain in {options.domain, *_GPU.findall(seen.channel.domain)}:
        yield from (nvidia_smi.channel_of(domain, field, period_s) for field in QUANTITIES)


_READERS: dict[str, Callable[[_Seen, Options], Iterator[Channel]]] = {
    "codecarbon": _codecarbon_channels,
    "perf": _perf_channels,
    "watts": _watts_channels,
    "nvidia-smi": _nvidia_smi_channels,
}


_NOTHING: Mapping[str, Any] = {"machine": {}, "preflight": []}
"""The values for unknown that are not null, by key."""

_OF_LOGS = ("line_cut", "line_without_end", "whole_seconds", "failed_at_edges", "readings_stretched")
"""Codes of the flags from readers and from the merging of logs (study.wordings)."""

_OF_DOMAIN = re.compile(r"\S+: ")
"""The start of some of these flags: their domain."""

_NEVER = ("returned_to_idle", "lock", "chain")
"""Keys that only a measured record has a value for; an imported record needs no reason for their absence."""


def problems_of_unknown(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values in a record that no log gives, and wrong reasons for unknown values.

    Args:
        record: of an imported run, also one that failed.
    """
    if record["status"] not in (OK, FAILED):
        yield f"status: the record states {record['status']!r}, of an imported run"
    unknown = unknown_of(clock=record["status"] != OK or record["clock"]["utc"] is not None)
    stated = {"unknown": record.get("unknown"), "clock": record["clock"].get("monotonic_ns")}
    yield from differences(stated, {"unknown": unknown, "clock": 0}, why="an import gives")
    names = [*(name for name in unknown if name not in ("clock", "position")), *_NEVER, *_NOTHING]
    for name in dict.fromkeys(names):
        if record.get(name) != _NOTHING.get(name):
            yield f"{name}: the record states {str(record[name])[:60]!r}, which no log gives"


def problems_of_epochs(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the epochs, metrics and windows that the run's logs cannot give.

    Args:
        record: of an imported run that is ok.
    """
    epochs = record["epochs"]
    logged = any(file["reader"] == WITHOUT_READINGS for file in record["files"])
    if bool(epochs) != logged:
        yield f"epochs: the record has {len(epochs)}, and {'a' if logged else 'no'} log of epochs is among the run's"
    if record["quality"] and not epochs:
        yield f"quality: the record has {', '.join(record['quality'])}, which no log gives"
    columns = list(epochs[0]["quality"]) if epochs else []
    for epoch in epochs:
        names = list(epoch["quality"])
        if strange := sorted(set(names) - set(METRICS)):
            yield f"epochs: epoch {epoch['epoch']} has {', '.join(strange)}. Epochs have {', '.join(METRICS)}."
        if sorted(names) != sorted(columns):
            yield f"epochs: epoch {epoch['epoch']} has {', '.join(names) or 'no metric'}, the first has others"
        if epoch["units"] is not None or epoch["loss_mean"] is not None:
            yield f"epochs: epoch {epoch['epoch']} has units of work or a loss, which no log gives"
    windows = {PROCESS, *(f"epoch-{number}" for number in range(1, len(epochs) + 1))} | ({STEADY} if epochs else set())
    if set(record["windows"]) != windows:
        yield f"windows: the record has {', '.join(record['windows'])}; its epochs give {', '.join(sorted(windows))}"
    if record["primary_window"] != (STEADY if epochs else PROCESS):
        yield f"primary_window: the record states {record['primary_window']!r}, with {len(epochs)} epochs"


def problems_of_flags(record: Mapping[str, Any], of_windows: Sequence[str]) -> Iterator[str]:
    """Yield the missing flags that the run's epochs or windows give, and the flags that no log can give.

    Args:
        record: of an imported run that is ok.
        of_windows: the flags that its primary window gives.
    """
    given = [*([FROM_THE_LOG] if record["epochs"] else []), *of_windows]
    missing, others = unmatched(given, record["flags"])
    yield from (f"flags: the record has not {flag!r}" for flag in missing)
    for flag in others:
        if not any(is_sentence(text, _OF_LOGS) for text in (flag, _OF_DOMAIN.sub("", flag, count=1))):
            yield f"flags: {flag!r} follows from nothing"


_OF_THE_READER = ("identity", "framewatt_version", "schema_version")
"""Keys of a record about the program that read the logs, which may be another one now."""


def log_problems(package: Opened, study: FileStudy) -> Iterator[str]:
    """Yield how records and traces differ from what their logs give; nothing if the package has no logs."""
    if study.root is None or not study.root.is_dir():
        return
    again = {(one.record["cell_id"], one.record["repetition"]): one for one in import_runs(study, {})}
    for run, record in package.records:
        imported = again[run.cell, run.repetition]
        names = [name for name in imported.record if name not in _OF_THE_READER]
        gives = {name: imported.record[name] for name in names}
        if record["schema_version"] < earlier.SINCE:
            gives |= {name: record.get(name) for name in ("valid", "reasons", "flags")}
            gives["windows"] = earlier.windows_as_then(record["windows"], imported.record["windows"])
        if record["status"] == FAILED and _fault(record) == _fault(imported.record):
            gives["reasons"] = record["reasons"]
        stated = {name: record.get(name) for name in names}
        yield from some(differences(stated, gives, why="its logs give"), run.where)
        yield from _trace_problems(run, imported.trace)


def _fault(record: Mapping[str, Any]) -> list[Any]:
    """Return the files and lines in the reasons of a failed import, or the meaning of known sentences.

    Other words about a line do not matter: a reader may express its errors differently now.
    """
    paths = [file["path"] for file in record["files"]]
    return [
        meaning
        if (meaning := meaning_of(reason)) != reason
        else ([path for path in paths if path in reason], re.findall(r"line \d+", reason))
        for reason in record["reasons"]
    ]


def _trace_problems(run: RunFolder, imported: Trace) -> Iterator[str]:
    """Yield a line if a run's trace is not that of its logs."""
    stored = open_trace(run.path / "power.parquet")
    if stored.channels != imported.channels or not all(
        _alike(stored.read_channel(index), imported.read_channel(index)) for index in range(len(imported.channels))
    ):
        yield f"{run.where}: power.parquet: not the readings of its logs"


def _alike(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Return whether two channels have the same readings at the same times."""
    (time_ns, value), (other_time_ns, other_value) = one, other
    return np.array_equal(time_ns, other_time_ns) and np.allclose(value, other_value, rtol=1e-9, atol=0, equal_nan=True)
