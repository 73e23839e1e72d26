"""The measured process: runs one workload and records when each window starts and ends.

`python -m framewatt.runs.worker <job.json>` runs inside a framework's environment. It writes events (one line each, as
they happen) and, at its very end, a result; without a result the run has failed.
"""

import itertools
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_json
from framewatt.datasets.storing import load_arrays
from framewatt.host.memory import heap_in_force, heap_settings
from framewatt.runs.batches import AHEAD_GB, PASSES, Supply, infer_open, write_phases
from framewatt.runs.conditions import in_force, requested, set_in
from framewatt.runs.events import Events
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.runs.predictions import as_bytes, predictions_entry
from framewatt.study.factors import CLOSED, rate_of
from framewatt.study.options import HEAP_STAYS, STEP
from framewatt.study.records import Latency
from framewatt.study.training import SEEDED
from framewatt.tasks.phases import Work, needs_outputs, without_marks, work_done
from framewatt.tasks.quality import HINT, quality_of
from framewatt.workloads import make_inference, make_training
from framewatt.workloads.contract import Inference, Training, Workload, spec_of
from framewatt.workloads.registry import check_trains


def infer(workload: Inference, window: Mapping[str, Any], events: Events) -> dict[str, Any]:
    """Time one full pass over the test set, batch by batch, and go on with further passes up to `window.minimum_s`.

    Where the window has `passes`, at least so many are timed.

    The outputs of the first, full pass are those that are judged. Those of later passes stay in memory only where the
    task counts its units in them.
    """
    supply = Supply(workload, window.get("ahead_gb", AHEAD_GB))
    with events.window("setup"):
        workload.setup()
        first = supply.batches()
    with events.window("warm_up"):
        workload.warm_up(window["warm_up_batches"])
    run, synchronize, now_ns = workload.run, workload.synchronize, time.monotonic_ns
    minimum_ns = round(window["minimum_s"] * 1e9)
    least = window.get("passes", PASSES) * len(workload.steps())
    keeps = needs_outputs(workload.task)
    stamps: list[int] = []
    outputs: list[Any] = []
    later: list[Any] = []
    synchronize()
    start_ns = end_ns = now_ns()
    events.mark("steady", "start", start_ns)
    stamps.append(start_ns)
    for batch in first:
        outputs.append(run(batch))
        synchronize()
        end_ns = now_ns()
        stamps.append(end_ns)
    for batch in itertools.chain.from_iterable(supply.batches() for _ in itertools.count()):
        if end_ns - start_ns >= minimum_ns and len(stamps) > least:
            break
        returned = run(batch)
        synchronize()
        end_ns = now_ns()
        stamps.append(end_ns)
        if keeps:
            later.append(returned)
    events.mark("steady", "end", end_ns)
    task, steps = workload.task, workload.steps()
    work = work_done(task, steps, [*outputs, *later], len(stamps) - 1)
    first_pass = workload.in_order([without_marks(task, returned) for returned in outputs], steps)
    result = _inferred(workload, first_pass, stamps, events, work)
    return {**result, "batches": supply.summary()}


def infer_from_node(workload: Inference, window: Mapping[str, Any], events: Events) -> dict[str, Any]:
    """As `infer`, but timed in Node.js; the result also has the workload's facts, and the levels in force."""
    from framewatt.workloads.onnxruntime import node

    task = workload.task
    if needs_outputs(task):
        raise FramewattError(
            f"client: node returns no outputs by step, which the task {task.name} counts its units in. Use python."
        )
    timed = node.infer(workload.spec, workload.data, window, events.path)
    work = work_done(task, workload.steps(), [], len(timed.stamps_ns) - 1)
    result = _inferred(workload, timed.outputs, timed.stamps_ns, events, work)
    return {**result, "workload": timed.facts, "levels": timed.levels}


def _inferred(
    workload: Inference, outputs: Any, stamps: Sequence[int] | NDArray[np.int64], events: Events, work: Work
) -> dict[str, Any]:
    """Return the result of an inference run.

    Args:
        workload: that ran.
        outputs: of the first pass, in the order of the samples.
        stamps: timestamps around all batches, nanoseconds.
        events: of the run; phases of steps are written to it.
        work: what the steps did.
    """
    write_phases(events, work)
    with events.window("evaluate"):
        judged = workload.task.judge(outputs, workload.data)
    return {
        "primary_window": "steady",
        **work.facts(workload.task),
        "latency": _latency(stamps),
        "quality": quality_of(judged),
        "right": judged.right,
        "epochs": [],
    }


def train(workload: Training, epochs: int, events: Events, ahead_gb: float = AHEAD_GB) -> dict[str, Any]:
    """Time each epoch; the test set is evaluated between epochs, outside the timed windows.

    Losses are read there, too. With the option `loss_read: step` they are read after each step instead.
    """
    reads = workload.spec.level("loss_read") == STEP
    supply = Supply(workload, ahead_gb)
    with events.window("setup"):
        workload.setup()
        workload.check_learns()
    rows: list[dict[str, Any]] = []
    for epoch in range(1, epochs + 1):
        batches = supply.batches(epoch)
        losses = []
        workload.synchronize()
        start_ns = time.monotonic_ns()
        events.mark(f"epoch-{epoch}", "start", start_ns)
        for batch in batches:
            loss = workload.run(batch)
            losses.append(workload.loss_of(loss) if reads else loss)
        workload.synchronize()
        events.mark(f"epoch-{epoch}", "end", time.monotonic_ns())
        # Gone before the test set is evaluated and the next epoch's are made.
        del batches, batch, loss
        with events.window(f"evaluate-{epoch}"):
            means = losses if reads else [workload.loss_of(loss) for loss in losses]
            judged = workload.task.judge(workload.evaluate(), workload.data)
        loss_mean = float(np.mean(means))
        rows.append(
            {
                "epoch": epoch,
                "units": sum(step.units for step in workload.steps(epoch)),
                "loss_mean": loss_mean if np.isfinite(loss_mean) else None,
                "quality": quality_of(judged),
            }
        )
    return {
        "primary_window": "steady",
        "units": {"name": workload.task.unit, "count": sum(row["units"] for row in rows)},
        "latency": None,
        "quality": quality_of(judged),
        "right": judged.right,
        "epochs": rows,
        "batches": supply.summary(),
    }


