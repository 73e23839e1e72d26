"""Makes the weights that inference and export use: by the study's training, unmeasured, or as the model is built.

A zoo's model is built with random weights from the study's seed or with published ones, a user's own with those that
its factory gives it.

`python -m framewatt.prepare.training <job.json>` runs inside a framework's environment.
"""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, sha256_of_files, write_json
from framewatt.datasets.contract import Arrays, load_arrays
from framewatt.study.weights import FINE_TUNED, PRETRAINED, TRAINED
from framewatt.tasks.classification import judge_outputs
from framewatt.workloads import make_training
from framewatt.workloads.contract import BODY, Training, spec_of
from framewatt.workloads.models import told

RECORD = "train.json"


def main(job_path: str) -> None:
    """Make the weights, save them and write the record: metrics an epoch, facts, hash of the weights."""
    job = read_json(Path(job_path))
    folder = Path(job["folder"])
    data = load_arrays(Path(job["data"]))
    if pretrained := job["weights"] in (PRETRAINED, FINE_TUNED):
        keep_downloads(Path("resources/weights").resolve())
    body = Path(job["body"]) if job["body"] else None
    workload = make_training(job["engine"], replace(spec_of(job), pretrained=pretrained, body=body), data)
    if "own" in job:
        set_up_own(workload, data)
    else:
        workload.setup()
    epochs = []
    last = job["training"]["epochs"] if job["weights"] in (TRAINED, FINE_TUNED) else 0
    for epoch in range(1, last + 1):
        losses = [workload.loss_of(workload.run(batch)) for batch in workload.batches(epoch)]
        metrics, _ = judge_outputs(workload.evaluate(), data)
        epochs.append({"epoch": epoch, "loss_mean": _finite(np.mean(losses)), "metrics": metrics})
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}, accuracy {metrics['accuracy']}", flush=True)
    workload.save(folder)
    record = {
        "framework": job["engine"],
        "weights": job["weights"],
        "epochs": epochs,
        "workload": workload.facts(),
        "official_weights": official_weights(workload),
        "body_sha256": sha256_of_files([body / name for name in BODY], body) if body else None,
        "weights_sha256": sha256_of_files(folder.iterdir(), folder),
    }
    write_json(folder / RECORD, record)


def keep_downloads(folder: Path) -> None:
    """Have a framework, which is not imported yet, look for official weights here and download them to here.

    A folder that the user's environment names is left as it is.
    """
    for variable in ("TORCH_HOME", "KERAS_HOME", "MXNET_HOME"):
        os.environ.setdefault(variable, str(folder / variable.partition("_")[0].lower()))


def official_weights(workload: Training) -> dict[str, str] | None:
    """By what the file of official weights is known that the model has; None where its zoo checks it."""
    known_by: dict[str, str] | None = getattr(getattr(workload, "model", None), "official_weights", None)
    return known_by


def set_up_own(workload: Training, data: Arrays) -> None:
    """Set up a user's model, and make sure that it takes what the study says that it takes.

    Raises:
        FramewattError: it cannot be made, does not, or gives something else than one tensor with one row per sample.
    """
    said = ", ".join(f"{name} {values.shape[1:]} {values.dtype}" for name, values in data.inputs_test.items())
    try:
        workload.setup()
        outputs = workload.evaluate()
    except FramewattError:
        raise
    except Exception as error:
        raise FramewattError(
            f"inputs: found that the model does not take {said}: {told(error)}; "
            "allowed: what it takes, giving one tensor with one row per sample"
        ) from error
    if outputs.ndim == 0 or len(outputs) != len(data.x_test):
        raise FramewattError(
            f"factory: found outputs of shape {outputs.shape} for {len(data.x_test)} samples; "
            "allowed: one row per sample"
        )


def _finite(value: np.floating) -> float | None:
    return float(value) if np.isfinite(value) else None


if __name__ == "__main__":
    main(sys.argv[1])
