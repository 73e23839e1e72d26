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
from collections.abc import Mapping
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
TESTED = 4
"""Batches of EVALUATED test samples whose outputs are compared, at most."""

SPREAD, OF_CONSTANT = 0.5, 0.05
"""Standard deviations of what is added to a weight: of its own one, and to weights that begin as a constant."""

GENTLE = 1e-5
"""Learning rate of the steps of a classifier that normalises batches. It amplifies rounding: a small ResNet in PyTorch,
beside itself with weights 1e-7 apart, has losses 1 to 5 % apart after ten steps at 1e-3, and 2e-5 at this rate."""

_GIVEN = "weight/"
_GRADIENT_STEP = {"epochs": 1, "learning_rate": 1.0, "momentum": 0.0}


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
        where more of the test set is there than was looked at), `losses`, `learning_rate`, that of their steps, and
        `steps_reason`, why there are none.

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
    about |= {"losses": None, "learning_rate": None, "steps_reason": _no_steps(data)}
    if about["steps_reason"]:
        training.close()
        return {**found, **given}, about
    training.run(next(iter(training.batches(1))))
    # A step of SGD at a learning rate of 1 changes a weight by its gradient.
    found |= {f"gradient/{name}": weights[name] - place.read() for name, place in places.items() if place.trained}
    training.close()
    of_steps = _of_steps(spec, data, places)
    about["learning_rate"] = of_steps.training["learning_rate"]
    training, places, _ = _begun(engine, of_steps, data)
    _put(matched(places, weights), weights)
    epochs = itertools.chain.from_iterable(training.batches(epoch) for epoch in itertools.count(1))
    batches = itertools.islice(epochs, STEPS)
    found["losses"] = np.array([training.loss_of(training.run(batch)) for batch in batches])
    found["after"], _ = _answers(engine, training, data)
    training.close()
    about["losses"] = [loss if np.isfinite(loss) else None for loss in found["losses"].tolist()]
    return {**found, **given}, about


def _of_steps(spec: Spec, data: Arrays, places: Mapping[str, Place]) -> Spec:
    """How ten steps are taken: as the study trains, but for two kinds of models.

    Other models than detectors that have statistics of batches take them at the rate GENTLE, which moves these
    statistics as any other does.

    Detectors take them with stochastic gradient descent. Gradients part in few places, likely where a pooling finds two
    numbers that are the largest up to rounding: by 6e-4 of the largest with a small SSD. Adam divides them by their
    size, and after ten steps its losses are 1.6e-3 apart; by plain steps it is 1.2e-4.
    """
    if not isinstance(data.y_train, Objects):
        if all(place.trained for place in places.values()):
            return spec
        # A schedule would leave the rate again.
        gentle = {name: value for name, value in spec.training.items() if name != "schedule"}
        return replace(spec, training={**gentle, "learning_rate": GENTLE})
    return replace(spec, options={name: level for name, level in spec.options.items() if name != "optimizer"})


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
    noise = draw.normal(0, SPREAD * float(values.std()) or OF_CONSTANT, values.shape)
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
