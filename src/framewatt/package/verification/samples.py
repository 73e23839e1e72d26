"""Check how much a run processed, and how well, against data set, weights, export and predictions."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.verification.outcome import is_open, open_loop_problems, problems_of_quality
from framewatt.package.verification.reading import differences, some
from framewatt.runs.predictions import NAME, read_right
from framewatt.study.cell import Cell
from framewatt.study.own_models import OWN, SYNTHETIC
from framewatt.study.runtimes import ONNX, ONNX_RUNTIME
from framewatt.study.study import MeasuredStudy
from framewatt.study.training import SEEDED, training_of, weights_of
from framewatt.tasks import task_of
from framewatt.tasks.contract import Task
from framewatt.tasks.quality import is_known, values_of

_WHOLE = 1e-6
"""Largest difference of a share of right answers, times the samples, from a whole number."""

_NEAR = 0.02
"""Largest difference of a run's primary metric from that of its weights: absolute for a share, relative for metrics
above 1."""


def sample_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the runs with samples, accuracy or starting weights that do not fit data, weights and export."""
    for run, record in package.records:
        cell = study.cell(run.cell)
        yield from some(_run_problems(package, study, cell, record), run.where)


def _run_problems(package: Opened, study: MeasuredStudy, cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    data = data_of(package, cell)
    start = _start(package, cell)
    identity = record["identity"]
    expected = {"data_sha256": data["sha256"], "artefact_sha256": start["sha256"]}
    yield from differences(
        {name: identity.get(name) for name in expected}, expected, "identity", why="what it used has"
    )
    if record["status"] != "ok":
        return
    if cell.phase == "train":
        yield from _trained(study, data, cell, record)
    else:
        yield from _inferred(data, cell, record, study.settings["window"]["minimum_s"])
        yield from _near(cell, task_of_data(data).primary.name, start["values"], values_of(record["quality"]))
    yield from _phase_problems(task_of_data(data), cell, record)
    yield from _whole(task_of_data(data), values_of(record["quality"]), task_of_data(data).answers_in(data))
    seeded = cell.phase == "infer" and weights_of(study.settings, cell.workload) == SEEDED
    yield from problems_of_quality(cell.phase, seeded, task_of_data(data), data, record)


def data_of(package: Opened, cell: Cell) -> Mapping[str, Any]:
    """Return the record of the arrays that a cell runs on."""
    name = package.datasets.arrays_of(cell.dataset, cell.framework, cell.workload)
    return _in_package(package, f"resources/data/{name}.json")


def _start(package: Opened, cell: Cell) -> dict[str, Any]:
    """Return the hash of the weights or export that a cell starts from, and the values of their metrics."""
    if cell.phase == "train":
        return {"sha256": None, "values": {}}
    if cell.engine == ONNX_RUNTIME:
        check = _in_package(package, f"results/{package.name}/export/{cell.export}/check/check.json")
        return {"sha256": check.get("model_sha256"), "values": _values(check)}
    record = _in_package(package, f"results/{package.name}/train/{cell.model}/train.json")
    epochs = record.get("epochs") or [{}]
    return {"sha256": record.get("weights_sha256"), "values": _values(epochs[-1])}


def _in_package(package: Opened, name: str) -> Mapping[str, Any]:
    path = package.data / name
    if not path.is_file():
        raise FramewattError(f"{name} is missing, and a run used it. Use the package as it was written.")
    return mapping_in(path)


def _inferred(data: Mapping[str, Any], cell: Cell, record: Mapping[str, Any], minimum_s: float) -> Iterator[str]:
    """Yield a line if the units of an inference are not whole passes over the test set and some further batches."""
    if not record["latency"]:
        yield "latency: the record has none, of an inference"
        return
    yield from open_loop_problems(cell, record, minimum_s, data["test_samples"])
    if is_open(record):
        return
    if task_of_data(data).counts_afterwards:
        # Outputs are not stored, so the units cannot be recounted.
        return
    whole = -(-data["test_samples"] // cell.batch_size)
    passes, rest = divmod(record["latency"]["batches"], whole)
    stated = (record["units"] or {}).get("count")
    if "test_units" in data:
        # Only the data set has the length of each sequence.
        low = passes * data["test_units"] + rest * cell.batch_size
        high = (passes + (rest > 0)) * data["test_units"]
        if stated is None or not low <= stated <= high:
            yield f"units: the record states {stated}, batches and data set give {low} to {high}"
        return
    expected = {"units": passes * data["test_samples"] + rest * cell.batch_size}
    yield from differences({"units": stated}, expected, why="batches and data set give")


def _phase_problems(task: Task, cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line if a record has other phases of steps, or other units of them, than its task has."""
    expected = task.phases if cell.phase == "infer" else {}
    stated = {name: units["name"] for name, units in record.get("phases", {}).items()}
    yield from differences({"phases": stated}, {"phases": dict(expected)}, why="the task gives")


def _trained(study: MeasuredStudy, data: Mapping[str, Any], cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line if an epoch's units are not the training set without its last incomplete batch."""
    size = min(cell.batch_size, data["train_samples"])
    each = data["train_samples"] // size * size
    epochs = [each] * training_of(study.settings, cell.workload)["epochs"]
    stated = [epoch["units"] for epoch in record["epochs"]]
    if "train_units" in data:
        high = data["train_units"] - (data["train_samples"] - each)
        if len(stated) != len(epochs) or not all(units is not None and each <= units <= high for units in stated):
            yield f"epochs: the record states units {stated}, study and data set give {len(epochs)} of {each} to {high}"
        return
    yield from differences({"epochs": stated}, {"epochs": epochs}, why="study and data set give units")


def _whole(task: Task, values: Mapping[str, Any], units: int) -> Iterator[str]:
    """Yield a line if no whole number of answers gives the share of right or wrong ones."""
    name = task.primary.name
    value = values.get(name)
    if value is not None and task.has_right_answers and abs(value * units - round(value * units)) > _WHOLE * units:
        yield f"quality.{name}: the record states {value:.6g}, which is no whole number of {units} answers"


def _near(cell: Cell, name: str, started: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line if the primary metric is far from that of the same weights when they were made."""
    one, other = started.get(name), values.get(name)
    same = not cell.changed and cell.dataset not in (OWN, SYNTHETIC) and cell.framework != ONNX
    if same and one is not None and other is not None and abs(one - other) > _NEAR * max(1, one):
        yield f"quality.{name}: the record states {other:.6g}, what it ran had {one:.6g} when it was made"


def _values(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of the metrics of weights or of an export; records before `quality` had them by name alone."""
    if record.get("quality"):
        return values_of(record["quality"])
    return record.get("metrics") or {}


def task_of_data(data: Mapping[str, Any]) -> Task:
    """Return the task that a data set is for, from its record; a record without one is for the default task."""
    return task_of(data.get("task"))


def prediction_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the runs with other answers than recorded, or with answers that give another metric."""
    for run, record in package.records:
        if "predictions" in record:
            data = data_of(package, study.cell(run.cell))
            yield from some(_prediction_mismatches(run.path / NAME, record, data), run.where)


def _prediction_mismatches(path: Path, record: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    stated, task = record["predictions"], task_of_data(data)
    answers = task.answers_in(data)
    name = task.primary.name
    value = values_of(record["quality"]).get(name)
    if stated["samples"] != answers:
        yield f"{NAME}: the record states {stated['samples']} answers, the data set has {answers}"
    try:
        again = task.recount(read_right(path, stated))
    except FramewattError as error:
        yield str(error).replace(f"{path.parent}/", "")
        return
    if value is None:
        yield f"quality.{name}: the record has none, and {NAME} has which answers were right"
    elif again != value:
        yield f"quality.{name}: the record states {value:.6g}, {NAME} gives {again:.6g}"


def recounted_in(package: Opened) -> tuple[int, int]:
    """Return how many runs have a primary metric that is recounted, and how many one that is not."""
    counts = Counter("predictions" in record for _, record in package.records if is_known(record["quality"]))
    return counts[True], counts[False]
