"""Runs that were imported from logs: their records and channels, and the logs read again."""

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
"""The reader that gives epochs and no channel."""

_GPU = re.compile(r"gpu:\d+")
_SPREADS = "perf"
"""The reader whose logs have a length and no clock: to it the readings of other logs may have been stretched."""


@dataclass(frozen=True)
class Log:
    """A log of an imported run.

    Attributes:
        reader: name of its reader.
        options: how the study has it read.
    """

    reader: str
    options: Options


@dataclass(frozen=True)
class _Seen:
    """A channel as the trace has it, and what its readings tell of how it was made."""

    channel: Channel
    time_ns: np.ndarray
    stretched: bool

    @property
    def span_s(self) -> float:
        """Seconds from its first reading to its last."""
        return float(self.time_ns.max(initial=0) - self.time_ns.min(initial=0)) * 1e-9 if len(self.time_ns) else 0.0


def problems_of_imported(trace: Readings, logs: Sequence[Log]) -> Iterator[str]:
    """Channels that none of a run's logs can have given, logs that gave none, and totals that are no totals.

    Args:
        trace: of the run.
        logs: those that it was read from.
    """
    stretched = any(log.reader == _SPREADS for log in logs)
    told: set[int] = set()
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
            told |= {number for (number, _), found in zip(given, lines, strict=True) if not found}
        yield from min(lines, key=len)
        if channel.kind == COUNTER and (len(value) != 2 or value[0] != 0):
            yield f"{where}: {len(value)} readings from {value[0] if len(value) else 'none'} on; a total is two, from 0"
    for number, log in enumerate(logs):
        if log.reader != WITHOUT_READINGS and number not in told:
            yield f"no channel of energy or power is what {log.reader} gives, and a log of its is among the run's"


def _between(channel: Channel, given: Channel, reader: str, where: str) -> Iterator[str]:
    yield from differences(channel.to_dict(), given.to_dict(), where, by="the trace states", why=f"{reader} gives")


def _given(log: Log, seen: _Seen) -> Iterable[Channel]:
    """The channels that a log may have given, one of which is to be the one that is seen."""
    maker = _READERS.get(log.reader)
    return maker(seen, log.options) if maker else ()


def _of_codecarbon(seen: _Seen, options: Options) -> Iterator[Channel]:
    return (codecarbon.channel_of(column, options, seen.span_s) for column in codecarbon.DOMAINS)


def _of_perf(seen: _Seen, _: Options) -> Iterator[Channel]:
    if perf.DOMAIN.fullmatch(seen.channel.domain):
        yield perf.channel_of(seen.channel.domain, seen.span_s)


def _of_watts(_: _Seen, options: Options) -> Iterator[Channel]:
    if options.interval_s:
        yield watts.channel_of(options, options.interval_s)


def _of_nvidia_smi(seen: _Seen, options: Options) -> Iterator[Channel]:
    period_s = nvidia_smi.period_of(seen.time_ns, options)
    if seen.stretched and not options.interval_s:
        # The median was taken before readings were moved apart.
        period_s = seen.channel.period_s
    # A file of several GPUs numbers them; of one it does not say which.
    for domain in {options.domain, *_GPU.findall(seen.channel.domain)}:
        yield from (nvidia_smi.channel_of(domain, field, period_s) for field in QUANTITIES)


_READERS: dict[str, Callable[[_Seen, Options], Iterator[Channel]]] = {
    "codecarbon": _of_codecarbon,
    "perf": _of_perf,
    "watts": _of_watts,
    "nvidia-smi": _of_nvidia_smi,
}


_NOTHING: Mapping[str, Any] = {"machine": {}, "preflight": []}
"""What stands for unknown where it is not null."""

_OF_LOGS = ("line_cut", "line_without_end", "whole_seconds", "failed_at_edges", "readings_stretched")
"""Codes of the flags that readers give and the merging of logs, besides those of windows (study.wordings)."""

_OF_DOMAIN = re.compile(r"\S+: ")
"""What some of them begin with."""

_NEVER = ("returned_to_idle", "lock", "chain")
"""What a record has of a measurement, and none of an import, with no reason needed."""


def problems_of_unknown(record: Mapping[str, Any]) -> Iterator[str]:
    """Where a record knows what no log tells, or says otherwise why it does not.

    Args:
        record: of an imported run, also one that failed.
    """
    if record["status"] not in (OK, FAILED):
        yield f"status: the record states {record['status']!r}, of an imported run"
    unknown = unknown_of(clock=record["status"] != OK or record["clock"]["utc"] is not None)
    told = {"unknown": record.get("unknown"), "clock": record["clock"].get("monotonic_ns")}
    yield from differences(told, {"unknown": unknown, "clock": 0}, why="an import gives")
    names = [*(name for name in unknown if name not in ("clock", "position")), *_NEVER, *_NOTHING]
    for name in dict.fromkeys(names):
        if record.get(name) != _NOTHING.get(name):
            yield f"{name}: the record states {str(record[name])[:60]!r}, which no log tells"


