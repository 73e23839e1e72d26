"""How well detectors find drawn shapes after a training, with several seeds, in both frameworks.

`python -m bench.seeds [--models ssd_small …] [--seeds 0 1 2]`, with PYTHONPATH=src:tests, trains what has not been
trained before, one after the other on one thread, and writes results/bench/seeds.csv (one row per training and metric)
and seeds.md (per model and metric: values of each framework, and whether their ranges overlap). The same seed gives the
same order of images in both frameworks, and other weights.
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
BATCH = 8


@dataclass(frozen=True)
class Case:
    """How a model is trained, and on what.

    Attributes:
        metrics: its own.
        size: pixels of an image's sides.
        train: drawn images to learn from.
        test: and to test with.
        epochs: how often it goes through all.
    """

    metrics: tuple[str, ...] = ("box_ap",)
    size: int = 128
    train: int = 800
    test: int = 160
    epochs: int = 8

    @property
    def shapes(self) -> dict[str, Any]:
        """The definition of the data set."""
        drawn = {"size": self.size, "most": 3, "train_samples": self.train, "test_samples": self.test, "seed": 0}
        return {"module": "synthetic_shapes", **drawn, "masks": "mask_ap" in self.metrics}


MODELS: Mapping[str, Case] = {
    "ssd_small": Case(),
    "retinanet_small": Case(),
    "mask_rcnn_small": Case(("mask_ap", "mask_box_ap")),
    # Two models under one name, a short training of each: 12 steps.
    "ssd_as_published": Case(size=300, train=24, test=8, epochs=4),
}
USUAL = ("ssd_small", "retinanet_small", "mask_rcnn_small")


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
    parser.add_argument("--models", nargs="+", choices=MODELS, default=USUAL)
    parser.add_argument("--frameworks", nargs="+", choices=FRAMEWORKS, default=FRAMEWORKS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    asked = parser.parse_args()
    rows = [
        row
        for model in asked.models
        for seed in asked.seeds
        for framework in asked.frameworks
        for row in trained(model, framework, seed)
    ]
    _write(rows)


def trained(model: str, framework: str, seed: int) -> list[Trained]:
    """What a training ended with, of one that was made before if there is any."""
    folder = OUT / f"{model}-{framework}-{seed}"
    if not (folder / "train.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _train(model, framework, seed, folder)
    last = json.loads((folder / "train.json").read_text())["epochs"][-1]
    return [
        Trained(model, framework, seed, last["epoch"], name, last["quality"][name]["value"], last["loss_mean"])
        for name in MODELS[model].metrics
    ]


def _train(model: str, framework: str, seed: int, folder: Path) -> None:
    """As the workflow does."""
    case = MODELS[model]
    data = OUT / f"{model}.npz"
    if not data.exists():
        save_arrays(data, make_arrays(case.shapes))
    job: dict[str, Any] = {
        **{"engine": framework, "model": model, "weights": "trained", "body": None, "seed": seed},
        **{"device": "cpu", "provider": "native", "threads": 1, "batch_size": BATCH},
        **{"data": str(data), "folder": str(folder), "options": {"optimizer": "adam"}},
        "training": {"epochs": case.epochs, "learning_rate": 0.001, "momentum": 0.9},
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
        told = [", ".join(f"{value:.3f}" for value in values) or "none" for values in found.values()]
        lines.append(f"| `{model}` | {metric} | {' | '.join(told)} | {_overlap(*found.values())} |")
    return "\n".join(lines) + "\n"


def _overlap(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Whether two ranges, each in order, have something in common; a single training has none."""
    if min(len(ours), len(theirs)) < 2:
        return "unknown: fewer than two trainings"
    return "yes" if max(ours[0], theirs[0]) <= min(ours[-1], theirs[-1]) else "**no**"


if __name__ == "__main__":
    main()
