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
""",
    "tensorflow": """
import keras

def ranker():
    item, history = keras.Input((3,), dtype="int64", name="item"), keras.Input((6,), name="history")
    dense = keras.layers.Reshape((1, 8))(keras.layers.Dense(8)(history))
    return keras.Model([item, history], keras.layers.Embedding(50, 8)(item) * dense)

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
    records = run_stages(framework, {"model": "mine", "weights": "given", "own": own}, folder)
    assert np.load(folder / "export" / "reference.npy").shape[0] == 6
    return records


@pytest.mark.parametrize("framework", FACTORIES)
def test_two_inputs_and_outputs_of_three_axes_survive_the_export(framework: str, tmp_path: Path) -> None:
    trained, found = stages(framework, "ranker", RANKER, tmp_path)
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
