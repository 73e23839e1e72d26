"""Makes the weights for inference and export: by the study's training, unmeasured, or those a model is built with.

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
from framewatt.datasets.contract import Arrays
from framewatt.datasets.storing import load_arrays
from framewatt.prepare.examples import keep_examples
from framewatt.study.training import FINE_TUNED, PRETRAINED, TRAINED
from framewatt.tasks.quality import quality_of
from framewatt.workloads import make_training
from framewatt.workloads.contract import BODY, Training, spec_of
from framewatt.workloads.models import one_line
from framewatt.workloads.registry import check_trains

RECORD = "train.json"


def main(job_path: str) -> None:
    """Make the weights, save them and write the record: metrics per epoch, facts, hash of the weights.

    What a detector finds on the first test images, after the last epoch, is stored in the same folder.
    """
    job = read_json(Path(job_path))
    folder = Path(job["folder"])
    data = load_arrays(Path(job["data"]))
    if pretrained := job["weights"] in (PRETRAINED, FINE_TUNED):
        keep_downloads(Path("resources/weights").resolve())
    # Weights are not measured, so they may be made quickly: TensorFlow leaves oneDNN off on some processors, where
    # an epoch of ResNet-50 on digits took 97 s instead of 27 s (two cores). Measured runs keep its default.
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    body = Path(job["body"]) if job["body"] else None
    spec = replace(spec_of(job), pretrained=pretrained, body=body)
    last = job["training"]["epochs"] if job["weights"] in (TRAINED, FINE_TUNED) else 0
    if not last:
        # What is not trained may be of fewer samples than a schedule needs, or of none.
        spec = replace(spec, training={**spec.training, "schedule": None})
    else:
        check_trains(spec)
    workload = make_training(job["engine"], spec, data)
    if "own" in job:
        set_up_own(workload, data)
    else:
        workload.setup()
    if last:
        workload.check_learns()
    epochs = []
    for epoch in range(1, last + 1):
        losses = [workload.loss_of(workload.run(batch)) for batch in workload.batches(epoch)]
        outputs = workload.evaluate()
        judged = workload.task.judge(outputs, data)
        epochs.append({"epoch": epoch, "loss_mean": _finite(np.mean(losses)), "quality": quality_of(judged)})
        primary = workload.task.primary
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}, {primary.words} {judged.values[primary.name]}", flush=True)
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
    if last and workload.task.finds_objects:
        # Not before the weights have been hashed: the file is none of them.
        record |= keep_examples(folder, outputs, workload.task, data)
    write_json(folder / RECORD, record)


def keep_downloads(folder: Path) -> None:
    """Set the folder for a framework's downloads of official weights; call before importing the framework.

    A folder set in the user's environment takes precedence.
    """
    for variable in ("TORCH_HOME", "KERAS_HOME", "MXNET_HOME"):
        os.environ.setdefault(variable, str(folder / variable.partition("_")[0].lower()))


def official_weights(workload: Training) -> dict[str, str] | None:
    """Identity of the model's file of official weights, see official.trusted; None where the zoo checks it."""
    known_by: dict[str, str] | None = getattr(getattr(workload, "model", None), "official_weights", None)
    return known_by


def set_up_own(workload: Training, data: Arrays) -> None:
    """Set up a user's model, and check that it accepts the inputs declared in the study.

    Raises:
        FramewattError: it cannot be built, rejects the inputs, or returns anything but one tensor with one row per
            sample where answers are to be judged.
    """
    inputs = ", ".join(f"{name} {values.shape[1:]} {values.dtype}" for name, values in data.inputs_test.items())
    try:
        workload.setup()
        outputs = workload.evaluate()
    except FramewattError:
        raise
    except Exception as error:
        raise FramewattError(
            f"inputs: the model does not take {inputs}: {one_line(error)}. Declare the inputs that it takes; it has to "
            "return one tensor with one row per sample."
        ) from error
    if data.unlabelled is not None:
        return
    if outputs.ndim == 0 or len(outputs) != len(data.x_test):
        raise FramewattError(
            f"factory: the model returned outputs of shape {outputs.shape} for {len(data.x_test)} samples. Return one "
            "row per sample."
        )


def _finite(value: np.floating) -> float | None:
    return float(value) if np.isfinite(value) else None


if __name__ == "__main__":
    main(sys.argv[1])
