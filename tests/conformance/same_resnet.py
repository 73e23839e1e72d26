"""ResNet v1.5 in fp64, where rounding hides nothing: what a step in training mode gives, from the same weights.

`same_resnet.py torch <model> <file>` writes it, `same_resnet.py tensorflow <model> <file>` prints how far it is apart.
"""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.workloads.contract import Facts
from framewatt.workloads.models import build

SIDE, CLASSES, SAMPLES = 64, 10, 8
DRAW = np.random.default_rng(0)
IMAGES = DRAW.normal(size=(SAMPLES, 3, SIDE, SIDE))
LABELS = DRAW.integers(0, CLASSES, SAMPLES)


def of_torch(make: Any, path: Path) -> None:
    """Write weights, and the loss, gradients and running statistics of a step."""
    import torch

    model = make(Facts("classification", CLASSES, (3, SIDE, SIDE))).double()
    model.load_state_dict({name: _drawn(name, values) for name, values in model.state_dict().items()})
    content = {f"weight/{name}": values.numpy().copy() for name, values in model.state_dict().items()}
    loss = torch.nn.functional.cross_entropy(model.train()(torch.from_numpy(IMAGES)), torch.from_numpy(LABELS))
    loss.backward()
    content |= {f"gradient/{name}": values.grad.numpy() for name, values in model.named_parameters()}
    content |= {f"after/{name}": values.numpy() for name, values in model.state_dict().items() if "running" in name}
    np.savez(path, loss=loss.item(), **content)


def _drawn(name: str, values: Any) -> Any:
    """Values around those that a model begins with, so that none is a constant."""
    if values.ndim == 0:
        return values
    noise = DRAW.normal(size=tuple(values.shape)) * (0.5 * float(values.std()) or 0.05)
    return values + values.new_tensor(noise)


def of_tensorflow(make: Any, path: Path) -> dict[str, float]:
    """The largest relative differences of the loss, of gradients and of running statistics."""
    import keras
    import tensorflow as tf

    from framewatt.workloads.tensorflow.inspection import places

    keras.config.set_floatx("float64")  # of inputs
    keras.config.set_dtype_policy("float64")
    model = make(Facts("classification", CLASSES, (SIDE, SIDE, 3)))
    theirs = np.load(path)
    there = places(model)
    for name, place in there.items():
        place.write(theirs[f"weight/{name}"])
    with tf.GradientTape() as tape:
        scores = model(tf.constant(np.moveaxis(IMAGES, 1, -1)), training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, scores))
    found = tape.gradient(loss, model.trainable_variables)
    after = {name: place.read() for name, place in there.items() if not place.trained}
    # A gradient in the place of its weight is read in PyTorch's axes.
    for variable, gradient in zip(model.trainable_variables, found, strict=True):
        variable.assign(gradient)
    gradients = {name: place.read() for name, place in there.items() if place.trained}
    largest = max(np.abs(theirs[f"gradient/{name}"]).max() for name in gradients)
    return {
        "loss": abs(float(loss) / float(theirs["loss"]) - 1),
        "gradients": max(_apart(one, theirs[f"gradient/{name}"], 1e-4 * largest) for name, one in gradients.items()),
        "statistics": max(_apart(one, theirs[f"after/{name}"], 0.0) for name, one in after.items()),
    }


def _apart(ours: np.ndarray, theirs: np.ndarray, least: float) -> float:
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), least))


framework, model, file = sys.argv[1:]
make = partial(build, framework, model)
if framework == "torch":
    of_torch(make, Path(file))
else:
    print(json.dumps(of_tensorflow(make, Path(file))))