def main(
    job_path: str,
    events_in: Callable[[TextIO], Events] = Events,
    watch: Callable[[Workload], object] = lambda workload: None,
) -> None:
    """Run the job and write its result.

    Args:
        job_path: of the job.
        events_in: makes the events that are written to a file.
        watch: is called with the workload before it is set up.
    """
    job = read_json(Path(job_path))
    data = load_arrays(Path(job["data"]))
    with Path(job["events"]).open("a", encoding="utf-8") as file:
        events = events_in(file)
        if job["phase"] == "train":
            check_trains(spec_of(job))
            training = make_training(job["engine"], spec_of(job), data)
            watch(training)
            result = train(training, job["training"]["epochs"], events, job["window"].get("ahead_gb", AHEAD_GB))
            result["workload"] = _with_in_force(training.facts(), loss_read=training.spec.level("loss_read"))
            reported = {**training.levels(), "loss_read": training.spec.level("loss_read")}
            training.close()
        else:
            inference = make_inference(job["engine"], spec_of(job), data)
            watch(inference)
            load = inference.spec.level("load")
            if inference.spec.level("client") == "node":
                result = infer_from_node(inference, job["window"], events)
                reported = result.pop("levels")
            else:
                rate_per_s = rate_of(load)
                if rate_per_s is None:
                    result = infer(inference, job["window"], events)
                else:
                    result = infer_open(inference, job["window"], events, rate_per_s, job["repetition"])
                result["workload"] = inference.facts()
                reported = {**inference.levels(), "load": load if "open_loop" in result["latency"] else CLOSED}
                inference.close()
    variables = set_in(os.environ, heap_settings(job))
    result["workload"] = {**result["workload"], "variables": variables, "peak_memory_b": peak_memory_b()}
    if job.get("options", {}).get("client") != "node":
        heap = checked_heap(job)
        result["workload"] = _with_in_force(result["workload"], heap=heap)
        reported = {**reported, "heap": heap}
    result["workload"]["options"] = in_force(requested(job), reported)
    if job["weights"] == SEEDED:
        result = without_quality(result, "weights are random")
    path = Path(job["result"])
    write_json(path, with_predictions(result, path.with_name(PREDICTIONS)))


def with_predictions(result: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the result as it is written to JSON; the correct predictions, where known, go to a file of their own.

    Args:
        result: of a run, with `right`, see tasks.contract.Judged.
        path: the file of predictions.
    """
    written = {name: value for name, value in result.items() if name != "right"}
    if result["right"] is None:
        return written
    path.write_bytes(as_bytes(result["right"]))
    return {**written, "predictions": predictions_entry(result["right"])}


def without_quality(result: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return the result with all metrics unknown for the reason `why`; a metric that has a reason keeps it."""
    quality = {
        name: {
            **{key: value for key, value in metric.items() if key != HINT},
            "value": None,
            "reason": metric["reason"] or why,
        }
        for name, metric in result["quality"].items()
    }
    return {**result, "quality": quality, "right": None}


def _with_in_force(facts: Mapping[str, Any], **levels: str) -> dict[str, Any]:
    """Return facts with levels that are in force through the worker and not through the framework."""
    return {**facts, "in_force": {**facts.get("in_force", {}), **levels}}


def checked_heap(job: Mapping[str, Any]) -> str:
    """Return whether freed memory stays with the process (`kept`) or is `returned` to the kernel, see host.memory.

    Raises:
        FramewattError: the cell requests that it stays, and it is returned.
    """
    in_force = heap_in_force()
    if heap_settings(job) and in_force != HEAP_STAYS:
        raise FramewattError(
            f"heap: freed memory is {in_force} to the kernel, and the cell requests {HEAP_STAYS}. Run without another "
            "allocator (LD_PRELOAD), on a system with glibc."
        )
    return in_force


def peak_memory_b() -> int | None:
    """Return the largest resident memory so far of this process, or of a process that it started; None where unknown.

    Not by `getrusage` of this process: its number includes the parent's memory when it started this one.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.is_file() else []
    own_kib = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)
    if own_kib is None:
        return None
    # A child's number includes the memory of this process, which is counted anyway.
    return 1024 * max(own_kib, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _latency(stamps: Sequence[int] | NDArray[np.int64]) -> Latency:
    """Return statistics of batch latency: seconds from handing over a batch until its scores are on the host."""
    seconds = np.diff(np.array(stamps)) * 1e-9
    p50, p95, p99 = np.quantile(seconds, [0.5, 0.95, 0.99])
    return {
        "batches": len(seconds),
        "mean_s": float(seconds.mean()),
        "p50_s": float(p50),
        "p95_s": float(p95),
        "p99_s": float(p99),
        "max_s": float(seconds.max()),
    }


if __name__ == "__main__":
    main(sys.argv[1])
