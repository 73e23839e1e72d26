"""The measured process: runs one workload and records when each window began and ended.

`python -m framewatt.runs.worker <job.json>` runs inside a framework's environment. It writes events (one line each, as
they happen) and, at its very end, a result; without a result the run has failed.
"""

import itertools
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from framewatt.base.files import read_json, write_json
from framewatt.datasets.contract import Arrays, load_arrays
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.runs.predictions import as_bytes, told_of
from framewatt.study.weights import SEEDED
from framewatt.tasks.classification import judge_outputs, right_answers
from framewatt.workloads import make_inference, make_training
from framewatt.workloads.contract import Inference, Spec, Training, spec_of


class Events:
    """Starts and ends of windows, written as they happen so that those before a crash are kept.

    Args:
        file: a text file, open for appending, since other processes of the run may append to it.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.path = Path(file.name)

    def mark(self, window: str, edge: str, monotonic_ns: int) -> None:
        """Write an edge (`start` or `end`) of a window, at a timestamp that was read before."""
        self._file.write(json.dumps({"window": window, "edge": edge, "monotonic_ns": monotonic_ns}) + "\n")
        self._file.flush()

    @contextmanager
    def window(self, name: str) -> Iterator[None]:
        """A window around the body of the `with` statement."""
        self.mark(name, "start", time.monotonic_ns())
        yield
        self.mark(name, "end", time.monotonic_ns())


def infer(workload: Inference, data: Arrays, window: Mapping[str, Any], events: Events) -> dict[str, Any]:
    """Time one full pass over the test set, batch by batch, and go on with further passes up to `window.minimum_s`.

    Accuracy comes from the outputs of the first, full pass.
    """
    with events.window("setup"):
        workload.setup()
        batches = list(workload.batches())
    with events.window("warm_up"):
        workload.warm_up(window["warm_up_batches"])
    run, synchronize, now_ns = workload.run, workload.synchronize, time.monotonic_ns
    minimum_ns = round(window["minimum_s"] * 1e9)
    stamps: list[int] = []
    outputs: list[Any] = []
    synchronize()
    start_ns = end_ns = now_ns()
    events.mark("steady", "start", start_ns)
    stamps.append(start_ns)
    for batch in batches:
        outputs.append(run(batch))
        synchronize()
        end_ns = now_ns()
        stamps.append(end_ns)
    samples = len(data.x_test)
    for batch in itertools.cycle(batches):
        if end_ns - start_ns >= minimum_ns:
            break
        run(batch)
        synchronize()
        end_ns = now_ns()
        stamps.append(end_ns)
        samples += len(batch[0])
    events.mark("steady", "end", end_ns)
    return _inferred(np.concatenate(outputs), stamps, samples, data, events)


def infer_from_node(spec: Spec, data: Arrays, window: Mapping[str, Any], events: Events) -> dict[str, Any]:
    """As `infer`, but timed in Node.js; the result also has the workload's facts."""
    from framewatt.workloads.onnxruntime import node

    timed = node.infer(spec, data, window, events.path)
    result = _inferred(timed.scores, timed.stamps_ns, timed.samples, data, events)
    return {**result, "workload": timed.facts}


def _inferred(
    scores: Any, stamps: Sequence[int] | NDArray[np.int64], samples: int, data: Arrays, events: Events
) -> dict[str, Any]:
    """Result of an inference run, from the scores of the first pass and the timestamps around all batches."""
    with events.window("evaluate"):
        metrics, unknown = judge_outputs(scores, data)
        right = right_answers(scores, data, metrics)
    return {
        "primary_window": "steady",
        "samples_processed": samples,
        "latency": _latency(stamps),
        "metrics": metrics,
        "metrics_unknown": unknown,
        "right": right,
        "epochs": [],
    }


def train(workload: Training, data: Arrays, epochs: int, events: Events) -> dict[str, Any]:
    """Time each epoch; the test set is evaluated between epochs, outside the timed windows."""
    with events.window("setup"):
        workload.setup()
    rows: list[dict[str, Any]] = []
    for epoch in range(1, epochs + 1):
        batches = list(workload.batches(epoch))
        steps = []
        workload.synchronize()
        start_ns = time.monotonic_ns()
        events.mark(f"epoch-{epoch}", "start", start_ns)
        for batch in batches:
            steps.append(workload.run(batch))
        workload.synchronize()
        events.mark(f"epoch-{epoch}", "end", time.monotonic_ns())
        with events.window(f"evaluate-{epoch}"):
            losses = [workload.loss_of(step) for step in steps]
            scores = workload.evaluate()
            metrics, unknown = judge_outputs(scores, data)
            right = right_answers(scores, data, metrics)
        loss = float(np.mean(losses))
        rows.append(
            {
                "epoch": epoch,
                "samples_processed": len(steps) * min(workload.spec.batch_size, len(data.x_train)),
                "loss_mean": loss if np.isfinite(loss) else None,
                "metrics": metrics,
            }
        )
    return {
        "primary_window": "steady",
        "samples_processed": sum(row["samples_processed"] for row in rows),
        "latency": None,
        "metrics": metrics,
        "metrics_unknown": unknown,
        "right": right,
        "epochs": rows,
    }


def main(job_path: str) -> None:
    """Run the job and write its result."""
    job = read_json(Path(job_path))
    data = load_arrays(Path(job["data"]))
    with Path(job["events"]).open("a", encoding="utf-8") as file:
        events = Events(file)
        if job["phase"] == "train":
            training = make_training(job["engine"], spec_of(job), data)
            result = train(training, data, job["training"]["epochs"], events)
            result["workload"] = training.facts()
            training.close()
        elif (spec := spec_of(job)).level("client") == "node":
            result = infer_from_node(spec, data, job["window"], events)
        else:
            inference = make_inference(job["engine"], spec, data)
            result = infer(inference, data, job["window"], events)
            result["workload"] = inference.facts()
            inference.close()
    if job["weights"] == SEEDED:
        result = without_metrics(result, "weights are random")
    path = Path(job["result"])
    write_json(path, with_predictions(result, path.with_name(PREDICTIONS)))


def with_predictions(result: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The result as it is written to JSON; the correct predictions, where known, go to a file of their own.

    Args:
        result: of a run, with `right`, see metrics.right_answers.
        path: the file of predictions.
    """
    kept = {name: value for name, value in result.items() if name != "right"}
    if result["right"] is None:
        return kept
    path.write_bytes(as_bytes(result["right"]))
    return {**kept, "predictions": told_of(result["right"])}


def without_metrics(result: Mapping[str, Any], why: str) -> dict[str, Any]:
    """The result with all metrics set to unknown, since they would mean nothing (see `why`)."""
    unknown = result["metrics_unknown"] or why
    return {**result, "metrics": dict.fromkeys(result["metrics"]), "metrics_unknown": unknown, "right": None}


def _latency(stamps: Sequence[int] | NDArray[np.int64]) -> dict[str, Any]:
    """Statistics of batch latency: seconds from handing over a batch until its scores are on the host."""
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
