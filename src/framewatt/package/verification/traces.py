"""What follows from the readings and events of every run: its windows, their energy, and that they are its own."""

from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.energy.accounting import spans_of, windows_of
from framewatt.imports.file_study import FileStudy
from framewatt.meters.trace import Readings
from framewatt.meters.trace_file import open_trace
from framewatt.package.verification import earlier
from framewatt.package.verification.alike import Alike
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.events import Event, read_events
from framewatt.package.verification.imported_channels import Log, problems_of_imported
from framewatt.package.verification.instruments import problems_of_channels
from framewatt.package.verification.opened import Opened
from framewatt.package.verification.pace import problems_of_pace
from framewatt.package.verification.readings import Seen
from framewatt.package.verification.witnesses import problems_of_witness
from framewatt.runs.records import Clock
from framewatt.runs.verdict import OK


def problems(package: Opened) -> Iterator[str]:
    """Where windows are not those of the events, where their energy is not that of the trace, and copies of traces."""
    seen, alike = Seen(), Alike()
    logs = _logs_of(package)
    for run, record in package.records:
        try:
            trace = open_trace(run.path / "power.parquet")
            events = read_events(run.path / "events.parquet")
            yield from some(_of_run(package, record, trace, events), run.where)
            if isinstance(package.study, FileStudy):
                read = logs[run.cell, run.repetition] if record["status"] == OK else []
                yield from some(problems_of_imported(trace, read), run.where)
            else:
                yield from some(problems_of_channels(trace, record["meters"]), run.where)
                yield from some(problems_of_witness(trace), run.where)
                if "sources" in package.told_plan:
                    options = package.study.settings["instruments"]
                    yield from some(problems_of_pace(trace, record, options), run.where)
                alike.add(trace, record, run.where)
                # Logs of whole seconds and watts may be alike; what a sampling process wrote never is.
                yield from seen.problems(trace, run.where)
        except (FramewattError, ValueError) as error:
            yield f"{run.where}: {str(error).removeprefix(f'{run.path}/')}"
    yield from some(alike.problems())


def _of_run(package: Opened, record: Mapping[str, Any], trace: Readings, events: list[Event]) -> Iterator[str]:
    spans = spans_of([event.to_dict() for event in events])
    idle = package.idle_of(record)
    clock = Clock(record["clock"]["monotonic_ns"], record["clock"]["utc"]) if record["clock"]["utc"] else None
    found = windows_of(spans, trace, idle) if spans else {}
    if record["schema_version"] < earlier.SINCE:
        found = earlier.as_told_then(record["windows"], found)
    for name, window in found.items():
        for edge in ("start", "end"):
            window[f"{edge}_utc"] = clock.utc(window[f"{edge}_monotonic_ns"]) if clock else None
        if "witness" not in record["windows"].get(name, {}):
            # A record from before there was a witness; that a newer one has it is another check's.
            del window["witness"]
    yield from differences(record["windows"], found, "windows", why="its trace and events give")
    for event in events:
        utc = clock.utc(event.monotonic_ns) if clock else None
        if event.utc != utc:
            yield f"events: {event.edge} of {event.window} is said to be at {event.utc}; by the run's clock it is {utc}"


def _logs_of(package: Opened) -> dict[tuple[str, int], list[Log]]:
    """The logs of every imported run, and how the study has them read; none of a study that measures."""
    study = package.study
    if not isinstance(study, FileStudy):
        return {}
    readers = [entry["reader"] for entry in study.settings["files"]["logs"]]
    return {
        (run.cell.id, run.repetition): [Log(readers[file.log], study.options(file.log)) for file in run.files]
        for run in study.runs()
    }