def problems_of_epochs(record: Mapping[str, Any]) -> Iterator[str]:
    """Where epochs, metrics and windows are not such as the run's logs can tell of.

    Args:
        record: of an imported run that is ok.
    """
    epochs = record["epochs"]
    told = any(file["reader"] == WITHOUT_READINGS for file in record["files"])
    if bool(epochs) != told:
        yield f"epochs: the record has {len(epochs)}, and {'a' if told else 'no'} log of epochs is among the run's"
    if record["quality"] and not epochs:
        yield f"quality: the record has {', '.join(record['quality'])}, which no log tells"
    columns = list(epochs[0]["quality"]) if epochs else []
    for epoch in epochs:
        names = list(epoch["quality"])
        if strange := sorted(set(names) - set(METRICS)):
            yield f"epochs: epoch {epoch['epoch']} has {', '.join(strange)}. Epochs have {', '.join(METRICS)}."
        if sorted(names) != sorted(columns):
            yield f"epochs: epoch {epoch['epoch']} has {', '.join(names) or 'no metric'}, the first has others"
        if epoch["units"] is not None or epoch["loss_mean"] is not None:
            yield f"epochs: epoch {epoch['epoch']} has units of work or a loss, which no log tells"
    windows = {PROCESS, *(f"epoch-{number}" for number in range(1, len(epochs) + 1))} | ({STEADY} if epochs else set())
    if set(record["windows"]) != windows:
        yield f"windows: the record has {', '.join(record['windows'])}; its epochs give {', '.join(sorted(windows))}"
    if record["primary_window"] != (STEADY if epochs else PROCESS):
        yield f"primary_window: the record states {record['primary_window']!r}, with {len(epochs)} epochs"


def problems_of_flags(record: Mapping[str, Any], of_windows: Sequence[str]) -> Iterator[str]:
    """Flags that the run's epochs or windows give and that are missing, and others than logs can give.

    Args:
        record: of an imported run that is ok.
        of_windows: what its primary window gives.
    """
    given = [*([FROM_THE_LOG] if record["epochs"] else []), *of_windows]
    missing, others = unmatched(given, record["flags"])
    yield from (f"flags: the record has not {flag!r}" for flag in missing)
    for flag in others:
        if not any(is_sentence(text, _OF_LOGS) for text in (flag, _OF_DOMAIN.sub("", flag, count=1))):
            yield f"flags: {flag!r} follows from nothing"


_OF_THE_READER = ("identity", "framewatt_version", "schema_version")
"""What a record says of the program that read the logs, which may be another one now."""


def log_problems(package: Opened, study: FileStudy) -> Iterator[str]:
    """Where a record or a trace is not what its logs give; nothing where a study does not pack them."""
    if study.root is None or not study.root.is_dir():
        return
    again = {(one.record["cell_id"], one.record["repetition"]): one for one in import_runs(study, {})}
    for run, record in package.records:
        found = again[run.cell, run.repetition]
        names = [name for name in found.record if name not in _OF_THE_READER]
        gives = {name: found.record[name] for name in names}
        if record["schema_version"] < earlier.SINCE:
            gives |= {name: record.get(name) for name in ("valid", "reasons", "flags")}
            gives["windows"] = earlier.windows_as_then(record["windows"], found.record["windows"])
        if record["status"] == FAILED and _fault(record) == _fault(found.record):
            gives["reasons"] = record["reasons"]
        told = {name: record.get(name) for name in names}
        yield from some(differences(told, gives, why="its logs give"), run.where)
        yield from _of_trace(run, found.trace)


def _fault(record: Mapping[str, Any]) -> list[Any]:
    """Return which files and lines the reasons of a failed import name, or the meaning of sentences that are known.

    What is wrong in a line, a reader may have expressed in other words.
    """
    paths = [file["path"] for file in record["files"]]
    return [
        meaning
        if (meaning := meaning_of(reason)) != reason
        else ([path for path in paths if path in reason], re.findall(r"line \d+", reason))
        for reason in record["reasons"]
    ]


def _of_trace(run: RunFolder, found: Trace) -> Iterator[str]:
    """Says so where a run's trace is not that of its logs."""
    told = open_trace(run.path / "power.parquet")
    if told.channels != found.channels or not all(
        _alike(told.read_channel(index), found.read_channel(index)) for index in range(len(found.channels))
    ):
        yield f"{run.where}: power.parquet: not the readings of its logs"


def _alike(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Whether two channels have the same readings at the same times."""
    (told_ns, told), (found_ns, found) = one, other
    return np.array_equal(told_ns, found_ns) and np.allclose(told, found, rtol=1e-9, atol=0, equal_nan=True)
