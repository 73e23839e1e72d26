"""Trains a NeuMF in its framework's environment from given weights, and writes what it computed on the way."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.datasets.storing import load_arrays
from framewatt.workloads import make_training
from framewatt.workloads.contract import Spec
from framewatt.workloads.inspection import matched

VECTORS = ("user_factors", "item_factors", "user_mlp", "item_mlp")


def main(framework: str, folder: str, optimizer: str, rate: str) -> None:
    """Train ten steps from `weights.npz`, and write `<framework>-<optimizer>.npz`.

    Args:
        framework: whose environment this is.
        folder: with data.npz, and weights.npz by PyTorch's names.
        optimizer: `sgd` or `adam`.
        rate: learning rate.
    """
    data = load_arrays(Path(folder) / "data.npz")
    settings = {"epochs": 1, "batch_size": 32, "learning_rate": float(rate), "momentum": 0.9, "betas": [0.25, 0.5]}
    options = {"optimizer": optimizer} if optimizer != "sgd" else {}
    training = make_training(framework, Spec("neumf_small", 32, "cpu", "native", 1, 0, None, settings, options), data)
    training.setup()
    with np.load(Path(folder) / "weights.npz") as content:
        weights = dict(content)
    places = matched(places_of(framework, training.model), weights)
    for name, place in places.items():
        place.write(weights[name])
    found: dict[str, Any] = {"before": training.evaluate()}
    losses = []
    for step, batch in zip(range(10), training.batches(epoch=1), strict=False):
        losses.append(training.loss_of(training.run(batch)))
        if step == 0:
            found |= {f"first/{name}": place.read() for name, place in places.items()}
    found |= {"losses": np.array(losses), "after": training.evaluate()}
    np.savez(Path(folder) / f"{framework}-{optimizer}.npz", **found)
    print(json.dumps(training.facts()["parameters"]))


def places_of(framework: str, model: Any) -> Any:
    """Where a model's weights lie."""
    return importlib.import_module(f"framewatt.workloads.{framework}.inspection").places(model)


def ordered(framework: str, model: Any) -> Any:
    """The same, in PyTorch's order of the weights; MXNet has other names and this order."""
    found = places_of(framework, model)
    vectors = [f"{name}.weight" for name in VECTORS if framework != "mxnet"]
    return [*(found[name] for name in vectors), *(place for name, place in found.items() if name not in vectors)]


if __name__ == "__main__":
    main(*sys.argv[1:])
