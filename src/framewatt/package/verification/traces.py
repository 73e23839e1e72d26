"""Check windows and energy of every run against its readings and events, and its witness of other work."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.energy.accounting import spans_of, windows_of
from framewatt.host.machine import session_of
from framewatt.imports.file_study import options_of
from framewatt.meters.contract import WITNESS, Channel
from framewatt.meters.nvml import Nvml
from framewatt.meters.trace import Readings
from framewatt.meters.trace_file import open_trace
from framewatt.package.verification import earlier
from framewatt.package.verification.imported import Log, problems_of_imported
from framewatt.package.verification.meters import problems_of_channels, problems_of_pace
from framewatt.package.verification.opened import Opened
from framewatt.package.verification.order import entries_of
from framewatt.package.verification.reading import Event, Seen, differences, read_events, some
from framewatt.runs.aside import to_repeat
from framewatt.runs.chain import NAME
from framewatt.runs.records import Clock
from framewatt.runs.verdict import OK
from framewatt.study.study import FileStudy, MeasuredStudy
from framewatt.witness.instrument import witness_channels
from framewatt.witness.judgement import REPEATING, disturbance_of

_ALWAYS_ALL = ("rapl", "pyrapl", "perf", "external", "estimate", "nvidia-smi")
"""Meters that give the same channels whenever they are opened. NVML leaves out a quantity that a GPU does not answer at
that moment, and a replay has what was recorded."""

_MAY_BE_MIRRORED = "-die-"
"""Part of the domain of a die. A die is left out if it shows another die's counter, which may change."""

_OF_THE_MOMENT = ("note",)

_Name = tuple[str, str, str]


class Alike:
    """The channels that were seen so far, by machine and meters."""

    def __init__(self) -> None:
        self._groups: dict[Any, list[tuple[str, dict[_Name, dict[str, Any]]]]] = defaultdict(list)

    def add(self, trace: Readings, record: Mapping[str, Any], where: str) -> None:
        """Take in the channels of a run.

        Args:
            trace: of the run.
            record: of the run.
            where: which run.
        """
        identity, session = record["identity"], session_of(record["machine"])
        code, image = identity.get("code") or {}, (identity.get("environment") or {}).get("image_sha256")
        group = session, record["device"], tuple(record["meters"]), code.get("sha256"), image
        channels = {(one.instrument, one.domain, one.quantity): _lasting(one) for one in trace.channels}
        self._groups[group].append((where, channels))

    def problems(self) -> Iterator[str]:
        """Yield the runs with other channels than most runs of their machine, meters and code have."""
        for runs in self._groups.values():
            yield from _within(runs)


def _within(runs: list[tuple[str, dict[_Name, dict[str, Any]]]]) -> Iterator[str]:
    common = _most(frozenset(_expected(channels)) for _, channels in runs)
    names = dict.fromkeys(name for _, channels in runs for name in channels)
    fields = {
        name: dict(_most(tuple(channels[name].items()) for _, channels in runs if name in channels)) for name in names
    }
    for where, channels in runs:
        names_of_run = _expected(channels)
        for lacks in sorted(common - names_of_run):
            yield f"{where}: its trace has no channel {_text(lacks)}, which most runs of its machine and meters have"
        for more in sorted(names_of_run - common):
            yield f"{where}: its trace has a channel {_text(more)}, which most runs of its machine and meters have not"
        for name, stated in channels.items():
            lines = differences(stated, fields[name], _text(name), by="the trace states", why="other runs have")
            yield from (f"{where}: channel {line}" for line in lines)


def _expected(channels: Mapping[_Name, Any]) -> set[_Name]:
    """Return the channels that all runs of a machine share; GPUs may differ, but not their channels."""
    fixed = {name for name in channels if name[0] in _ALWAYS_ALL and _MAY_BE_MIRRORED not in name[1]}
    return {name if not name[1].startswith("gpu:") else (name[0], "gpu", name[2]) for name in fixed}


def _lasting(channel: Channel) -> dict[str, Any]:
    return {name: value for name, value in channel.to_dict().items() if name not in _OF_THE_MOMENT}


def _most(values: Any) -> Any:
    (value, _), *_ = Counter(values).most_common(1)
    return value


def _text(name: _Name) -> str:
    return " ".join(name)


def trace_problems(package: Opened) -> Iterator[str]:
    """Yield the windows that differ from events or trace, and the copies of traces."""
    seen, alike = Seen(), Alike()
    logs = _logs_of(package)
    for run, record in package.records:
        try:
            trace = open_trace(run.path / "power.parquet")
            events = read_events(run.path / "events.parquet")
            yield from some(_run_problems(package, record, trace, events), run.where)
            if isinstance(package.study, FileStudy):
                read = logs[run.cell, run.repetition] if record["status"] == OK else []
                yield from some(problems_of_imported(trace, read), run.where)
            else:
                yield from some(problems_of_channels(trace, record["meters"]), run.where)
                yield from some(problems_of_witness(trace), run.where)
                if "sources" in package.stored_plan:
                    options = package.study.settings["instruments"]
                    yield from some(problems_of_pace(trace, record, options), run.where)
                alike.add(trace, record, run.where)
                # Logs in whole seconds and watts may be equal; two traces of a sampling process never are.
                yield from seen.problems(trace, run.where)
        except (FramewattError, ValueError) as error:
            yield f"{run.where}: {str(error).removeprefix(f'{run.path}/')}"
    yield from some(alike.problems())


