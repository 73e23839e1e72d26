"""Trains a NeuMF in its framework's environment from given weights, and writes what it computed on the way."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.datasets.contract import load_arrays
from framewatt.workloads import make_training
from framewatt.workloads.contract import Spec

VECTORS = ("user_factors", "item_factors", "user_mlp", "item_mlp")


def main(framework: str, folder: str, optimizer: str, rate: str) -> None:
    """Train ten steps from `weights.npz`, and write `<framework>-<optimizer>.npz`.

    Args:
        framework: whose environment this is.
        folder: with data.npz, and weights.npz in the order of `VECTORS`, then kernel (out, in) and bias layer by layer.
        optimizer: `sgd` or `adam`.
        rate: learning rate.
    """
    data = load_arrays(Path(folder) / "data.npz")
    settings = {"epochs": 1, "batch_size": 32, "learning_rate": float(rate), "momentum": 0.9, "betas": [0.25, 0.5]}
    options = {"optimizer": optimizer} if optimizer != "sgd" else {}
    training = make_training(framework, Spec("neumf_small", 32, "cpu", "native", 1, 0, None, settings, options), data)
    training.setup()
    with np.load(Path(folder) / "weights.npz") as content:
        put(framework, training.model, [content[name] for name in content.files])
    found: dict[str, Any] = {"before": training.evaluate()}
    losses = []
    for step, batch in zip(range(10), training.batches(epoch=1), strict=False):
        losses.append(training.loss_of(training.run(batch)))
        if step == 0:
            found |= {f"first_{place}": values for place, values in enumerate(taken(framework, training.model))}
    found |= {"losses": np.array(losses), "after": training.evaluate()}
    np.savez(Path(folder) / f"{framework}-{optimizer}.npz", **found)
    print(json.dumps(training.facts()["parameters"]))


def put(framework: str, model: Any, weights: list[np.ndarray]) -> None:
    """Give a model all its weights."""
    if framework == "torch":
        import torch

        names = model.state_dict().keys()
        model.load_state_dict(dict(zip(names, map(torch.from_numpy, weights), strict=True)))
    elif framework == "mxnet":
        import mxnet as mx

        for parameter, values in zip(model.collect_params().values(), weights, strict=True):
            parameter.set_data(mx.nd.array(values))
    else:
        for variable, values in zip(keras_variables(model), weights, strict=True):
            variable.assign(values.T if variable.name == "kernel" else values)


def taken(framework: str, model: Any) -> list[np.ndarray]:
    """All weights of a model, in the order of `put`."""
    if framework == "torch":
        return [values.numpy().copy() for values in model.state_dict().values()]
    if framework == "mxnet":
        return [parameter.data().asnumpy() for parameter in model.collect_params().values()]
    return [np.array(one).T if one.name == "kernel" else np.array(one) for one in keras_variables(model)]


def keras_variables(model: Any) -> list[Any]:
    """A Keras model's variables, in the order of `put`."""
    dense = [layer for layer in model.layers if layer.name.startswith("mlp")]
    layers = [*(model.get_layer(name) for name in VECTORS), *dense, model.get_layer("head")]
    return [variable for layer in layers for variable in layer.variables]


if __name__ == "__main__":
    main(*sys.argv[1:])
