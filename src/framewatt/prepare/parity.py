"""The same model in two frameworks: what it computes from the same weights, on the CPU in fp32.

`python -m framewatt.prepare.parity <job.json>` runs inside a framework's environment. For the first framework of a
model it draws weights and writes them with what comes out (`carried.npz`); for every other one, which gets this file,
it carries the weights over and writes how far the results are apart (`parity.json`).

Weights are drawn around those that the model begins with, so that each of them weighs: a bias that begins as 0 would
hide that it was left out. Nothing is dropped out, since frameworks draw differently.
"""

import importlib
import itertools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_json
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.datasets.storing import load_arrays
from framewatt.prepare.parity_sheet import CARRIED, RECORD, compare, verdict_of
from framewatt.tasks import task_of
from framewatt.tasks.contract import Step
from framewatt.tasks.quality import quality_of
from framewatt.workloads import make_inference, make_training
from framewatt.workloads.contract import EVALUATED, Spec, Training, spec_of
from framewatt.workloads.parts import check_trains
from framewatt.workloads.places import Place, Values, matched

BATCH = 8
"""Samples of a step: what is compared does not depend on how many there are."""

STEPS = 10
DETECTORS_RATE = 1e-4
"""Learning rate of a detector's steps."""

GRADIENTS, IMAGES = 5, 2
"""Batches whose gradients are compared, and the images of one where objects are to be found.

A number that is 0 but for rounding passes a ReLU in one framework and not in the other; the fewer images, the fewer
such numbers, and a batch without one shows what the two have in common. Of RetinaNet's gradients by 8 images, PyTorch's
in fp32 are 2.5e-3 from its own in fp64 at one such place, TensorFlow's 4.7e-2 at another; by 2 images the two are within
4e-6 of each other.
"""

TESTED = 4
"""Batches of EVALUATED test samples whose outputs are compared, at most."""

SPREAD, OF_CONSTANT = 0.5, 0.05
"""Standard deviations of what is added to a weight: of its own one, and to weights that begin as a constant. One beyond
-1 and 1 is no neutral beginning but says how rare an answer is, as that of a detector's classes: by it nothing would be
found, and so it is drawn around 0."""

_GIVEN = "weight/"
_GRADIENT_RATE = 2.0**20
"""Learning rate of the step of SGD that shows gradients: of what it takes off a weight, the weight's own last digit is
then nothing. By a rate of 1, a gradient of 3e-5 on a weight of 1 would be known to 0.4 %."""

_GRADIENT_STEP = {"epochs": 1, "learning_rate": _GRADIENT_RATE, "momentum": 0.0}


def main(job_path: str) -> None:
    """Compute, compare where there is something to compare with, and write the record."""
    job = read_json(Path(job_path))
    folder = Path(job["folder"])
    spec, data = replace(spec_of(job), batch_size=BATCH), load_arrays(Path(job["data"]))
    check_trains(spec)
    if job["reference"] is None:
        found, about = computed(job["engine"], spec, data, None)
        np.savez(folder / CARRIED, **found)  # type: ignore[arg-type]  # numpy's stub takes the names for its options
        write_json(folder / RECORD, about)
        return
    reference = Path(job["reference"])
    with np.load(reference / CARRIED, allow_pickle=False) as content:
        theirs = dict(content)
    told = read_json(reference / RECORD)
    weights = {name.removeprefix(_GIVEN): theirs.pop(name) for name in list(theirs) if name.startswith(_GIVEN)}
    try:
        found, about = computed(job["engine"], spec, data, weights)
    except _NotCarriedError as error:
        write_json(folder / RECORD, {**error.about, "reference": told, "not_carried": str(error), "verdict": None})
        return
    # Why there were no steps is known here better than where arrays are compared.
    sheet = {**compare(task_of(data.task), found, theirs), **about, "reference": told, "not_carried": None}
    write_json(folder / RECORD, sheet | verdict_of(sheet))


class _NotCarriedError(Exception):
    """The weights do not fit into the model; `about` is what is known of it."""

    def __init__(self, about: Mapping[str, Any], reason: str) -> None:
        super().__init__(reason)
        self.about = about


