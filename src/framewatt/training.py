"""Makes the weights that inference and export use: by the study's training, unmeasured, or random ones from its seed.

`python -m framewatt.training <job.json>` runs inside a framework's environment.
"""

import sys
from pathlib import Path

import numpy as np

from framewatt.datasets.contract import load_arrays
from framewatt.files import read_json, sha256_of_files, write_json
from framewatt.metrics import classification_metrics
from framewatt.worker import spec_of
from framewatt.workloads import make_training
from framewatt.workloads.contract import SEEDED

RECORD = "train.json"


def main(job_path: str) -> None:
    """Make the weights, save them and write the record: metrics an epoch, facts, hash of the weights."""
    job = read_json(Path(job_path))
    folder = Path(job["folder"])
    data = load_arrays(Path(job["data"]))
    workload = make_training(job["engine"], spec_of(job), data)
    workload.setup()
    epochs = []
    last = 0 if job["weights"] == SEEDED else job["training"]["epochs"]
    for epoch in range(1, last + 1):
        losses = [workload.loss_of(workload.run(batch)) for batch in workload.batches(epoch)]
        metrics = classification_metrics(workload.evaluate(), data.y_test)
        epochs.append({"epoch": epoch, "loss_mean": _finite(np.mean(losses)), "metrics": metrics})
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}, accuracy {metrics['accuracy']}", flush=True)
    workload.save(folder)
    record = {
        "framework": job["engine"],
        "weights": job["weights"],
        "epochs": epochs,
        "workload": workload.facts(),
        "weights_sha256": sha256_of_files(folder.iterdir(), folder),
    }
    write_json(folder / RECORD, record)


def _finite(value: np.floating) -> float | None:
    return float(value) if np.isfinite(value) else None


if __name__ == "__main__":
    main(sys.argv[1])
