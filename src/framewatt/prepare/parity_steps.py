"""The steps that the parity sheet compares: how they are taken, and how their gradients are read.

Rounding differs between frameworks, and steps amplify it. So that what is compared is the model, steps are small where
rounding grows, and gradients are those of several batches.
"""

import importlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.workloads import make_training
from framewatt.workloads.contract import Spec, Training
from framewatt.workloads.inspection import Place, Values, matched

GRADIENTS, FEW = 5, 2
"""Batches whose gradients are compared, and the images of one by models that amplify rounding.

A number that is 0 but for rounding passes a ReLU in one framework and not in the other; the fewer images, the fewer
such numbers, and a batch without one shows what the two have in common. Of RetinaNet's gradients by 8 images, those of
PyTorch in fp32 are 2.5e-3 from its own in fp64 at one such place, those of TensorFlow 4.7e-2 at another; by 2 images
the two are within 4e-6 of each other. Of a small ResNet's, five of seven batches of 8 are apart by 8e-3 to 0.2, and
none of 2 by more than 3e-5.
"""

NUDGE, NUDGES = 1e-7, 2
"""By how much weights are nudged, relative: about as rounding does; and how often, to see how far rounding carries."""

GENTLE = 1e-5
"""Learning rate of the steps of detectors and of models that normalise batches.

They amplify rounding. A small ResNet in PyTorch, beside itself with weights 1e-7 apart, has losses 1 to 5 % apart after
ten steps at 1e-3, and 2e-5 at this rate. The losses of two equal small Mask R-CNNs fall from 10 to 2 at 1e-3, and are
2.7e-3 apart, since rounding comes to decide on a proposal more or less.
"""

_GRADIENT_RATE = 2.0**20
"""Learning rate of the step of SGD that shows gradients: of what it takes off a weight, the weight's own last digit is
then nothing. By a rate of 1, a gradient of 3e-5 on a weight of 1 would be known to 0.4 %."""

GRADIENT_STEP = {"epochs": 1, "learning_rate": _GRADIENT_RATE, "momentum": 0.0}
"""Settings of that step."""


def gradients(engine: str, spec: Spec, data: Arrays, weights: Mapping[str, Values]) -> dict[str, NDArray[Any]]:
    """Gradients of every trained weight by `gradient/<name>`, shape (GRADIENTS, …), each batch from the same weights.

    Args:
        engine: the framework.
        spec: with GRADIENT_STEP.
        data: the data set.
        weights: by the reference's names.
    """
    training, places, _ = begun(engine, spec, data)
    if amplifies(data, places):
        training.close()
        training, places, _ = begun(engine, replace(spec, batch_size=FEW), data)
    places = matched(places, weights)
    found: dict[str, list[Values]] = {name: [] for name, place in places.items() if place.trained}
    for batch in first(training, GRADIENTS):
        put(places, weights)
        training.run(batch)
        for name, each in found.items():
            each.append((weights[name] - places[name].read()) / np.float32(_GRADIENT_RATE))
    training.close()
    return {f"gradient/{name}": np.stack(each) for name, each in found.items()}


def gentle(spec: Spec, data: Arrays, places: Mapping[str, Place]) -> Spec:
    """How ten steps are taken: as the study trains, but at the rate GENTLE by models that amplify rounding.

    Detectors take them with stochastic gradient descent, too. Gradients part in few places (see GRADIENTS), and Adam
    divides them by their size: after ten of its steps two equal small SSDs have losses 1.6e-3 apart.

    Args:
        spec: with the study's training settings.
        data: the data set.
        places: of the model's weights.
    """
    if not amplifies(data, places):
        return spec
    detects = isinstance(data.y_train, Objects)
    # A schedule would leave the rate again.
    settings = {name: value for name, value in spec.training.items() if name != "schedule"}
    left_out = {"learning_rate", *(("optimizer",) if detects else ())}
    options = {name: level for name, level in spec.options.items() if name not in left_out}
    return replace(spec, training={**settings, "learning_rate": GENTLE}, options=options)


def amplifies(data: Arrays, places: Mapping[str, Place]) -> bool:
    """Whether a model is a detector, or has statistics of batches, which no step trains."""
    return isinstance(data.y_train, Objects) or not all(place.trained for place in places.values())


def first(training: Training, count: int) -> Iterator[Any]:
    """The first batches of a training, epoch after epoch."""
    epochs = itertools.chain.from_iterable(training.batches(epoch) for epoch in itertools.count(1))
    return itertools.islice(epochs, count)


def nudged(weights: Mapping[str, Values], seed: Sequence[int]) -> dict[str, Values]:
    """The same weights but for rounding: each times a number NUDGE from 1."""
    draw = np.random.default_rng(list(seed))
    return {name: (v * (1 + draw.normal(0, NUDGE, v.shape))).astype(v.dtype) for name, v in weights.items()}


def no_steps(data: Arrays) -> str | None:
    """Why a model cannot be trained on a data set; None where it can."""
    if data.unlabelled is not None:
        return data.unlabelled
    return None if len(data.x_train) else "the data set has no training samples"


def begun(engine: str, spec: Spec, data: Arrays) -> tuple[Training, dict[str, Place], list[float]]:
    """A training that leaves nothing out, the places of its model's weights, and the dropout that it would have."""
    training = make_training(engine, spec, data)
    training.setup()
    module = importlib.import_module(f"framewatt.workloads.{engine}.inspection")
    model = training.model  # type: ignore[attr-defined]  # every engine's training has one
    rates = module.leave_nothing_out(model)
    return training, module.places(model), sorted({round(rate, 6) for rate in rates if rate})


def put(places: Mapping[str, Place], weights: Mapping[str, Values]) -> None:
    """Set all weights of a model."""
    for name, place in places.items():
        place.write(weights[name])
