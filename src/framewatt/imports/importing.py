"""Makes a run from its files: a record like that of a measured run, and its trace."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from framewatt import __version__
from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.energy.accounting import spans_of, windows_of
from framewatt.imports.assemble import Assembled, assemble
from framewatt.imports.contract import NO_READINGS, Log
from framewatt.imports.file_study import options_of
from framewatt.imports.readers import READERS
from framewatt.meters.trace import Trace
from framewatt.runs.records import SCHEMA_VERSION, Clock
from framewatt.runs.verdict import FAILED, OK, domain_messages
from framewatt.study.study import FILES, FileRun, FileStudy, SourceFile
from framewatt.tasks.quality import described

_UNKNOWN = {
    "device": "the logs do not say",
    "threads": "the logs do not say",
    "cool_down_s": "the logs do not say",
    "units": "the logs do not say, so that energy and time are those of the run",
    "throughput_per_s": "the samples are unknown",
    "latency": "the logs do not say",
    "workload": "the model was not here",
    "machine": "the logs do not say",
    "sampler": "framewatt did not sample",
}
"""Fields that are unknown in every record of an imported run, and why."""

_NO_CLOCK = "the logs have no clock"

NOT_IN_LOGS = "the logs do not say"
"""Why a metric of an imported epoch is unknown."""


def unknown_of(*, clock: bool) -> dict[str, str]:
    """Return the fields that are unknown in the record of an imported run, with the reason for each.

    Args:
        clock: whether its logs have a clock, or the run failed.
    """
    return dict(_UNKNOWN) | ({} if clock else {"clock": _NO_CLOCK, "position": f"{_NO_CLOCK}; by repetition"})


@dataclass(frozen=True)
class Imported:
    """A run as it is written down.

    Attributes:
        record: for run.json.
        trace: for power.parquet.
        events: for events.parquet.
    """

    record: dict[str, Any]
    trace: Trace
    events: list[dict[str, Any]]

    @property
    def clock(self) -> Clock | None:
        """The clock of the run; None where its logs have none."""
        clock = self.record["clock"]
        return Clock(clock["monotonic_ns"], clock["utc"]) if clock["utc"] else None


def import_run(study: FileStudy, run: FileRun, code: Mapping[str, Any]) -> Imported:
    """Read the files of a run; if one cannot be read, the result is a failed run with the reason.

    Args:
        study: the run's study, with its root available.
        run: one of its runs.
        code: identity of the code that reads.
    """
    reason, assembled, read = None, None, []
    try:
        if run.missing:
            raise FramewattError(_missing(study, run))
        read = [(file, _read(study, file)) for file in run.files]
        assembled = assemble([log for _, log in read])
    except FramewattError as error:
        reason = str(error).replace(f"{study.root}/", "")
    record = _head(study, run, code)
    if assembled is None:
        paths = " and ".join(file.path for file in run.files)
        where = f"{paths}: " if reason and not any(f.path in reason for f in run.files) and not run.missing else ""
        return Imported(record | _failed(f"{where}{reason}"), NO_READINGS, [])
    return Imported(record | _succeeded(study, assembled), assembled.trace, assembled.events)


def _missing(study: FileStudy, run: FileRun) -> str:
    """Return why files of a run are missing: there is no such file, or a pattern assigns the file to another run."""
    assert study.root is not None
    there = [path for path in run.missing if (study.root / path).is_file()]
    gone = [path for path in run.missing if path not in there]
    causes = [f"{', '.join(gone)}: no such file"] if gone else []
    causes += [f"{', '.join(there)}: there, but its pattern takes it for another run's"] if there else []
    return "; ".join(causes)


def _read(study: FileStudy, file: SourceFile) -> Log:
    assert study.root is not None
    entry = study.settings["files"]["logs"][file.log]
    return READERS[entry["reader"]](study.root / file.path, options_of(study, file.log))


def _head(study: FileStudy, run: FileRun, code: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a run's record that is known before its files are read."""
    assert study.root is not None
    logs = study.settings["files"]["logs"]
    return {
        "schema_version": SCHEMA_VERSION,
        "framewatt_version": __version__,
        "source": FILES,
        "study": study.name,
        "cell_id": run.cell.id,
        "cell": run.cell.to_dict(),
        "repetition": run.repetition,
        "block": run.repetition,
        "position": 1,
        "attempt": 1,
        "job_sha256": None,
        "files": [
            {"path": file.path, "sha256": sha256_of(study.root / file.path), "reader": logs[file.log]["reader"]}
            for file in run.files
        ],
        "meters": list(dict.fromkeys(logs[file.log]["reader"] for file in run.files)),
        **dict.fromkeys(_UNKNOWN),
        "machine": {},
        "returned_to_idle": None,
        "preflight": [],
        "unknown": unknown_of(clock=True),
        "identity": {"code": dict(code), "environment": None},
    }


def _failed(reason: str) -> dict[str, Any]:
    return {
        "status": FAILED,
        "valid": False,
        "reasons": [reason],
        "flags": [],
        "clock": {"monotonic_ns": 0, "utc": None},
        "windows": {},
        "primary_window": None,
        "quality": {},
        "epochs": [],
    }


def _succeeded(study: FileStudy, assembled: Assembled) -> dict[str, Any]:
    idle = {"domains": study.settings["files"]["baseline"]}
    windows = windows_of(spans_of(assembled.events), assembled.trace, idle)
    clock = None if assembled.origin_ns is None else Clock(0, _utc(assembled.origin_ns))
    for window in windows.values():
        window["start_utc"] = clock.utc(window["start_monotonic_ns"]) if clock else None
        window["end_utc"] = clock.utc(window["end_monotonic_ns"]) if clock else None
    energies = windows[assembled.primary_window]["domains"]
    reasons = domain_messages(energies, "reasons")
    return {
        "status": OK,
        "valid": not reasons,
        "reasons": reasons,
        "flags": [*assembled.flags, *domain_messages(energies, "flags")],
        "unknown": unknown_of(clock=clock is not None),
        "clock": {"monotonic_ns": 0, "utc": _utc(assembled.origin_ns) if clock and assembled.origin_ns else None},
        "windows": windows,
        "primary_window": assembled.primary_window,
        "quality": described(assembled.epochs[-1].metrics, NOT_IN_LOGS) if assembled.epochs else {},
        "epochs": [
            {"epoch": number, "units": None, "loss_mean": None, "quality": described(epoch.metrics, NOT_IN_LOGS)}
            for number, epoch in enumerate(assembled.epochs, 1)
        ],
    }


def _utc(instant_ns: int) -> str:
    """Return nanoseconds since 1970 as ISO 8601."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant_ns / 1000)).isoformat(
        timespec="microseconds"
    )


def import_runs(study: FileStudy, code: Mapping[str, Any]) -> list[Imported]:
    """Return all runs of a study in the order in which they ran; by repetition unless all have a clock.

    Args:
        study: with its root available.
        code: identity of the code that reads.
    """
    runs = [import_run(study, run, code) for run in study.runs()]
    if all(run.record["clock"]["utc"] for run in runs if run.record["status"] == OK):
        # Failed runs have no time; they come last, in their order.
        runs.sort(key=lambda run: run.record["clock"]["utc"] or "9999")
    for position, run in enumerate(runs, 1):
        run.record["position"] = position
    return runs
