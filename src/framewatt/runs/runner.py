"""Measures one run: starts the sampler, supervises the worker, and writes trace, events and record."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from framewatt import __version__
from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_atomically, write_text
from framewatt.characterisation.measured import in_force
from framewatt.energy.accounting import spans_of, windows_of
from framewatt.host.lock import MachineLock
from framewatt.host.machine import describe_machine
from framewatt.host.supervision import Outcome
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import write_trace
from framewatt.preflight import check_machine
from framewatt.privacy.secrets import Secrets
from framewatt.runs.calibration import wait_for_idle
from framewatt.runs.chain import MEASURED, Chain, hashes_of
from framewatt.runs.chain import NAME as CHAIN
from framewatt.runs.clocks import Instant
from framewatt.runs.conditions import prepared
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.runs.predictions import as_bytes, read_right
from framewatt.runs.records import SCHEMA_VERSION, Clock, run_text, write_events
from framewatt.runs.verdict import OK, judge
from framewatt.runs.work import EVENTS, RESULT, events_of, python_of, work
from framewatt.sampling.client import Sampler
from framewatt.study.cell import MEASURE, is_measured
from framewatt.study.records import Calibration, Event, RunJob, RunRecord, Window, WorkerResult

_SETTLE_S = 0.05
"""Seconds sampled before and after the process, so that the trace covers every edge of its windows."""

_OBSERVE_S = 0.2
"""Last seconds of the rest, in which preflight watches the machine for other processes."""

_OF_THE_TRY = ("node", "attempt", "job_sha256", "first_try", "waited_s", "was_aside")
"""Fields of a job that its record repeats where it has them."""


@dataclass(frozen=True)
class RunFiles:
    """What one run leaves behind.

    Attributes:
        record: run.json.
        power: power.parquet, the trace.
        events: events.parquet.
        log: what the measured process printed.
    """

    record: Path
    power: Path
    events: Path
    log: Path

    @property
    def predictions(self) -> Path:
        """Path of the file of the test samples that the run classified correctly, see runs.predictions."""
        return self.record.with_name(PREDICTIONS)

    @property
    def chain(self) -> Path:
        """Path of the hash chain of the study's records, see runs.chain."""
        return self.record.parents[2] / CHAIN


def measure(
    job: RunJob, idle: Calibration, environment: Mapping[str, Any], files: RunFiles, lock: MachineLock
) -> str | None:
    """Measure one run and write its record, also where the workload fails.

    Args:
        job: what to run.
        idle: the calibration, see calibration.measure_idle.
        environment: the environment's record: `status`, `reason`, `python`.
        files: where to write.
        lock: the machine's. The workload inherits it, so that no other run is measured while its processes are left.

    Returns:
        None where the run is ok, else why it is not.

    Raises:
        FramewattError: a meter cannot be read, or the job is of another purpose; nothing is written.
        OSError: the disk is full; no record is written.
    """
    if not is_measured(job):
        raise FramewattError(f"{job['cell_id']}: purpose: {job['purpose']!r} is not a measurement. Use {MEASURE!r}.")
    missing = job["missing"]
    if missing is None and environment["status"] != "ok":
        missing = f"environment {environment['name']}: {environment['reason']}"
    caches = None
    if missing is None:
        # Before the rest, in which the machine cools down from it.
        caches = prepared(job, python_of(environment), lambda one: _pass_over(one, environment, files.log, lock))
    rest_started = time.monotonic()
    if missing is None:
        time.sleep(max(job["cool_down"]["rest_s"] - _OBSERVE_S, 0))
    preflight = check_machine(observe_s=_OBSERVE_S)
    with scratch_folder() as scratch:
        sampler = Sampler(job["meters"], job["instruments"], scratch / "trace.bin", witnessed=scratch / EVENTS)
        started = Instant.now()
        sampler.start()
        time.sleep(_SETTLE_S)
        returned = None
        if missing is None:
            if job["cool_down"]["idle_band"] is not None:
                returned = wait_for_idle(sampler, idle, job["cool_down"]["idle_band"], job["cool_down"]["timeout_s"])
            rested_s = time.monotonic() - rest_started
            outcome = work(job, environment, scratch, files.log, lock)
        else:
            rested_s, now_ns = 0.0, time.monotonic_ns()
            outcome = Outcome(missing, now_ns, now_ns + 1)
        time.sleep(_SETTLE_S)
        summary = sampler.stop()
        trace = replace(sampler.trace(), channels=in_force(sampler.channels, idle))
        result = read_json(scratch / RESULT) if outcome.reason is None else None
        _keep_predictions(result, scratch / PREDICTIONS, files.predictions)
        events = events_of(scratch, outcome)
    around = {
        **({"caches": caches} if caches else {}),
        "cool_down_s": rested_s,
        "returned_to_idle": returned,
        "preflight": preflight,
        "lock": lock.facts(),
        "sampler": None if "error" in summary else summary,
        "clock": {"monotonic_ns": started.monotonic_ns, "utc": started.utc, "moved_s": Instant.now().moved_s(started)},
    }
    record = _record(job, environment, idle, trace, events, outcome, result, {**around, "error": summary.get("error")})
    record = cast("RunRecord", Secrets.from_this_machine().redact_reasons(record))
    clock = Clock(started.monotonic_ns, started.utc)
    _stamp(record["windows"], clock)
    write_trace(files.power, trace)
    write_events(files.events, events, clock)
    _keep(record, files)
    return None if record["status"] == OK else "; ".join(record["reasons"])


