"""Inference of an exported model from Node.js, which runs all timed code (client.js) while Python waits."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.host.supervision import ended_with_parent
from framewatt.study.options import Level
from framewatt.tasks.contract import Outputs
from framewatt.workloads.contract import Spec
from framewatt.workloads.onnxruntime.engine import OnnxRuntimeInference

PROGRAM = Path(__file__).with_name("client.js")
NODE, MODULES = Path(sys.prefix) / "bin" / "node", Path(sys.prefix) / "node_modules"
"""Node.js and its packages, in the environment."""


@dataclass(frozen=True)
class Timed:
    """Results from Node.js.

    Attributes:
        outputs: of the whole test set, one row per sample, float32.
        stamps_ns: CLOCK_MONOTONIC at the start of the window and after each batch.
        facts: facts of the workload as in OnnxRuntimeInference, with Node.js as the client.
        levels: in force, by option, see Workload.levels.
    """

    outputs: Outputs
    stamps_ns: NDArray[np.int64]
    facts: dict[str, Any]
    levels: dict[str, Level | None]


def infer(spec: Spec, data: Arrays, window: Mapping[str, Any], events: Path) -> Timed:
    """Run the windows of framewatt.runs.worker.infer in Node.js.

    Args:
        spec: the workload's part of the job.
        data: the arrays; their test set is scored.
        window: `warm_up_batches` and `minimum_s`.
        events: the file of events, to which Node.js appends.

    Raises:
        RuntimeError: Node.js fails; the message has its last line.
        FramewattError: there is no Node.js in this environment, samples of the data set follow each other, or the model
            gives several outputs.
    """
    OnnxRuntimeInference(spec, data).check_apart("client: node", "client: python")
    if not NODE.exists():
        raise FramewattError("client: this environment has no Node.js. Use client: python, or environment: locked.")
    workload = OnnxRuntimeInference(spec, data)
    workload.setup()
    if len(workload.session.get_outputs()) > 1:
        names = ", ".join(one.name for one in workload.session.get_outputs())
        raise FramewattError(
            f"client: node takes models with one output, and this one has {names}. Use client: python."
        )
    facts, levels, answers = workload.facts(), workload.levels(), workload.answers
    with TemporaryDirectory(prefix="framewatt-node-", dir=events.parent) as name:
        folder = Path(name)
        task = {
            **_task(workload, folder),
            "warm_up_batches": window["warm_up_batches"],
            "minimum_ns": str(round(window["minimum_s"] * 1e9)),
            "events": str(events),
            **{key: str(folder / key) for key in ("outputs", "stamps", "result")},
        }
        # Python's own session is gone when the windows begin.
        del workload
        (folder / "task.json").write_text(json.dumps(task))
        run_client(folder / "task.json")
        result = json.loads((folder / "result").read_text())
        outputs = np.fromfile(folder / "outputs", "<f4").reshape(len(data.x_test), *result["output_shape"])
        stamps = np.fromfile(folder / "stamps", "<i8")
    in_force = {
        "client": f"node {result['libraries']['node']}",
        # ONNX Runtime for Node.js does not report a session's settings.
        "threads": f"{spec.threads} asked for",
        "graph_optimization": f"{spec.level('graph_optimization')} asked for",
        "integer_nodes": facts["in_force"]["integer_nodes"],
    }
    facts |= {"in_force": in_force, "libraries": result["libraries"]}
    unread = dict.fromkeys(("threads", "graph_optimization"))
    return Timed(
        answers.answers_in(outputs), stamps, facts, {"precision": levels["precision"], **unread, "client": "node"}
    )


def _task(workload: OnnxRuntimeInference, folder: Path) -> dict[str, Any]:
    """Return the model, how to run it, and its inputs as raw little-endian files."""
    inputs: list[dict[str, Any]] = []
    for name, values in workload.feed(workload.whole()).items():
        path = folder / f"input-{len(inputs)}"
        values.astype(values.dtype.newbyteorder("<"), copy=False).tofile(path)
        inputs.append({"name": name, "type": str(values.dtype), "shape": list(values.shape[1:]), "path": str(path)})
    return {
        "model": str(workload.path),
        "inputs": inputs,
        "samples": len(workload.data.x_test),
        "batch_size": workload.spec.batch_size,
        "threads": workload.spec.threads,
        "graph_optimization": workload.spec.level("graph_optimization"),
    }


def run_client(task: Path) -> None:
    """Run client.js on a task.

    Raises:
        RuntimeError: it fails; the message holds its output.
    """
    done = subprocess.run(
        [NODE, PROGRAM, task],
        env={"NODE_PATH": str(MODULES)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=ended_with_parent(),  # it only calls the kernel
    )
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        last = lines[-1] if lines else "no output"
        message = next((line for line in lines if "Error: " in line), last)
        raise RuntimeError(f"Node.js ended with exit code {done.returncode}: {message}")
