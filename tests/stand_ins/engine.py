"""Stands in for a framework: scores are a random projection of a sample, and training steps go towards the labels.

A detector finds a box of each class at a place of its own, as sure as the class's score is large, and learns nothing.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.datasets.annotated import AnnotatedImages
from framewatt.tasks.contract import Outputs
from framewatt.workloads.contract import Inference, Training

NAME = Path(__file__).parent.name


class _Model:
    """A matrix from all numbers of a sample to the scores of its classes."""

    spec: Any
    data: Any
    weights: Any

    def rows(self, values: Any) -> Any:
        return values.reshape(len(values), -1).astype(np.float32)

    def draw(self) -> None:
        numbers = int(np.prod(self.data.input_shape))
        self.weights = np.random.default_rng(self.spec.seed).random((numbers, max(self.data.classes, 2)), np.float32)

    def answers(self, samples: Any) -> Outputs:
        scores = self.rows(samples) @ self.weights
        if not isinstance(self.data, AnnotatedImages):
            return scores
        kinds = np.broadcast_to(np.arange(scores.shape[1], dtype=np.float32), scores.shape)
        edges = [kinds, kinds, kinds + 16, kinds + 16]
        shares = scores / scores.sum(axis=1, keepdims=True)
        return np.stack([*edges, np.sqrt(shares), kinds], axis=2).astype(np.float32)

    def tensors(self, arrays: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(arrays)

    def synchronize(self) -> None:
        pass

    def _update(self) -> dict[str, Any]:
        return {name: level for name, level in self.spec.options.items() if name == "update"}

    def levels(self) -> dict[str, Any]:
        wanted = {"precision", "threads", "graph_optimization", "learning_rate", *self.spec.options}
        rate = {"learning_rate": (self.spec.training or {}).get("learning_rate"), "threads": self.spec.threads}
        return {name: rate.get(name) or self.spec.level(name) for name in wanted}

    def facts(self) -> dict[str, Any]:
        return {
            "parameters": self.weights.size,
            "flops": 2 * self.weights.size,
            "input_shape": list(self.data.input_shape),
            "input_layout": self.data.layout,
            "execution_provider": self.spec.provider,
            "all_nodes_on_provider": True,
            # One matrix, which is no input of its graph and has no other way to be updated.
            "in_force": {"threads": self.spec.threads, "weights_among_inputs": 0, **self._update()},
            "libraries": {NAME: "0"},
        }


class StandInInference(_Model, Inference):
    def setup(self) -> None:
        (path,) = (path for path in Path(self.spec.artefact).iterdir() if path.name in ("model.onnx", "weights.pt"))
        self.weights = np.array(json.loads(path.read_text()), np.float32)

    def run(self, batch: Any) -> Outputs:
        return self.answers(batch[0])


class StandInTraining(_Model, Training):
    def setup(self) -> None:
        self.draw()
        self.model = self

    def objective(self, images: Any, boxes: Any, classes: Any, masks: Any = None) -> float:
        return 1.0

    def labels(self, values: Any) -> Any:
        return values

    def run(self, batch: Any) -> Any:
        (inputs, *_), labels = batch
        if isinstance(self.data, AnnotatedImages):
            return self.objective(inputs, *labels)
        rows = self.rows(inputs)
        error = rows @ self.weights - np.eye(self.data.classes, dtype=np.float32)[labels]
        self.weights -= 1e-3 * rows.T @ error / (1 + np.abs(rows).max() ** 2)
        return (error**2).mean()

    def loss_of(self, step: Any) -> float:
        return float(step)

    def evaluate(self) -> Outputs:
        return self.answers(self.data.x_test)

    def save(self, folder: Path) -> None:
        (folder / "weights.pt").write_text(json.dumps(self.weights.tolist()))


make_inference, make_training = StandInInference, StandInTraining
