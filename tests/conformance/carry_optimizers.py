"""Trains a NeuMF by several optimizers in one framework's environment, and writes every step of it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from carry_neumf import VECTORS, ordered

from framewatt.datasets.storing import load_arrays
from framewatt.runs.conditions import in_force, requested
from framewatt.workloads import make_training
from framewatt.workloads.contract import Spec, Training

STEPS = 12


def main(framework: str, folder: str) -> None:
    """Train by every case of `cases.json` on `data.npz`, and write `<framework>-<case>.npz`.

    Args:
        framework: whose environment this is.
        folder: of these files. A case has the keys `batch_size`, `training` and `options`, and may have `loss_scale`,
            which the first step begins with, and `last`, the first value of the model's last weight.
    """
    for name, case in json.loads((Path(folder) / "cases.json").read_text()).items():
        found = trained(framework, Path(folder), case)
        np.savez(Path(folder) / f"{framework}-{name}.npz", **found)
    if framework == "torch":
        (Path(folder) / "waits.json").write_text(json.dumps({name: waits(name) for name in ("lamb", "adam", "sgd")}))


def trained(framework: str, folder: Path, case: dict[str, Any]) -> dict[str, Any]:
    """Losses, gradients, loss scales and weights of every step, and what the framework tells of itself."""
    data = load_arrays(folder / "data.npz")
    spec = Spec("neumf_small", case["batch_size"], "cpu", "native", 1, 0, None, case["training"], case["options"])
    training = make_training(framework, spec, data)
    training.setup()
    # Larger than a model begins with, so that every part of it weighs.
    draw = np.random.default_rng(1)
    places = ordered(framework, training.model)
    weights = [draw.normal(scale=0.3, size=place.read().shape).astype(np.float32) for place in places]
    if "last" in case:
        weights[-1][:] = case["last"]
    for place, values in zip(places, weights, strict=True):
        place.write(values)
    raw = (keep_in_torch if framework == "torch" else keep_in_tensorflow)(training)
    if "loss_scale" in case:
        scale_from(framework, training, case["loss_scale"])
    found: dict[str, Any] = {"before": training.evaluate()}
    losses, scales, repeats = [], [], []
    batches = [batch for epoch in (1, 2) for batch in training.batches(epoch)][:STEPS]
    for number, step in enumerate([*training.steps(1), *training.steps(2)][:STEPS]):
        found |= {f"weights_{number}_{part}": place.read() for part, place in enumerate(places)}
        scales.append(scale_of(framework, training))
        losses.append(training.loss_of(training.run(batches[number])))
        found |= {f"gradient_{number}_{part}": values for part, values in enumerate(raw())}
        repeats.append(len(step.indices) - len(np.unique(data.x_train[step.indices, 0])))
    found |= {f"weights_{STEPS}_{part}": place.read() for part, place in enumerate(places)}
    job = {
        "engine": framework,
        "phase": "train",
        "threads": 1,
        **{name: case[name] for name in ("training", "options")},
    }
    settings = {"in_force": training.facts()["in_force"], "options": in_force(requested(job), training.levels())}
    found |= {name: json.dumps(values) for name, values in settings.items()}
    found |= {"losses": losses, "scales": scales, "repeats": repeats, "after": training.evaluate()}
    training.close()
    return found


def keep_in_torch(training: Any) -> Callable[[], list[np.ndarray]]:
    """Keep gradients as they come from the loss, before they are clipped."""
    parameters = list(training.model.parameters())
    kept: list[Any] = [None] * len(parameters)
    for place, one in enumerate(parameters):
        one.register_hook(lambda gradient, place=place: kept.__setitem__(place, gradient.clone()))
    return lambda: [one.numpy() for one in kept]


def keep_in_tensorflow(training: Any) -> Callable[[], list[np.ndarray]]:
    """Keep gradients as they come from the loss, before they are clipped; call before the first step."""
    import tensorflow as tf

    kept = [tf.Variable(tf.zeros(one.shape), trainable=False) for one in training.model.trainable_variables]
    apply = training._optimizer.apply

    def apply_and_keep(gradients: Any, variables: Any) -> None:
        for place, gradient in zip(kept, gradients, strict=True):
            place.assign(tf.convert_to_tensor(gradient))
        apply(gradients, variables)

    training._optimizer.apply = apply_and_keep
    places = {id(one): place for place, one in enumerate(training.model.trainable_variables)}

    def raw() -> list[np.ndarray]:
        each = [(one.name, kept[places[id(one)]].numpy()) for one in keras_variables(training.model)]
        return [values.T if name == "kernel" else values for name, values in each]

    return raw


def keras_variables(model: Any) -> list[Any]:
    """A Keras model's variables, in PyTorch's order."""
    dense = [layer for layer in model.layers if layer.name.startswith("mlp")]
    layers = [*(model.get_layer(name) for name in VECTORS), *dense, model.get_layer("head")]
    return [variable for layer in layers for variable in layer.variables]


def waits(level: str) -> dict[str, bool]:
    """Whether a step of PyTorch reads a value of the device: plain, with loss scaling, and where only that waits.

    Tensors without values stand for those of a device: what reads one raises.
    """
    import torch
    from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

    from framewatt.workloads.torch.optimizer import Optimizer

    training = {"learning_rate": 0.1, "momentum": 0.9, "clip_norm": 1, "schedule": {"kind": "cosine"}}
    spec = Spec("layer", 1, "cpu", "native", 1, 0, None, training, {"optimizer": level})

    def steps(*, scaled: bool, fused: bool = True) -> bool:
        with FakeTensorMode():
            layer = torch.nn.Linear(2, 2)
            optimizer = Optimizer(spec, layer.parameters(), np.ones(3), scaled=scaled)
            optimizer._optimizer._step_supports_amp_scaling = fused
            try:
                for _ in range(2):
                    optimizer.zero_grad()
                    optimizer.step(layer(torch.ones(1, 2)).sum())
            except DataDependentOutputException:
                return True
        return False

    return {"plain": steps(scaled=False), "scaled": steps(scaled=True), "apart": steps(scaled=True, fused=False)}


def scale_from(framework: str, training: Training, scale: float) -> None:
    """Begin with a loss scale."""
    optimizer: Any = training._optimizer  # type: ignore[attr-defined]
    if framework == "torch":
        import torch

        optimizer._scaler = torch.amp.GradScaler("cpu", init_scale=scale)
    else:
        optimizer._optimizer.dynamic_scale.assign(scale)


def scale_of(framework: str, training: Training) -> float:
    """The loss scale of the next step; 1 where there is none."""
    optimizer: Any = training._optimizer  # type: ignore[attr-defined]
    if framework == "torch":
        return float(optimizer._scaler.get_scale())
    return float(getattr(optimizer._optimizer, "dynamic_scale", 1.0))


if __name__ == "__main__":
    main(*sys.argv[1:])
