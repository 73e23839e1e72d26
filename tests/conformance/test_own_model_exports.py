"""A user's own model, from a factory in any framework to the scores of its export; any shape, any number of inputs."""

import json
from pathlib import Path

import numpy as np
import pytest
from stages import run_stages

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays

FACTORIES = {
    "torch": """
import torch

class Ranker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 8)
        self.dense = torch.nn.Linear(6, 8)

    def forward(self, item, history):
        return self.embedding(item) * self.dense(history)[:, None, :]

def ranker():
    return Ranker()

class Finder(torch.nn.Module):
    # Boxes and scores by name, and what no sample has a row of: the largest of all.

    def __init__(self):
        super().__init__()
        self.dense = torch.nn.Linear(5, 8)

    def forward(self, x):
        boxes = self.dense(x).reshape(-1, 2, 4)
        return {"found": (boxes, boxes.sum(dim=2)), "largest": boxes.max(), "counts": (boxes > 0).sum(dim=(1, 2))}

def finder():
    return Finder()
""",
    "tensorflow": """
import keras

def ranker():
    item, history = keras.Input((3,), dtype="int64", name="item"), keras.Input((6,), name="history")
    dense = keras.layers.Reshape((1, 8))(keras.layers.Dense(8)(history))
    return keras.Model([item, history], keras.layers.Embedding(50, 8)(item) * dense)

def finder():
    x = keras.Input((5,), name="x")
    boxes = keras.layers.Reshape((2, 4))(keras.layers.Dense(8)(x))
    return keras.Model(x, {"boxes": boxes, "scores": keras.ops.sum(boxes, axis=2), "all": keras.ops.max(boxes)})

def plain():
    return keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
""",
    "mxnet": """
from mxnet.gluon import HybridBlock, nn

class Ranker(HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.embedding = nn.Embedding(50, 8)
            self.dense = nn.Dense(8)

    def hybrid_forward(self, F, item, history):
        return F.broadcast_mul(self.embedding(item), F.expand_dims(self.dense(history), axis=1))

def ranker():
    return Ranker()

class Finder(HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.dense = nn.Dense(8)

    def hybrid_forward(self, F, x):
        boxes = F.reshape(self.dense(x), (-1, 2, 4))
        return boxes, F.sum(boxes, axis=2)

def finder():
    return Finder()
""",
}
RANKER = [
    {"name": "item", "shape": [3], "type": "int64", "below": 50},
    {"name": "history", "shape": [6], "type": "float32", "below": 2},
]
PLAIN = [{"name": "x", "shape": [5], "type": "float32", "below": 2}]


def stages(framework: str, factory: str, inputs: list, folder: Path) -> tuple[dict, dict]:
    """Records of weights and of the export's check."""
    (folder / "nets.py").write_text(FACTORIES[framework])
    definition = {"module": "own", "inputs": inputs, "samples": 6, "seed": 0, "layout": "as-is", "metric": "accuracy"}
    save_arrays(folder / "data.npz", make_arrays(definition))
    own = {"factory": f"nets:{factory}", "folder": str(folder)}
    return run_stages(framework, {"model": "mine", "weights": "given", "own": own}, folder)


@pytest.mark.parametrize("framework", FACTORIES)
def test_two_inputs_and_outputs_of_three_axes_survive_the_export(framework: str, tmp_path: Path) -> None:
    trained, found = stages(framework, "ranker", RANKER, tmp_path)
    assert np.load(tmp_path / "export" / "reference.npy").shape == (6, 3, 8)
    assert (trained["weights"], trained["epochs"], trained["workload"]["input_layout"]) == ("given", [], "as given")
    assert trained["workload"]["parameters"] == 50 * 8 + 6 * 8 + 8
    assert (found["status"], found["reason"], found["equal_predictions_share"]) == ("ok", None, None)
    assert found["largest_score"] > 0
    assert found["max_abs_difference"] < 1e-5
    assert {told["value"] for told in found["quality"].values()} == {None}
    assert found["quality"]["accuracy"]["reason"] == "inputs are random and have no labels"
    assert json.loads((tmp_path / "export" / "export.json").read_text())["model_sha256"]


def test_a_keras_model_that_was_not_built_takes_any_batch(tmp_path: Path) -> None:
    _, found = stages("tensorflow", "plain", PLAIN, tmp_path)
    assert (found["status"], found["samples"]) == ("ok", 6)


NUMBERS = {"torch": 6 * (8 + 2 + 1) + 1, "tensorflow": 6 * (8 + 2) + 1, "mxnet": 6 * (8 + 2)}
"""Of all outputs together: 8 of boxes and 2 of scores a sample, and what else each gives."""


@pytest.mark.parametrize("framework", NUMBERS)
def test_several_outputs_are_compared_with_those_of_the_export_and_are_not_judged(
    framework: str, tmp_path: Path
) -> None:
    _, found = stages(framework, "finder", PLAIN, tmp_path)
    assert np.load(tmp_path / "export" / "reference.npy").shape == (NUMBERS[framework],)
    assert (found["status"], found["reason"], found["equal_predictions_share"]) == ("ok", None, None)
    assert found["largest_score"] > 0
    assert found["max_abs_difference"] < 1e-5
    assert {told["value"] for told in found["quality"].values()} == {None}
    assert found["quality"]["accuracy"]["reason"] == "inputs are random and have no labels"
