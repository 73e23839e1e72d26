"""Descriptions of one thing in several files: models, exports, weights and data, each held to the others."""

from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.verification.samples import data_of
from framewatt.planning import jobs
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.prepare.parity_sheet import verdict_of
from framewatt.runs.verdict import OK
from framewatt.study.study import Study
from framewatt.study.training import training_of
from framewatt.study.weights import FINE_TUNED, TRAINED, weights_of
from framewatt.tasks.contract import ANSWERS

_OF_MODEL = ("parameters", "input_shape", "input_layout", "libraries")
"""What a workload says of a model, however many samples it takes at once."""

_OF_EXPORT = ("framework", "exporter", "size_b", "model_sha256", "precision", "calibration", "source_sha256")
"""What the check of an export takes over from the exporter."""


def problems(package: Opened, study: Study) -> Iterator[str]:
    """Where files of a package contradict each other on what was measured."""
    if "sources" not in package.told_plan:
        return
    yield from _models(package, study)
    yield from _weights(package, study)
    yield from _exports(package, study)
    yield from _parity(package, study)
    for name, data in sorted({str(one.get("dataset")): one for one in _data(package, study)}.items()):
        yield from some(_counts(data), f"resources/data/{name}.json")


def _models(package: Opened, study: Study) -> Iterator[str]:
    """Runs of one model by the same code that describe it differently."""
    first: dict[tuple[Any, ...], tuple[str, Mapping[str, Any]]] = {}
    for run, record in package.records:
        if record["status"] != OK or record["workload"] is None:
            continue
        levels = {**study.cell(run.cell).to_dict(), "batch_size": None}
        code = str((record["identity"].get("code") or {}).get("sha256"))
        told = {key: record["workload"].get(key) for key in _OF_MODEL}
        where, found = first.setdefault((code, *map(str, levels.values())), (run.where, told))
        yield from some(differences(told, found, "workload", why=f"{where} has"), run.where)


def _weights(package: Opened, study: Study) -> Iterator[str]:
    """Weights that were made otherwise than the study says."""
    for name, cell in jobs.trained_models_of(study).items():
        record = _there(package, f"train/{name}/train.json")
        if record.get("status") != OK:
            continue
        source = weights_of(study.settings, cell.workload)
        epochs = training_of(study.settings, cell.workload)["epochs"] if source in (TRAINED, FINE_TUNED) else 0
        found = {"framework": cell.framework, "weights": source, "epochs": list(range(1, epochs + 1))}
        told = {**{key: record.get(key) for key in found}, "epochs": [one.get("epoch") for one in record["epochs"]]}
        yield from some(differences(told, found, by="it says", why="the study gives"), f"train/{name}/train.json")


def _exports(package: Opened, study: Study) -> Iterator[str]:
    """Exports that their checks describe otherwise, and checks that come to another end than their numbers."""
    quantised = jobs.quantised_models_of(study)
    for name, cell in {**jobs.exported_models_of(study), **quantised}.items():
        exported, check = (_there(package, f"export/{name}/{one}") for one in ("onnx/export.json", "check/check.json"))
        where = f"export/{name}/check/check.json"
        if exported.get("status") != OK or check.get("status") not in (OK, "deviates"):
            continue
        taken = {key: exported[key] for key in _OF_EXPORT if key in exported}
        told = {key: check.get(key) for key in taken}
        yield from some(differences(told, taken, by="it says", why="export.json has"), where)
        tolerance = None if name in quantised else study.settings["export"]["agreement_tolerance"]
        found = {"tolerance": tolerance, "samples": data_of(package, cell)["test_samples"]}
        told = {key: check.get(key) for key in found}
        yield from some(differences(told, found, by="it says", why="study and data give"), where)
        yield from some(_agreement(check, tolerance), where)


def _parity(package: Opened, study: Study) -> Iterator[str]:
    """Comparisons of models that come to another verdict than their numbers."""
    for name in jobs.references_of(study):
        where = f"parity/{name}/sheet/{PARITY_RECORD}"
        yield from some(_verdict(_there(package, where)), where)


def _verdict(sheet: Mapping[str, Any]) -> Iterator[str]:
    """A comparison that is not what its numbers make of it (prepare.parity_sheet)."""
    found: dict[str, Any] = {"verdict": None}
    if sheet.get("status") == OK and not sheet.get("not_carried"):
        found = verdict_of(sheet)
    told = {key: sheet.get(key) for key in found}
    yield from differences(told, found, by="it says", why="its numbers give")


def _agreement(check: Mapping[str, Any], tolerance: float | None) -> Iterator[str]:
    """A check that is not what its difference and its tolerance, or its share, make of it (exporters.check)."""
    share = check.get("equal_answers_share")
    if tolerance is not None and share is not None and (check["status"] == OK) != (share >= ANSWERS):
        yield f"status: it says {check['status']}, {share:.1%} of equal answers give another"
    difference, largest = check.get("max_abs_difference"), check.get("largest_score")
    if tolerance is None or difference is None or largest is None:
        return
    status = "deviates" if difference > tolerance * min(1.0, largest) else OK
    if check["status"] != status:
        yield f"status: it says {check['status']}, a difference of {difference:.3g} gives {status}"


def _data(package: Opened, study: Study) -> Iterator[Mapping[str, Any]]:
    return (data_of(package, cell) for cell in study.measured_cells)


def _counts(data: Mapping[str, Any]) -> Iterator[str]:
    """Samples of classes that are not all samples."""
    for part in ("train", "test"):
        classes = data.get(f"{part}_samples_per_class")
        if data.get("classes") and isinstance(classes, list):
            told = {"classes": data["classes"], f"{part}_samples": data.get(f"{part}_samples")}
            found = {"classes": len(classes), f"{part}_samples": sum(classes)}
            yield from differences(told, found, by="it says", why="its samples per class give")


def _there(package: Opened, name: str) -> Mapping[str, Any]:
    """A record of a stage; nothing where it is not there, which another check says."""
    path = package.results / name
    return mapping_in(path) if path.is_file() else {}
