"""How well the small detectors find drawn shapes after a training, with several seeds, in both frameworks.

`python -m bench.seeds [--models ssd_small …] [--seeds 0 1 2] [--epochs 8]`, with PYTHONPATH=src:tests, trains what has
not been trained before, one after the other on one thread, and writes results/bench/seeds.csv (one row per training)
and seeds.md (per model and metric: values of each framework, and whether they overlap). The same seed draws the same
order of images in both frameworks, and other weights.
"""

import argparse
import csv
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from checkout import ROOT, python_of

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.study.cell import environment_of

OUT = ROOT / "results" / "bench" / "seeds"
FRAMEWORKS = ("torch", "tensorflow")
MODELS: Mapping[str, tuple[str, ...]] = {
    "ssd_small": ("box_ap",),
    "retinanet_small": ("box_ap",),
    "mask_rcnn_small": ("mask_ap", "box_ap"),
}
"""Model -> its metrics."""
SHAPES = {"module": "synthetic_shapes", "size": 128, "most": 3, "train_samples": 800, "test_samples": 160, "seed": 0}
BATCH = 8


@dataclass(frozen=True)
class Trained:
    """A metric of the weights that a training ended with."""

    model: str
    framework: str
    seed: int
    epochs: int
    metric: str
    value: float
    loss: float


def main() -> None:
    """Train, write and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--frameworks", nargs="+", choices=FRAMEWORKS, default=FRAMEWORKS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--epochs", type=int, default=8)
    asked = parser.parse_args()
    rows = [
        row
        for model in asked.models
        for seed in asked.seeds
        for framework in asked.frameworks
        for row in trained(model, framework, seed, asked.epochs)
    ]
    _write(rows)


def trained(model: str, framework: str, seed: int, epochs: int) -> list[Trained]:
    """What a training ended with, of one that was made before if there is any."""
    folder = OUT / f"{model}-{framework}-{seed}-{epochs}"
    if not (folder / "train.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _train(model, framework, seed, epochs, folder)
    last = json.loads((folder / "train.json").read_text())["epochs"][-1]
    return [
        Trained(model, framework, seed, epochs, name, last["quality"][name]["value"], last["loss_mean"])
        for name in MODELS[model]
    ]


def _train(model: str, framework: str, seed: int, epochs: int, folder: Path) -> None:
    """As the workflow does."""
    masks = "mask_ap" in MODELS[model]
    data = OUT / f"shapes-{'masks' if masks else 'boxes'}.npz"
    if not data.exists():
        save_arrays(data, make_arrays({**SHAPES, "masks": masks}))
    job: dict[str, Any] = {
        **{"engine": framework, "model": model, "weights": "trained", "body": None, "seed": seed},
        **{"device": "cpu", "provider": "native", "threads": 1, "batch_size": BATCH},
        **{"data": str(data), "folder": str(folder), "options": {"optimizer": "adam"}},
        "training": {"epochs": epochs, "learning_rate": 0.001, "momentum": 0.9},
    }
    (folder / "job.json").write_text(json.dumps(job))
    subprocess.run(
        [python_of(environment_of(framework, "cpu")), "-m", "framewatt.prepare.training", folder / "job.json"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        check=True,
    )


def _write(rows: Sequence[Trained]) -> None:
    with (OUT.with_suffix(".csv")).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(rows[0])))
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    text = table(rows)
    OUT.with_suffix(".md").write_text(text)
    print(text)


def table(rows: Sequence[Trained]) -> str:
    """One row per model and metric: what each framework reaches, and whether the ranges overlap (Markdown)."""
    lines = ["| model | metric | PyTorch | TensorFlow | ranges overlap |", "|---|---|---|---|---|"]
    for model, metric in dict.fromkeys((row.model, row.metric) for row in rows):
        found = {
            framework: sorted(
                row.value for row in rows if (row.model, row.metric, row.framework) == (model, metric, framework)
            )
            for framework in FRAMEWORKS
        }
        ours, theirs = found.values()
        overlap = max(ours[0], theirs[0]) <= min(ours[-1], theirs[-1])
        told = [", ".join(f"{value:.3f}" for value in values) for values in found.values()]
        lines.append(f"| `{model}` | {metric} | {' | '.join(told)} | {'yes' if overlap else '**no**'} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