def _pass_over(job: Mapping[str, Any], environment: Mapping[str, Any], log: Path, lock: MachineLock) -> str | None:
    """Run a job without measuring it; return why it failed, or None."""
    with scratch_folder() as scratch:
        return work(job, environment, scratch, log, lock).reason


def _record(
    job: RunJob,
    environment: Mapping[str, Any],
    idle: Calibration,
    trace: Trace,
    events: list[Event],
    outcome: Outcome,
    result: WorkerResult | None,
    around: dict[str, Any],
) -> RunRecord:
    try:
        windows = windows_of(spans_of(events), trace, idle)
    except ValueError as error:
        # The measurement is over, so it gets a record even if its readings cannot be used.
        windows, around = {}, {**around, "error": f"its readings cannot be used: {error}"}
    primary = windows.get(result["primary_window"]) if result else None
    verdict = judge(job, outcome, result, primary, around)
    duration_s = primary["duration_s"] if primary else None
    units = result["units"] if result else None
    fields: Mapping[str, Any] = job
    record: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "framewatt_version": __version__,
        "purpose": MEASURE,
        **{name: fields[name] for name in ("study", "cell_id", "cell", "repetition")},
        "block": job["repetition"],
        "position": job["position"],
        **{name: fields[name] for name in _OF_THE_TRY if name in fields},
        **asdict(verdict),
        **{name: fields[name] for name in ("device", "threads", "meters")},
        **{name: value for name, value in around.items() if name != "error"},
        "windows": windows,
        "primary_window": result["primary_window"] if result and primary else None,
        "units": units,
        "throughput_per_s": units["count"] / duration_s if units and units["count"] and duration_s else None,
        "latency": result["latency"] if result else None,
        "quality": result["quality"] if result else {},
        **({name: result[name] for name in ("phases", "predictions", "batches") if name in result} if result else {}),
        "epochs": result["epochs"] if result else [],
        "workload": result["workload"] if result else None,
        "identity": {**job["identity"], "environment": _identity_of(environment)},
        "machine": describe_machine(),
    }
    # Fields of job, verdict and surroundings get into the record by name; the schema is checked when it is written.
    return cast("RunRecord", record)


def _keep_predictions(result: WorkerResult | None, source: Path, place: Path) -> None:
    """Write the run's predictions next to its record; those of an earlier attempt are replaced."""
    place.unlink(missing_ok=True)
    if result and "predictions" in result:
        right = read_right(source, result["predictions"])

        def write(partial: Path) -> None:
            partial.write_bytes(as_bytes(right))

        write_atomically(place, write)


def _identity_of(environment: Mapping[str, Any]) -> dict[str, Any]:
    return {name: environment.get(name) for name in ("name", "mode", "lock_sha256", "image_sha256", "python_version")}


def _keep(record: RunRecord, files: RunFiles) -> None:
    """Write the record, after its entry in the study's chain is on the disk."""
    with Chain(files.chain) as chain:
        text = run_text({**record, "chain": chain.link}, files.record)
        head = {"kind": MEASURED, "cell": record["cell_id"], **{k: record[k] for k in ("repetition", "attempt")}}
        digest = hashlib.sha256(text.encode()).hexdigest()
        chain.append({**head, "sha256": hashes_of(files.record.parent, digest)})
        write_text(files.record, text)


def _stamp(windows: dict[str, Window], clock: Clock) -> None:
    """Add the wall-clock time of every edge."""
    for window in windows.values():
        window["start_utc"] = clock.utc(window["start_monotonic_ns"])
        window["end_utc"] = clock.utc(window["end_monotonic_ns"])
