"""A timeline of a cell: its work under the framework's own profiler, sampled, and the same work without the profiler.

Neither is a measured run. The second shows the profiler's cost. Timelines are files (spans.parquet) with a row for each
span; the rows of steps also have the times around the step that the program recorded.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_atomically, write_json
from framewatt.base.parquet_file import LABEL, UNREADABLE, read_columns
from framewatt.characterisation.measured import in_force
from framewatt.energy.accounting import spans_of, windows_of
from framewatt.host.lock import MachineLock
from framewatt.meters.trace_file import write_trace
from framewatt.prepare.stage import store_result
from framewatt.runs.profiling import PLAIN, PROFILED, order_of
from framewatt.runs.work import EVENTS, RESULT, events_of, work
from framewatt.sampling.client import Sampler
from framewatt.workloads.profilers import ON_HOST, STEP, Spans

_WORDS = ("name", "api", "shapes")
_TIMES = ("start_ns", "end_ns")
_AROUND = ("before_ns", "after_ns")
_SPANS = {
    **dict.fromkeys(_WORDS, LABEL),
    "thread": pa.int32(),
    **dict.fromkeys(_TIMES, pa.float64()),
    **dict.fromkeys(_AROUND, pa.int64()),
}
_WITH_GPU = {**_SPANS, "origin": pa.int32()}
"""Columns of a timeline that has spans on a GPU; those of the host have no origin."""


def write_spans(path: Path, spans: Spans) -> None:
    """Write a timeline.

    Args:
        path: of the file.
        spans: of a profiler.

    Raises:
        FramewattError: the profiler saw another number of steps than the program took.
    """
    steps = spans.words[spans.name] == STEP
    if steps.sum() != len(spans.steps_ns):
        raise FramewattError(
            f"operators: the profile has {steps.sum()} steps and the run {len(spans.steps_ns)}. Run the "
            "study again, which repeats its timeline."
        )
    words = pa.array(spans.words.tolist(), pa.string())
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array(getattr(spans, name), pa.int32()), words) for name in _WORDS
    }
    for place, name in enumerate(_AROUND):
        values = np.zeros(len(steps), np.int64)
        values[steps] = spans.steps_ns[:, place]
        columns[name] = pa.array(values, pa.int64(), mask=~steps)
    columns |= {name: pa.array(getattr(spans, name)) for name in ("thread", *_TIMES)}
    columns["origin"] = pa.array(spans.origin, pa.int32(), mask=~spans.on_gpu)
    table = pa.table({name: columns[name] for name in (_WITH_GPU if spans.on_gpu.any() else _SPANS)})
    write_atomically(path, lambda partial: pq.write_table(table, partial, compression="zstd"))


def read_spans(path: Path) -> Spans:
    """Read a timeline.

    Raises:
        FramewattError: the file is no timeline, or is too large when decompressed.
    """
    try:
        with_gpu = "origin" in pq.read_schema(path).names
        table = read_columns(path, _WITH_GPU if with_gpu else _SPANS)
        if any(table[name].null_count for name in (*_WORDS, "thread", *_TIMES)):
            raise ValueError("spans without a name, a thread or a time")
        start_ns, end_ns = (table[name].to_numpy() for name in _TIMES)
        if not np.isfinite([start_ns, end_ns]).all() or (end_ns < start_ns).any():
            raise ValueError("operators that end before they start")
        steps = pc.equal(table["name"], STEP).to_numpy(zero_copy_only=False)
        around = [table[name].filter(pa.array(steps)) for name in _AROUND]
        if any(column.null_count for column in around):
            raise ValueError("steps without the time around them")
        words: dict[str, int] = {}
        places = {name: _places(table[name], words) for name in _WORDS}
        steps_ns = np.column_stack([column.to_numpy() for column in around]).astype(np.int64)
        origin = _origins(table) if with_gpu else np.full(len(table), ON_HOST, np.int32)
        return Spans(
            np.array(list(words) or [""]),
            **places,
            **{"thread": table["thread"].to_numpy(), "start_ns": start_ns, "end_ns": end_ns, "steps_ns": steps_ns},
            origin=origin,
        )
    except UNREADABLE as error:
        raise FramewattError(f"{path}: found no timeline: {error}") from error


def _origins(table: pa.Table) -> np.ndarray:
    """Return the origin of each span, shape (n,), as in Spans."""
    origin: np.ndarray = table["origin"].fill_null(ON_HOST).to_numpy()
    launched = origin >= 0
    if (origin < ON_HOST).any() or (origin >= len(origin)).any() or (origin[origin[launched]] != ON_HOST).any():
        raise ValueError("spans of a GPU that no span of the host launched")
    return origin


def _places(column: pa.ChunkedArray, words: dict[str, int]) -> np.ndarray:
    """Return the places of a column's texts in `words`, to which new texts are added."""
    parts = [np.zeros(0, np.int32)]
    for chunk in column.chunks:
        of = [words.setdefault(text, len(words)) for text in chunk.dictionary.to_pylist()]
        parts.append(np.array(of, np.int32)[chunk.indices.to_numpy()])
    return np.concatenate(parts)


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
    lock: MachineLock,
) -> dict[str, Any]:
    """Make both passes, in an order that differs from cell to cell, and write the timeline and its record.

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

    def make(target: Path) -> str | None:
        passes: dict[str, Any] = {}
        spans = target.parent / "spans.npz"
        for which in order_of(job["cell_id"]):
            passes[which], reason = _one_pass({**job, "spans": str(spans)}, which, idle, environment, log, lock)
            if reason:
                return reason
        try:
            write_spans(target / SPANS, Spans.load(spans))
        except FramewattError as error:
            return str(error)
        write_trace(target / POWER, passes[PROFILED].pop("trace"))
        del passes[PLAIN]["trace"]
        about = {name: job[name] for name in ("cell_id", "cell", "engine", "phase")}
        write_json(target / RECORD, {**about, "passes": passes})
        return None

    return store_result(make, job, environment, folder, RECORD, repeat_failures=True)


def _one_pass(
    job: Mapping[str, Any],
    which: str,
    idle: Mapping[str, Any],
    environment: Mapping[str, Any],
    log: Path,
    lock: MachineLock,
) -> tuple[dict[str, Any], str | None]:
    """Run a worker while the sampler runs; return its timed window, its units and the trace, or why it failed."""
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
        extent = read_json(Path(job["spans"]).with_suffix(".json"))
        units |= {"count": extent["units"]}
        if until_ns := extent["until_ns"]:
            parts = [(start, min(end, until_ns)) for start, end in parts if start < until_ns]
    window = windows_of({"steady": parts}, trace, idle)["steady"]
    return {"window": window, "units": units, "sampler": summary, "trace": trace}, None
