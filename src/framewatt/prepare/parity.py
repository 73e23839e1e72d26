"""The same model in two frameworks: what it computes from the same weights, on the CPU in fp32.

`python -m framewatt.prepare.parity <job.json>` runs inside a framework's environment. For the first framework of a
model it draws weights and writes them with what comes out (`carried.npz`); for every other one, which gets this file,
it carries the weights over and writes how far the results are apart (`parity.json`).

Weights are drawn around those that the model begins with, so that each of them weighs: a bias that begins as 0 would
hide that it was left out. Nothing is dropped out, since frameworks draw differently.
"""

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
from framewatt.datasets.storing import load_arrays
from framewatt.prepare.parity_sheet import CARRIED, RECORD, compare, furthest, verdict_of
from framewatt.prepare.parity_steps import (
    GRADIENT_STEP,
    NUDGES,
    amplifies,
    begun,
    first,
    gentle,
    gradients,
    no_steps,
    nudged,
    put,
)
from framewatt.tasks import task_of
from framewatt.tasks.contract import Step
from framewatt.tasks.quality import quality_of
from framewatt.workloads import make_inference
from framewatt.workloads.contract import EVALUATED, Spec, Training, spec_of
from framewatt.workloads.inspection import Place, Values, matched
from framewatt.workloads.registry import check_trains

BATCH = 8
"""Samples of a step: what is compared does not depend on how many there are."""

STEPS = 10
TESTED = 4
"""Batches of EVALUATED test samples whose outputs are compared, at most."""

SPREAD, OF_CONSTANT = 0.5, 0.05
"""Standard deviations of what is added to a weight: of its own one, and to weights that begin as a constant. A bias
that begins beyond -1 and 1 says how rare an answer is, as that of a detector's classes: nothing would be found by it,
and so it is drawn around 0."""

_GIVEN = "weight/"


def main(job_path: str) -> None:
    """Compute, compare where there is something to compare with, and write the record."""
    job = read_json(Path(job_path))
    folder = Path(job["folder"])
    spec, data = replace(spec_of(job), batch_size=BATCH), load_arrays(Path(job["data"]))
    check_trains(spec)
    if job["reference"] is None:
        found, about = computed(job["engine"], spec, data, None)
        if about["amplifies"]:
            about["own"] = own_rounding(job["engine"], spec, data, found)
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


def own_rounding(engine: str, spec: Spec, data: Arrays, found: Mapping[str, Values]) -> dict[str, float | None]:
    """How far a framework is from itself, at most, with weights that are apart by rounding.

    Args:
        engine: the framework.
        spec: as for `computed`.
        data: the data set.
        found: what it computed, with its weights.
    """
    weights = {name.removeprefix(_GIVEN): found[name] for name in found if name.startswith(_GIVEN)}
    plain = {name: values for name, values in found.items() if not name.startswith(_GIVEN)}
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
    """What a framework computes from given weights, or from some that are drawn.

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
    training, places, rates = begun(engine, plain, data)
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
    found: dict[str, NDArray[Any]] = {}
    put(places, weights)
    found["before"], about["quality"] = _answers(engine, training, data)
    about |= {"losses": None, "learning_rate": None, "steps_reason": no_steps(data)}
    if about["steps_reason"]:
        training.close()
        return {**found, **given}, about
    training.close()
    found |= gradients(engine, plain, data, weights)
    spec = gentle(spec, data, places)
    about["learning_rate"] = spec.training["learning_rate"]
    training, places, _ = begun(engine, spec, data)
    places = matched(places, weights)
    put(places, weights)
    found["losses"] = np.array([training.loss_of(training.run(batch)) for batch in first(training, STEPS)])
    found |= {f"statistic/{name}": place.read() for name, place in places.items() if not place.trained}
    found["after"], _ = _answers(engine, training, data)
    training.close()
    about["losses"] = [loss if np.isfinite(loss) else None for loss in found["losses"].tolist()]
    return {**found, **given}, about


def _drawn(draw: np.random.Generator, name: str, place: Place) -> Values:
    """Values around those that a weight begins with; statistics of batches stay positive."""
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


if __name__ == "__main__":
    main(sys.argv[1])