def computed(
    engine: str, spec: Spec, data: Arrays, weights: Mapping[str, Values] | None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """What a framework computes from given weights, or from some that are drawn.

    Args:
        engine: the framework.
        spec: with the study's training settings and its optimizer.
        data: the data set.
        weights: by the reference's names; None draws them.

    Returns:
        what `parity_sheet.compare` takes, with the drawn weights by `weight/<name>`; and facts of the model:
        `framework`, `parameters`, `tensors`, `dropout` (its different rates), `flops`, `structure`, `quality` (None
        where more of the test set is there than was looked at), `losses`, and `steps_reason`, why there are none.

    Raises:
        _NotCarriedError: the weights do not fit.
    """
    plain = replace(spec, training=_GRADIENT_STEP, options={})
    training, places, rates = _begun(engine, plain, data)
    facts = training.facts()
    about: dict[str, Any] = {"framework": engine, "tensors": len(places), "dropout": rates}
    about |= {name: facts.get(name) for name in ("parameters", "flops", "structure")}
    if weights is None:
        # Another seed than a model's own begins with.
        draw = np.random.default_rng([spec.seed, 1])
        weights = {name: _drawn(draw, place) for name, place in places.items()}
        given = {_GIVEN + name: values for name, values in weights.items()}
    else:
        given = {}
        try:
            about["matched_by"] = "name" if places.keys() == weights.keys() else "order"
            places = matched(places, weights)
        except FramewattError as error:
            raise _NotCarriedError(about, str(error)) from error
    found: dict[str, NDArray[Any]] = {}
    _put(places, weights)
    found["before"], about["quality"] = _answers(engine, training, data)
    about |= {"losses": None, "steps_reason": _no_steps(data)}
    if about["steps_reason"]:
        training.close()
        return {**found, **given}, about
    training.close()
    found |= _gradients(engine, plain, data, weights)
    training, places, _ = _begun(engine, _of_steps(spec, data), data)
    _put(matched(places, weights), weights)
    found["losses"] = np.array([training.loss_of(training.run(batch)) for batch in _first(training, STEPS)])
    found["after"], _ = _answers(engine, training, data)
    training.close()
    about["losses"] = [loss if np.isfinite(loss) else None for loss in found["losses"].tolist()]
    return {**found, **given}, about


def _gradients(engine: str, spec: Spec, data: Arrays, weights: Mapping[str, Values]) -> dict[str, NDArray[Any]]:
    """Gradients of every trained weight by `gradient/<name>`, shape (GRADIENTS, …); of each batch from these weights."""
    if isinstance(data.y_train, Objects):
        spec = replace(spec, batch_size=IMAGES)
    training, places, _ = _begun(engine, spec, data)
    places = matched(places, weights)
    found: dict[str, list[Values]] = {name: [] for name, place in places.items() if place.trained}
    for batch in _first(training, GRADIENTS):
        _put(places, weights)
        training.run(batch)
        for name, each in found.items():
            each.append((weights[name] - places[name].read()) / np.float32(_GRADIENT_RATE))
    training.close()
    return {f"gradient/{name}": np.stack(each) for name, each in found.items()}


def _first(training: Training, count: int) -> Iterator[Any]:
    """The first batches of a training, epoch after epoch."""
    epochs = itertools.chain.from_iterable(training.batches(epoch) for epoch in itertools.count(1))
    return itertools.islice(epochs, count)


def _of_steps(spec: Spec, data: Arrays) -> Spec:
    """How ten steps are taken: as the study trains; by detectors in small steps of stochastic gradient descent.

    Adam divides gradients by their size, also those that part at a ReLU or a pooling (see GRADIENTS): after ten of its
    steps two equal small SSDs have losses 1.6e-3 apart. And by large steps rounding grows, until it decides on a proposal
    more or less: at a rate of 0.001 the losses of two equal small Mask R-CNNs fall from 10 to 2, and are 2.7e-3 apart.
    """
    if not isinstance(data.y_train, Objects):
        return spec
    training = {**spec.training, "learning_rate": DETECTORS_RATE, "schedule": None}
    return replace(spec, training=training, options=_without_optimizer(spec.options))


def _without_optimizer(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: level for name, level in options.items() if name not in ("optimizer", "learning_rate")}


def _no_steps(data: Arrays) -> str | None:
    """Why a model cannot be trained on a data set; None where it can."""
    if data.unlabelled is not None:
        return data.unlabelled
    return None if len(data.x_train) else "the data set has no training samples"


def _begun(engine: str, spec: Spec, data: Arrays) -> tuple[Training, dict[str, Place], list[float]]:
    """A training that leaves nothing out, the places of its model's weights, and the dropout that it would have."""
    training = make_training(engine, spec, data)
    training.setup()
    module = importlib.import_module(f"framewatt.workloads.{engine}._places")
    model = training.model  # type: ignore[attr-defined]  # every engine's training has one
    rates = module.leave_nothing_out(model)
    return training, module.places(model), sorted({round(rate, 6) for rate in rates if rate})


def _drawn(draw: np.random.Generator, place: Place) -> Values:
    """Values around those that a weight begins with; statistics of batches stay positive."""
    values = place.read()
    # By its ends: the deviation of a constant is not 0 where its mean is rounded.
    spread = SPREAD * float(values.std()) if values.min() < values.max() else OF_CONSTANT
    if values.min() == values.max() > 1 or values.min() == values.max() < -1:
        values = np.zeros_like(values)
    noise = draw.normal(0, spread, values.shape)
    return (values + noise).astype(np.float32)


def _put(places: Mapping[str, Place], weights: Mapping[str, Values]) -> None:
    for name, place in places.items():
        place.write(weights[name])


def _answers(engine: str, training: Training, data: Arrays) -> tuple[NDArray[Any], Any]:
    """Outputs of the first test batches by the inference of the framework, and what they are worth if they are all."""
    with TemporaryDirectory() as folder:
        training.save(Path(folder))
        spec = replace(training.spec, batch_size=EVALUATED, artefact=Path(folder), options={})
        inference = make_inference(engine, spec, data)
        inference.setup()
        outputs = [inference.run(batch) for batch in itertools.islice(inference.batches(), TESTED)]
        steps = inference.steps()
        inference.close()
    if len(steps) <= TESTED:
        whole = inference.task.in_order(outputs, steps)
        return whole, quality_of(inference.task.judge(whole, data))
    rows = np.cumsum([0, *map(len, outputs)])
    parts = [Step(np.arange(first, end), 0) for first, end in itertools.pairwise(rows.tolist())]
    return inference.task.in_order(outputs, parts), None


if __name__ == "__main__":
    main(sys.argv[1])
