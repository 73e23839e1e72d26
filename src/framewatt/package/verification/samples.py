"""How much a run processed, and how well: held to the data set, the weights and the export that it started from."""

from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.verification.quality import problems_of_quality
from framewatt.study.cell import Cell
from framewatt.study.own_models import OWN, SYNTHETIC
from framewatt.study.runtimes import ONNX, ONNX_RUNTIME
from framewatt.study.study import Study
from framewatt.study.weights import SEEDED, weights_of

_WHOLE = 1e-6
"""How far a share of right answers, times the samples, may be off a whole number."""

_NEAR = 0.02
"""How far the accuracy of a run may be from that of the weights it ran, in the number format they have."""


def problems(package: Opened) -> Iterator[str]:
    """Where samples, accuracy or what a run started from do not fit data, weights and export in the package."""
    if not isinstance(package.study, Study):
        return
    for run, record in package.records:
        cell = package.study.cell(run.cell)
        yield from some(_of_run(package, package.study, cell, record), run.where)


def _of_run(package: Opened, study: Study, cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    data = data_of(package, cell)
    start = _start(package, cell)
    identity = record["identity"]
    found = {"data_sha256": data["sha256"], "artefact_sha256": start["sha256"]}
    yield from differences({name: identity.get(name) for name in found}, found, "identity", why="what it used has")
    if record["status"] != "ok":
        return
    if cell.phase == "train":
        yield from _trained(study, data, cell, record)
    else:
        yield from _inferred(data, cell, record)
        yield from _near(cell, start["metrics"], record["metrics"])
    yield from _shares(record["metrics"], data["test_samples"])
    seeded = cell.phase == "infer" and weights_of(study.settings, cell.workload) == SEEDED
    yield from problems_of_quality(cell.phase, seeded, data, record)


def data_of(package: Opened, cell: Cell) -> Mapping[str, Any]:
    """The record of the arrays that a cell runs on."""
    name = package.datasets.arrays_of(cell.dataset, cell.framework, cell.workload)
    return _in_package(package, f"resources/data/{name}.json")


def _start(package: Opened, cell: Cell) -> dict[str, Any]:
    """Hash and metrics of the weights or the export that a cell starts from."""
    if cell.phase == "train":
        return {"sha256": None, "metrics": {}}
    if cell.engine == ONNX_RUNTIME:
        check = _in_package(package, f"results/{package.name}/export/{cell.export}/check/check.json")
        return {"sha256": check.get("model_sha256"), "metrics": check.get("metrics") or {}}
    record = _in_package(package, f"results/{package.name}/train/{cell.model}/train.json")
    epochs = record.get("epochs") or [{}]
    return {"sha256": record.get("weights_sha256"), "metrics": epochs[-1].get("metrics") or {}}


def _in_package(package: Opened, name: str) -> Mapping[str, Any]:
    path = package.data / name
    if not path.is_file():
        raise FramewattError(f"{name}: not there, and a run used it")
    return mapping_in(path)


def _inferred(data: Mapping[str, Any], cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    """Samples of an inference: whole passes over the test set, and the first batches of another."""
    if not record["latency"]:
        yield "latency: the record has none, of an inference"
        return
    whole = -(-data["test_samples"] // cell.batch_size)
    passes, rest = divmod(record["latency"]["batches"], whole)
    found = {"samples_processed": passes * data["test_samples"] + rest * cell.batch_size}
    yield from differences({name: record[name] for name in found}, found, why="batches and data set give")


def _trained(study: Study, data: Mapping[str, Any], cell: Cell, record: Mapping[str, Any]) -> Iterator[str]:
    """Samples of a training: the training set without its last incomplete batch, epoch by epoch."""
    size = min(cell.batch_size, data["train_samples"])
    each = data["train_samples"] // size * size
    found = [each] * study.settings["training"]["epochs"]
    told = [epoch["samples_processed"] for epoch in record["epochs"]]
    yield from differences({"epochs": told}, {"epochs": found}, why="study and data set give samples")


def _shares(metrics: Mapping[str, Any], samples: int) -> Iterator[str]:
    """A metric that is no share, or an accuracy that no number of right answers gives."""
    for name, value in metrics.items():
        if value is not None and not 0 <= value <= 1:
            yield f"metrics.{name}: the record says {value:.6g}, which is no share"
    accuracy = metrics.get("accuracy")
    if accuracy is not None and abs(accuracy * samples - round(accuracy * samples)) > _WHOLE * samples:
        yield f"metrics.accuracy: the record says {accuracy:.6g}, which is no whole number of {samples} samples"


def _near(cell: Cell, started: Mapping[str, Any], metrics: Mapping[str, Any]) -> Iterator[str]:
    """An accuracy far from that which the same weights had when they were made."""
    one, other = started.get("accuracy"), metrics.get("accuracy")
    same = not cell.changed and cell.dataset not in (OWN, SYNTHETIC) and cell.framework != ONNX
    if same and one is not None and other is not None and abs(one - other) > _NEAR:
        yield f"metrics.accuracy: the record says {other:.6g}, what it ran had {one:.6g} when it was made"
