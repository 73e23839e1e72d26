"""Runs of real frameworks under their profilers and under cProfile, without the workflow."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
from checkout import ROOT
from stages import end_of, run_stage

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.energy.accounting import spans_of
from framewatt.profiling.api_names import read_rules
from framewatt.profiling.collection import read_own
from framewatt.profiling.dump import calls_frame, functions_frame, profiled_frame
from framewatt.runs.profiling import RECORD
from framewatt.workloads.profilers import Spans

MODEL = "mobilenetv2"
"""The default of all runs here."""

CONVOLUTIONS = {
    "torch": "aten::mkldnn_convolution",
    "tensorflow": "Conv2D",
    "mxnet": "Convolution",
    "onnxruntime": "Conv",
}
"""Part of a convolution's name in the profile of an engine."""

TRAINS = {
    "torch": "torch.autograd.backward",
    "tensorflow": "tf.function",
    "mxnet": "mxnet.nd.waitall",
}
"""Where the frameworks' users find most of a training: waiting is MXNet's."""


def save_images(folder: Path, train_samples: int, test_samples: int) -> None:
    """Write random images of 32 pixels to `data.npz`."""
    images = {"module": "synthetic", "shape": [3, 32, 32], "classes": 10, "seed": 0}
    save_arrays(
        folder / "data.npz", make_arrays({**images, "train_samples": train_samples, "test_samples": test_samples})
    )


def _job(data: Path, **changes: Any) -> dict[str, Any]:
    return {
        **{"device": "cpu", "threads": 1, "seed": 0, "model": MODEL, "batch_size": 8, "repetition": 1},
        **{"provider": "native", "data": str(data), "weights": "trained", "training": {}},
        **changes,
    }


def recorded(folder: Path, environment: str, *, anew: bool = False, **job: Any) -> tuple[Spans, list[tuple[int, int]]]:
    """Record the timeline of a run.

    Args:
        folder: with data.npz.
        environment: name of the framework's.
        anew: whether the process imports its framework itself, as a measured process does.
        job: keys of the job that differ.

    Returns:
        the spans, and start and end in ns of each part of its timed window.
    """
    files = {name: str(folder / name) for name in ("events", "result", "spans")}
    (folder / "job.json").write_text(json.dumps(_job(folder / "data.npz", **files, **job)))
    # On a busy machine a first step takes longer than a worker records.
    (folder / "record.py").write_text(
        "import sys; from framewatt.runs import timeline_worker; "
        "timeline_worker.LONGEST_S = float('inf'); timeline_worker.main(sys.argv[1])"
    )
    ended = end_of(environment, folder / "record.py", folder / "job.json", anew=anew)
    assert ended.code == 0, ended.err
    events = [json.loads(line) for line in (folder / "events").read_text().splitlines()]
    return Spans.load(folder / "spans"), spans_of(events)["steady"]


def profiled(folder: Path, environment: str, **job: Any) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the record of a profiled run, and its functions with their names.

    Args:
        folder: with data.npz.
        environment: name of the framework's.
        job: keys of the job that differ; `cell_id` is one of them.
    """
    made = folder / job["cell_id"]
    made.mkdir()
    whole = _job(
        folder / "data.npz", cell={"workload": job.get("model", MODEL)}, profile="windows", folder=str(made), **job
    )
    run_stage("framewatt.runs.profiling", environment, whole)
    record = json.loads((made / RECORD).read_text())
    (made / RECORD).write_text(json.dumps({**record, "status": "ok", "reason": None}))
    runs, outcomes = read_own([made])
    assert outcomes["status"].tolist() == ["ok"], outcomes["reason"][0]
    rules = read_rules(ROOT / "config" / "api_names.csv")
    return record, functions_frame(profiled_frame("s", runs), calls_frame("s", runs), rules, {})
