"""The same model in two frameworks: what it computes from the same weights, on the CPU in fp32.

`python -m framewatt.prepare.parity <job.json>` runs inside a framework's environment. For the first framework of a
model it draws weights and writes them with what comes out (`carried.npz`); for every other one, which gets this file,
it carries the weights over and writes how far the results are apart (`parity.json`).

Weights are drawn around those that the model begins with, so that each of them weighs: a bias that begins as 0 would
hide that it was left out. Nothing is dropped out, since frameworks draw differently.

Rounding differs between frameworks, and training steps amplify it. So steps are small where rounding grows, and
gradients are those of several batches.
"""

import importlib
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
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
from framewatt.prepare.parity_sheet import CARRIED, RECORD, compare, furthest, verdict_of
from framewatt.tasks import task_of
from framewatt.tasks.contract import Step
from framewatt.tasks.quality import quality_of
from framewatt.workloads import make_inference, make_training
from framewatt.workloads.contract import EVALUATED, Spec, Training, spec_of
from framewatt.workloads.inspection import Place, Values, matched
from framewatt.workloads.registry import check_trains

BATCH = 8
"""Samples of a step: what is compared does not depend on how many there are."""

STEPS = 10
TESTED = 4
"""Largest number of batches of EVALUATED test samples for which outputs are compared."""

SPREAD, OF_CONSTANT = 0.5, 0.05
"""Standard deviations of what is added to a weight: of its own one, and to weights that begin as a constant. A bias
that begins beyond -1 and 1 states how rare an answer is, as that of a detector's classes: nothing would be found by it,
and so it is drawn around 0."""

_GIVEN = "weight/"

GRADIENTS, FEW = 5, 2
"""Batches for which gradients are compared, and the images of one by models that amplify rounding.

A number that is 0 except for rounding passes a ReLU in one framework and not in the other; the fewer images, the fewer
such numbers, and a batch without one shows what the two have in common. Of RetinaNet's gradients by 8 images, those of
PyTorch in fp32 are 2.5e-3 from its own in fp64 at one such place, those of TensorFlow 4.7e-2 at another; by 2 images
the two are within 4e-6 of each other. Of a small ResNet's, five of seven batches of 8 are apart by 8e-3 to 0.2, and
none of 2 by more than 3e-5.
"""

NUDGE, NUDGES = 1e-7, 2
"""By how much weights are nudged, relative: about as rounding does; and how often, to see how far rounding carries."""

GENTLE = 1e-5
"""Learning rate of the steps of detectors and of models that normalise batches.

They amplify rounding. Two small ResNets in PyTorch with weights 1e-7 apart have losses 1 to 5 % apart after ten
steps at 1e-3, and 2e-5 at this rate. The losses of two equal small Mask R-CNNs fall from 10 to 2 at 1e-3, and are
2.7e-3 apart, since rounding comes to decide on a proposal more or less.
"""

_GRADIENT_RATE = 2.0**20
"""Learning rate of the step of SGD that shows gradients: of what it takes off a weight, the weight's own last digit is
then nothing. By a rate of 1, a gradient of 3e-5 on a weight of 1 would be known to 0.4 %."""

GRADIENT_STEP = {"epochs": 1, "learning_rate": _GRADIENT_RATE, "momentum": 0.0}
"""Settings of that step."""


def main(job_path: str) -> None:
    """Compute, compare where there is something to compare with, and write the record."""
    job = read_json(Path(job_path))
    folder = Path(job["folder"])
    spec, data = replace(spec_of(job), batch_size=BATCH), load_arrays(Path(job["data"]))
    check_trains(spec)
    if job["reference"] is None:
        numbers, about = computed(job["engine"], spec, data, None)
        if about["amplifies"]:
            about["own"] = own_rounding(job["engine"], spec, data, numbers)
        np.savez(folder / CARRIED, **numbers)  # type: ignore[arg-type]  # numpy's stub takes the names for its options
        write_json(folder / RECORD, about)
        return
    reference = Path(job["reference"])
    with np.load(reference / CARRIED, allow_pickle=False) as content:
        theirs = dict(content)
    about_theirs = read_json(reference / RECORD)
    weights = {name.removeprefix(_GIVEN): theirs.pop(name) for name in list(theirs) if name.startswith(_GIVEN)}
    try:
        ours, about = computed(job["engine"], spec, data, weights)
    except _NotCarriedError as error:
        write_json(
            folder / RECORD, {**error.about, "reference": about_theirs, "not_carried": str(error), "verdict": None}
        )
        return
    # Why there were no steps is known here better than where arrays are compared.
    sheet = {**compare(task_of(data.task), ours, theirs), **about, "reference": about_theirs, "not_carried": None}
    write_json(folder / RECORD, sheet | verdict_of(sheet))


def own_rounding(engine: str, spec: Spec, data: Arrays, ours: Mapping[str, Values]) -> dict[str, float | None]:
    """Return how far a framework is from itself, at most, with weights that are apart by rounding.

    Args:
        engine: the framework.
        spec: as for `computed`.
        data: the data set.
        ours: what it computed, with its weights.
    """
    weights = {name.removeprefix(_GIVEN): ours[name] for name in ours if name.startswith(_GIVEN)}
    plain = {name: values for name, values in ours.items() if not name.startswith(_GIVEN)}
    each = [
        compare(task_of(data.task), computed(engine, spec, data, nudged(weights, [spec.seed, again]))[0], plain)
        for again in range(NUDGES)
    ]
    return furthest(each)


class _NotCarriedError(Exception):
    """The weights do not fit into the model; `about` is what is known of it."""

    def __init__(self, about: Mapping[str, Any], reason: str) -> None:
        super().__init__(reason)
        self.about = about


