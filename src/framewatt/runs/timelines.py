"""A timeline of a cell: its work under the framework's own profiler, sampled, and the same work without the profiler.

Neither is a measured run. The second tells what the profiler costs.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_json
from framewatt.characterisation.in_force import in_force
from framewatt.energy.accounting import spans_of, windows_of
from framewatt.host.lock import Held
from framewatt.meters.trace_file import write_trace
from framewatt.prepare.stage import kept
from framewatt.runs.profiling import PLAIN, PROFILED, order_of
from framewatt.runs.spans_file import write_spans
from framewatt.runs.work import EVENTS, RESULT, events_of, work
from framewatt.sampling.client import Sampler
from framewatt.workloads.profilers import Spans

RECORD, SPANS, POWER = "timeline.json", "spans.parquet", "power.parquet"
"""Names of the files of a timeline."""

PERIOD_S = 0.001
"""Seconds between two readings, where the meters allow it."""

_MODULES = {PLAIN: "framewatt.runs.worker", PROFILED: "framewatt.runs.timeline_worker"}


def record_timeline(
    job: Mapping[str, Any],
    idle: Mapping[str, Any],
    environment: Mapping[str, Any],
    folder: Path,
    log: Path,
    lock: Held,
) -> dict[str, Any]:
    """Make both passes, in an order that differs from cell to cell, and keep the timeline and its record.

    Args:
        job: of the timeline.
        idle: the calibration of this machine.
        environment: the environment's record.
        folder: where RECORD, SPANS and POWER end up.
        log: takes what the workers print.
        lock: the machine's.

    Returns:
        the record; a failure is one too.

    Raises:
        FramewattError: a meter cannot be read.
    """

    def make(made: Path) -> str | None:
        passes: dict[str, Any] = {}
        spans = made.parent / "spans.npz"
        for which in order_of(job["cell_id"]):
            passes[which], reason = _one_pass({**job, "spans": str(spans)}, which, idle, environment, log, lock)
            if reason:
                return reason
        try:
            write_spans(made / SPANS, Spans.load(spans))
        except FramewattError as error:
            return str(error)
        write_trace(made / POWER, passes[PROFILED].pop("trace"))
        del passes[PLAIN]["trace"]
        told = {name: job[name] for name in ("cell_id", "cell", "engine", "phase")}
        write_json(made / RECORD, {**told, "passes": passes})
        return None

    return kept(make, job, environment, folder, RECORD, repeat_failures=True)


def _one_pass(
    job: Mapping[str, Any],
    which: str,
    idle: Mapping[str, Any],
    environment: Mapping[str, Any],
    log: Path,
    lock: Held,
) -> tuple[dict[str, Any], str | None]:
    """Run a worker beside the sampler: its timed window, its units and the trace; or why it failed."""
    instruments = {**job["instruments"], "period_s": PERIOD_S}
    with scratch_folder() as scratch:
        sampler = Sampler(idle["meters"], instruments, scratch / "trace.bin", witnessed=scratch / EVENTS)
        sampler.start()
        outcome = work(job, environment, scratch, log, lock, _MODULES[which])
        summary = sampler.stop()
        trace = replace(sampler.trace(), channels=in_force(sampler.channels, idle))
        if reason := outcome.reason or summary.get("error"):
            return {}, reason
        parts = spans_of(events_of(scratch, outcome))["steady"]
        units = read_json(scratch / RESULT)["units"]
    if which == PROFILED:
        told = read_json(Path(job["spans"]).with_suffix(".json"))
        units |= {"count": told["units"]}
        if until_ns := told["until_ns"]:
            parts = [(start, min(end, until_ns)) for start, end in parts if start < until_ns]
    window = windows_of({"steady": parts}, trace, idle)["steady"]
    return {"window": window, "units": units, "sampler": summary, "trace": trace}, None