def _run_problems(package: Opened, record: Mapping[str, Any], trace: Readings, events: list[Event]) -> Iterator[str]:
    spans = spans_of([event.to_dict() for event in events])
    idle = package.idle_of(record)
    clock = Clock(record["clock"]["monotonic_ns"], record["clock"]["utc"]) if record["clock"]["utc"] else None
    expected = windows_of(spans, trace, idle) if spans else {}
    if record["schema_version"] < earlier.SINCE:
        expected = earlier.windows_as_then(record["windows"], expected)
    for name, window in expected.items():
        for edge in ("start", "end"):
            window[f"{edge}_utc"] = clock.utc(window[f"{edge}_monotonic_ns"]) if clock else None
        if "witness" not in record["windows"].get(name, {}):
            # The record is older than the witness; another check looks for it in newer records.
            del window["witness"]
    yield from differences(record["windows"], expected, "windows", why="its trace and events give")
    for event in events:
        utc = clock.utc(event.monotonic_ns) if clock else None
        if event.utc != utc:
            yield f"events: {event.edge} of {event.window} states {event.utc}; by the run's clock it is {utc}"


def _logs_of(package: Opened) -> dict[tuple[str, int], list[Log]]:
    """Return the logs of every imported run, with the study's options; empty for a study that measures."""
    study = package.study
    if not isinstance(study, FileStudy):
        return {}
    readers = [entry["reader"] for entry in study.settings["files"]["logs"]]
    return {
        (run.cell.id, run.repetition): [Log(readers[file.log], options_of(study, file.log)) for file in run.files]
        for run in study.runs()
    }


def witness_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the runs without a witness, and the disturbed runs that were not treated as the study sets.

    If the plan has no setting for disturbed runs, the package is older than the witness.
    """
    if "disturbance" not in package.stored_plan.get("settings", {}):
        return
    chained = (package.results / "measure" / NAME).is_file()
    entries = {entry.sequence: entry for entry in entries_of(package)} if chained else {}
    for run, record in package.records:
        yield from some(_witness_problems_of_run(record, study.settings, entries), run.where)


def problems_of_witness(trace: Readings) -> Iterator[str]:
    """Yield a line if a trace has other channels of a witness than a witness has, or only some."""
    stored = [channel.to_dict() for channel in trace.channels if channel.instrument == WITNESS]
    if stored:
        expected = [channel.to_dict() for channel in witness_channels(gpus=_gpus(trace))]
        one, other = ({str(number): channel for number, channel in enumerate(both)} for both in (stored, expected))
        yield from differences(one, other, WITNESS, by="its trace has", why="a witness has")


def _gpus(trace: Readings) -> list[str]:
    """Return the GPUs with processes that a witness counts: those that NVML read.

    If another meter read the GPUs, the sampling process may have had no NVML to count with.
    """
    gpus = [channel for channel in trace.channels if channel.domain.startswith("gpu:")]
    read = [channel.domain for channel in gpus if channel.instrument == Nvml.name]
    return list(dict.fromkeys(read or [channel.domain for channel in gpus if channel.instrument == WITNESS]))


def _witness_problems_of_run(
    record: Mapping[str, Any], settings: Mapping[str, Any], entries: Mapping[int, Any]
) -> Iterator[str]:
    primary = record["windows"].get(record["primary_window"]) or {}
    first = record.get("first_try")
    if record["status"] == OK and primary.get("witness") is None:
        yield "witness: the record has none, of a run under a study with a setting for disturbed runs"
    disturbed = (primary.get("witness") or {}).get("disturbed")
    if record["status"] == OK and first is None and to_repeat(settings, primary.get("witness")):
        yield f"first_try: the record has none, of a run that was disturbed, which the study has repeated: {disturbed}"
    if first is None:
        return
    if disturbance_of(settings) not in REPEATING:
        yield f"first_try: the record has one, where the study sets disturbance: {disturbance_of(settings)}"
    if first["attempt"] != record["attempt"] - 1:
        yield f"first_try: the record states attempt {first['attempt']} before its own, {record['attempt']}"
    if entries:
        entry = entries.get(first["sequence"])
        own = (record["cell_id"], record["repetition"], first["attempt"], first["run_sha256"])
        if entry is None or (*entry.run, entry.attempt, entry.sha256.get("run.json")) != own:
            yield f"first_try: entry {first['sequence']} of the chain is not that of its first try"
