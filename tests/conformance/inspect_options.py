"""Runs a workload with an option and without, in its framework's environment, and prints what the test asks about."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.datasets.contract import Arrays
from framewatt.datasets.storing import load_arrays
from framewatt.runs.conditions import in_force, requested
from framewatt.workloads import make_inference, make_training
from framewatt.workloads.contract import Workload, spec_of


def main(job_path: str) -> None:
    job = json.loads(Path(job_path).read_text())
    data = load_arrays(Path(job["data"]))
    plain = {name: value for name, value in job.items() if name != "options"}
    look = inferred if job["phase"] == "infer" else trained
    print(json.dumps({"plain": look(plain, data), "chosen": look(job, data)}))


def inferred(job: dict[str, Any], data: Arrays) -> dict[str, Any]:
    """Scores with the weights of the job's folder, made first where there are none, and the options in force."""
    if job["engine"] != "onnxruntime" and not any(Path(job["artefact"]).iterdir()):
        source = make_training(job["engine"], spec_of({**job, "artefact": None}), data)
        source.setup()
        source.save(Path(job["artefact"]))
    workload = make_inference(job["engine"], spec_of(job), data)
    workload.setup()
    scores = workload.evaluate()
    found = {"scores": scores.tolist(), "dtype": str(scores.dtype), **settings(job, workload)}
    workload.close()
    return found


def settings(job: dict[str, Any], workload: Workload) -> dict[str, Any]:
    """The options in force in the framework's words, and in those of a run's record."""
    wanted = requested(job if job["phase"] == "train" else {**job, "training": {}})
    return {"in_force": workload.facts()["in_force"], "options": in_force(wanted, workload.levels())}


def trained(job: dict[str, Any], data: Arrays) -> dict[str, Any]:
    """Losses of an epoch's steps and scores after it, and the options in force."""
    workload = make_training(job["engine"], spec_of(job), data)
    workload.setup()
    losses = [workload.loss_of(workload.run(batch)) for batch in workload.batches(epoch=1)]
    workload.synchronize()
    scores = workload.evaluate()
    found = {"scores": scores.tolist(), "losses": losses, **settings(job, workload)}
    assert np.isfinite(scores).all()
    workload.close()
    return found


main(sys.argv[1])