def computed(
    engine: str, spec: Spec, data: Arrays, weights: Mapping[str, Values] | None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return what a framework computes from given weights, or from some that are drawn.

    Args:
        engine: the framework.
        spec: with the study's training settings and its optimizer.
        data: the data set.
        weights: by the reference's names; None draws them.

    Returns:
        what `parity_sheet.compare` takes, with the drawn weights by `weight/<name>`; and facts of the model:
        `framework`, `parameters`, `tensors`, `amplifies`, `dropout` (its different rates), `flops`, `structure`,
        `quality` (None where more of the test set is there than was looked at), `losses`, `learning_rate`, that of
        their steps, and `steps_reason`, why there are none.

    Raises:
        _NotCarriedError: the weights do not fit.
    """
    plain = replace(spec, training=GRADIENT_STEP, options={})
    training, places, rates = set_up_training(engine, plain, data)
    facts = training.facts()
    about: dict[str, Any] = {"framework": engine, "tensors": len(places), "dropout": rates}
    about["amplifies"] = amplifies(data, places)
    about |= {name: facts.get(name) for name in ("parameters", "flops", "structure")}
    if weights is None:
        # Another seed than a model's own begins with.
        draw = np.random.default_rng([spec.seed, 1])
        weights = {name: _drawn(draw, name, place) for name, place in places.items()}
        given = {_GIVEN + name: values for name, values in weights.items()}
    else:
        given = {}
        try:
            about["matched_by"] = "name" if places.keys() == weights.keys() else "order"
            places = matched(places, weights)
        except FramewattError as error:
            raise _NotCarriedError(about, str(error)) from error
    numbers: dict[str, NDArray[Any]] = {}
    put(places, weights)
    numbers["before"], about["quality"] = _answers(engine, training, data)
    about |= {"losses": None, "learning_rate": None, "steps_reason": no_steps(data)}
    if about["steps_reason"]:
        training.close()
        return {**numbers, **given}, about
    training.close()
    numbers |= gradients(engine, plain, data, weights)
    spec = gentle(spec, data, places)
    about["learning_rate"] = spec.training["learning_rate"]
    training, places, _ = set_up_training(engine, spec, data)
    places = matched(places, weights)
    put(places, weights)
    numbers["losses"] = np.array([training.loss_of(training.run(batch)) for batch in first(training, STEPS)])
    numbers |= {f"statistic/{name}": place.read() for name, place in places.items() if not place.trained}
    numbers["after"], _ = _answers(engine, training, data)
    training.close()
    about["losses"] = [loss if np.isfinite(loss) else None for loss in numbers["losses"].tolist()]
    return {**numbers, **given}, about


def _drawn(draw: np.random.Generator, name: str, place: Place) -> Values:
    """Return values around those that a weight begins with; statistics of batches stay positive."""
    values = place.read()
    # Not by its deviation, which is not 0 where the mean of a constant is rounded.
    constant = not values.size or values.min() == values.max()
    if constant and name.endswith("bias") and (np.abs(values) > 1).any():
        values = np.zeros_like(values)
    spread = OF_CONSTANT if constant else SPREAD * float(values.std())
    noise = draw.normal(0, spread, values.shape)
    return (values + noise).astype(np.float32)


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


def gradients(engine: str, spec: Spec, data: Arrays, weights: Mapping[str, Values]) -> dict[str, NDArray[Any]]:
    """Gradients of every trained weight by `gradient/<name>`, shape (GRADIENTS, …), each batch from the same weights.

    Args:
        engine: the framework.
        spec: with GRADIENT_STEP.
        data: the data set.
        weights: by the reference's names.
    """
    training, places, _ = set_up_training(engine, spec, data)
    if amplifies(data, places):
        training.close()
        training, places, _ = set_up_training(engine, replace(spec, batch_size=FEW), data)
    places = matched(places, weights)
    values_of: dict[str, list[Values]] = {name: [] for name, place in places.items() if place.trained}
    for batch in first(training, GRADIENTS):
        put(places, weights)
        training.run(batch)
        for name, each in values_of.items():
            each.append((weights[name] - places[name].read()) / np.float32(_GRADIENT_RATE))
    training.close()
    return {f"gradient/{name}": np.stack(each) for name, each in values_of.items()}


def gentle(spec: Spec, data: Arrays, places: Mapping[str, Place]) -> Spec:
    """Return how ten steps are taken: as the study trains, but at the rate GENTLE by models that amplify rounding.

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
    """Return whether a model is a detector, or has statistics of batches, which no step trains."""
    return isinstance(data.y_train, Objects) or not all(place.trained for place in places.values())


def first(training: Training, count: int) -> Iterator[Any]:
    """Return the first batches of a training, epoch after epoch."""
    epochs = itertools.chain.from_iterable(training.batches(epoch) for epoch in itertools.count(1))
    return itertools.islice(epochs, count)


def nudged(weights: Mapping[str, Values], seed: Sequence[int]) -> dict[str, Values]:
    """Return weights that differ by rounding: each is multiplied with a number NUDGE from 1."""
    draw = np.random.default_rng(list(seed))
    return {name: (v * (1 + draw.normal(0, NUDGE, v.shape))).astype(v.dtype) for name, v in weights.items()}


def no_steps(data: Arrays) -> str | None:
    """Return why a model cannot be trained on a data set; None where it can."""
    if data.unlabelled is not None:
        return data.unlabelled
    return None if len(data.x_train) else "the data set has no training samples"


def set_up_training(engine: str, spec: Spec, data: Arrays) -> tuple[Training, dict[str, Place], list[float]]:
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


if __name__ == "__main__":
    main(sys.argv[1])
