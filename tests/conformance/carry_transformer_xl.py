"""Computes with Transformer-XLs of given weights in their framework's environment, and writes what came out."""

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from framewatt.datasets.contract import Arrays
from framewatt.datasets.segments import make_segments
from framewatt.datasets.storing import load_arrays
from framewatt.workloads import make_inference, make_training
from framewatt.workloads.contract import Spec, Training
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.transformer_xl import FAMILY, Dimensions

SHARED = Dimensions(2, 32, 2, 16, 64, memory=12, embedding=32, cutoffs=(40, 120), dropout=0.0)
CASES = {"shared": SHARED, "narrow": replace(SHARED, embedding=20, shared_biases=False)}
"""Both differences of the published models: vectors that are projected, and biases of every layer."""

MODEL = "transformer_xl_small"
BATCH, LENGTH = 8, 8


def main(framework: str, folder: str) -> None:
    """Compute every case from `<case>.npz`, and write `<framework>-<case>-<optimizer>.npz`."""
    data = load_arrays(Path(folder) / "data.npz")
    counted = {}
    for case, dimensions in CASES.items():
        with np.load(Path(folder) / f"{case}.npz") as content:
            weights = dict(content)
        # Ten steps of SGD at 0.1 say nothing: there PyTorch in fp32 and in fp64 differ by 5e-3, at 0.01 by 2e-7.
        for optimizer, rate in (("sgd", 0.01), ("adam", 0.001)):
            training = made(framework, dimensions, data, weights, optimizer, rate)
            np.savez(Path(folder) / f"{framework}-{case}-{optimizer}.npz", **trained(framework, training))
            counted[case] = training.facts()["parameters"]
        others = in_other_segments(framework, dimensions, data, weights)
        np.savez(Path(folder) / f"{framework}-{case}-others.npz", **others)
    print(json.dumps(counted))


def made(
    framework: str,
    dimensions: Dimensions,
    data: Arrays,
    weights: dict[str, Any],
    optimizer: str = "sgd",
    rate: float = 0.1,
) -> Training:
    """A training that begins with given weights."""
    FAMILY.sizes[MODEL] = Size(dimensions)  # type: ignore[index]  # a dict, which nothing but a test changes
    settings = {"epochs": 1, "batch_size": BATCH, "learning_rate": rate, "momentum": 0.0}
    options = {"optimizer": optimizer} if optimizer != "sgd" else {}
    training = make_training(framework, Spec(MODEL, BATCH, "cpu", "native", 1, 0, None, settings, options), data)
    training.setup()
    put(framework, training.model, weights)
    return training


def trained(framework: str, training: Training) -> dict[str, Any]:
    """Likelihoods before and after ten steps, losses, and weights after the first step."""
    found: dict[str, Any] = {"before": training.evaluate()}
    losses = []
    for step, batch in zip(range(10), training.batches(epoch=1), strict=False):
        losses.append(training.loss_of(training.run(batch)))
        if step == 0:
            found |= {f"first/{name}": values for name, values in taken(framework, training.model).items()}
    return found | {"losses": np.array(losses), "after": training.evaluate()}


def in_other_segments(framework: str, dimensions: Dimensions, data: Arrays, weights: dict[str, Any]) -> dict[str, Any]:
    """A text in one segment, and in short ones whose memory holds all that was before; all words as the next one."""
    text = data.x_test.reshape(-1)[:25]
    found = {}
    for name, length in (("whole", 24), ("pieces", 6)):
        arrays = make_segments(
            text, text[::-1].copy(), segment=length, vocabulary=data.classes, about={}, task="language_modelling"
        )
        inference = made_inference(framework, replace(dimensions, memory=24), arrays, weights, batch_size=1)
        found[name] = inference.evaluate().reshape(-1)
    inference = made_inference(framework, dimensions, data, weights, batch_size=data.classes)
    words = np.arange(data.classes)[:, None].repeat(LENGTH, axis=1)
    batch = inference.tensors([np.tile(data.x_test[:1], (data.classes, 1)), words])
    return found | {"every_word": inference.run(batch)}


def made_inference(
    framework: str, dimensions: Dimensions, data: Arrays, weights: dict[str, Any], batch_size: int
) -> Any:
    """An inference of given weights."""
    training = made(framework, dimensions, data, weights)
    with TemporaryDirectory() as folder:
        training.save(Path(folder))
        spec = replace(training.spec, batch_size=batch_size, artefact=Path(folder))
        inference = make_inference(framework, spec, data)
        inference.setup()
    return inference


def put(framework: str, model: Any, weights: dict[str, Any]) -> None:
    """Give a model all its weights, by torch's names and in torch's axes."""
    for name, place in places_of(framework, model).items():
        place.write(weights[name])


def taken(framework: str, model: Any) -> dict[str, Any]:
    """All weights of a model, as `put` takes them."""
    return {name: place.read() for name, place in places_of(framework, model).items()}


def places_of(framework: str, model: Any) -> Any:
    """Where a model's weights lie, by torch's names."""
    return importlib.import_module(f"framewatt.workloads.{framework}.inspection").places(model)


if __name__ == "__main__":
    main(*sys.argv[1:])
