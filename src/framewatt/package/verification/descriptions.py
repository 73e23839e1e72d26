"""Descriptions of one thing in several files: models, exports, weights, data, examples, and how to cite it."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import yaml

from framewatt.base.errors import FramewattError
from framewatt.package.bag import INFO
from framewatt.package.crate import METADATA, cff_text, citation_cff, crate_metadata, span_utc, zenodo_json, zenodo_text
from framewatt.package.verification.files import labels
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.verification.reading import differences, same, some
from framewatt.package.verification.samples import data_of
from framewatt.package.write import description_of
from framewatt.planning import jobs
from framewatt.prepare.examples import IMAGES, NAME, Examples, read_examples
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.prepare.parity_sheet import verdict_of
from framewatt.prepare.training import RECORD
from framewatt.runs.verdict import OK
from framewatt.study.study import MeasuredStudy
from framewatt.study.training import FINE_TUNED, TRAINED, training_of, weights_of
from framewatt.tasks.boxes import DETECTIONS
from framewatt.tasks.contract import ANSWERS

_OF_MODEL = ("parameters", "input_shape", "input_layout", "libraries")
"""What a workload says of a model, however many samples it takes at once."""

_OF_EXPORT = ("framework", "exporter", "size_b", "model_sha256", "precision", "calibration", "source_sha256")
"""What the check of an export takes over from the exporter."""


def description_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Where files of a package contradict each other on what was measured."""
    if "sources" not in package.told_plan:
        return
    yield from _models(package, study)
    yield from _weights(package, study)
    yield from _exports(package, study)
    yield from _parity(package, study)
    for name, data in sorted({str(one.get("dataset")): one for one in _data(package, study)}.items()):
        yield from some(_counts(data), f"resources/data/{name}.json")


def _models(package: Opened, study: MeasuredStudy) -> Iterator[str]:
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


def _weights(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Weights that were made otherwise than the study says."""
    for name, cell in jobs.trained_models_of(study).items():
        record = _there(package, f"train/{name}/train.json")
        if record.get("status") != OK:
            continue
        source = weights_of(study.settings, cell.workload)
        epochs = training_of(study.settings, cell.workload)["epochs"] if source in (TRAINED, FINE_TUNED) else 0
        found = {"framework": cell.framework, "weights": source, "epochs": list(range(1, epochs + 1))}
        told = {**{key: record.get(key) for key in found}, "epochs": [one.get("epoch") for one in record["epochs"]]}
        yield from some(differences(told, found, by="it states", why="the study gives"), f"train/{name}/train.json")


def _exports(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Exports that their checks describe otherwise, and checks that come to another end than their numbers."""
    quantised = jobs.quantised_models_of(study)
    for name, cell in {**jobs.exported_models_of(study), **quantised}.items():
        exported, check = (_there(package, f"export/{name}/{one}") for one in ("onnx/export.json", "check/check.json"))
        where = f"export/{name}/check/check.json"
        if exported.get("status") != OK or check.get("status") not in (OK, "deviates"):
            continue
        taken = {key: exported[key] for key in _OF_EXPORT if key in exported}
        told = {key: check.get(key) for key in taken}
        yield from some(differences(told, taken, by="it states", why="export.json has"), where)
        tolerance = None if name in quantised else study.settings["export"]["agreement_tolerance"]
        found = {"tolerance": tolerance, "samples": data_of(package, cell)["test_samples"]}
        told = {key: check.get(key) for key in found}
        yield from some(differences(told, found, by="it states", why="study and data give"), where)
        yield from some(_agreement(check, tolerance), where)


def _parity(package: Opened, study: MeasuredStudy) -> Iterator[str]:
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
    yield from differences(told, found, by="it states", why="its numbers give")


def _agreement(check: Mapping[str, Any], tolerance: float | None) -> Iterator[str]:
    """A check that is not what its difference and its tolerance, or its share, make of it (exporters.check)."""
    share = check.get("equal_answers_share")
    if tolerance is not None and share is not None and (check["status"] == OK) != (share >= ANSWERS):
        yield f"status: it states {check['status']}, {share:.1%} of equal answers give another"
    difference, largest = check.get("max_abs_difference"), check.get("largest_score")
    if tolerance is None or difference is None or largest is None:
        return
    status = "deviates" if difference > tolerance * min(1.0, largest) else OK
    if check["status"] != status:
        yield f"status: it states {check['status']}, a difference of {difference:.3g} gives {status}"


def _data(package: Opened, study: MeasuredStudy) -> Iterator[Mapping[str, Any]]:
    return (data_of(package, cell) for cell in study.measured_cells)


def _counts(data: Mapping[str, Any]) -> Iterator[str]:
    """Samples of classes that are not all samples."""
    for part in ("train", "test"):
        classes = data.get(f"{part}_samples_per_class")
        if data.get("classes") and isinstance(classes, list):
            told = {"classes": data["classes"], f"{part}_samples": data.get(f"{part}_samples")}
            found = {"classes": len(classes), f"{part}_samples": sum(classes)}
            yield from differences(told, found, by="it states", why="its samples per class give")


def _there(package: Opened, name: str) -> Mapping[str, Any]:
    """A record of a stage; nothing where it is not there, which another check says."""
    path = package.results / name
    return mapping_in(path) if path.is_file() else {}


_NEAR = 0.5
"""A mean, times the images, is a whole number."""


def example_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Examples that nothing tells of, that are others than those told of, or that data and record do not bear out."""
    first: dict[Any, tuple[str, Examples]] = {}
    for name, cell in jobs.trained_models_of(study).items():
        where, record = f"train/{name}/{NAME}", _record(package, name)
        path = package.results / where
        if not record.get("examples"):
            if path.is_file():
                yield f"{where}: {RECORD} tells of no examples"
            continue
        try:
            shown = read_examples(path, record["examples"])
        except FramewattError as error:
            yield str(error).replace(f"{package.results}/", "")
            continue
        data = data_of(package, cell)
        yield from some(problems_of(shown, data, record), where)
        other, asked = first.setdefault(data.get("dataset"), (name, shown))
        if asked.scene != shown.scene:
            yield f"{where}: other images or objects than {other} was shown, of the same data set"


def problems_of(shown: Examples, data: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    """Where examples cannot be of a data set, or of weights.

    Args:
        shown: what was read.
        data: the record of the data set.
        record: of the rule train.

    Returns:
        What is wrong, a line each.
    """
    images, names = data["test_samples"], shown.class_names
    told = {"images": len(shown.images), "size": list(shown.size), "class_names": names and list(names)}
    found = {"images": min(IMAGES, images), "size": data["input_shape"][1:], "class_names": data.get("class_names")}
    yield from differences(told, found, by="it states", why="the data record gives")
    if shown.without_pixels is None and data.get("synthetic") is not True:
        yield "pixels: it has them, of a data set that is not synthetic"
    objects = [one for image in shown.images for one in image.objects]
    if any((one.runs is not None) != bool(data.get("masks")) for one in objects):
        yield f"masks: objects have them or not, the data record states {data.get('masks')}"
    things = [*objects, *(one for image in shown.images for one in image.detections)]
    if any(one.kind >= data["classes"] for one in things):
        yield f"classes: it has more than {data['classes']}"
    for kind, count in sorted(Counter(one.kind for one in objects).items()):
        if count > dict(enumerate(data["test_objects_per_class"])).get(kind, 0):
            yield f"objects: it shows {count} of class {kind}, the data record has fewer"
    quality = (record.get("epochs") or [{}])[-1].get("quality") or {}
    total = sum(image.detected for image in shown.images)
    for name, metric in quality.items():
        if DETECTIONS in metric and total > metric[DETECTIONS] * images + _NEAR:
            yield f"detections: it shows {total}, quality.{name} tells of {metric[DETECTIONS]:.6g} an image"


def _record(package: Opened, name: str) -> Mapping[str, Any]:
    path = package.results / "train" / name / RECORD
    return mapping_in(path) if path.is_file() else {}


_AGENT = "framewatt "


def crate_problems(package: Opened) -> Iterator[str]:
    """Where the crate, the citation or the bag's own words are not those of the study and its records."""
    records = package.as_planned.sorted(lambda record: record["position"]).values()
    info = labels(package.folder)
    agent = info.get("Bag-Software-Agent", "")
    version = agent.removeprefix(_AGENT)
    if not agent.startswith(_AGENT) or any(record["framewatt_version"] != version for record in records):
        yield f"{INFO}: Bag-Software-Agent: it states {agent or 'nothing'}, the records say otherwise"
    settings = dict(package.settings)
    released = (span_utc(records)[1] or "1980-01-01")[:10]
    for label, found in (("Bagging-Date", released), ("External-Description", " ".join(settings["title"].split()))):
        if info.get(label) != found:
            yield f"{INFO}: {label}: it states {info.get(label) or 'nothing'}, study and records give {found}"
    for name, write, read, text_of in (
        ("CITATION.cff", citation_cff, yaml.safe_load, cff_text),
        (".zenodo.json", zenodo_json, json.loads, zenodo_text),
    ):
        path, expected = package.data / name, write(settings, version, released)
        text = path.read_text(encoding="utf-8") if path.is_file() else None
        if text != expected and (text is None or not _is_reworded(text, expected, read, text_of)):
            yield f"{name}: is not what study and records give"
    if len(records) == len(package.runs):
        yield from _crate(package, records, settings, version)


def _is_reworded(text: str, expected: str, read: Callable[[str], Any], text_of: Callable[[Any], str]) -> bool:
    """Return whether a text has the expected content, perhaps with other wordings of sentences, and nothing else."""
    try:
        content = read(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return False
    return same(content, read(expected)) and text_of(content) == text


def _crate(
    package: Opened, records: Collection[Mapping[str, Any]], settings: dict[str, Any], version: str
) -> Iterator[str]:
    names = [path.relative_to(package.data).as_posix() for path in package.data.rglob("*") if path.is_file()]
    names.remove(METADATA) if METADATA in names else None
    try:
        text = crate_metadata(names, records, description_of(settings, version))
        told_of = package.data / METADATA
        if told_of.is_file() and told_of.read_bytes() == text.encode(errors="surrogatepass"):
            return  # of 10,000 runs, 70,000 entities need not be read twice
        told, found = _entities(mapping_in(told_of)), _entities(json.loads(text))
    except (KeyError, TypeError) as error:
        raise FramewattError(f"{METADATA}: not the metadata of a crate: {error!r}") from error
    for name in sorted(found.keys() - told.keys()):
        yield f"{name}: {METADATA} does not describe it"
    for name in sorted(told.keys() - found.keys()):
        yield f"{name}: {METADATA} describes it, and it is not there"
    for name in sorted(told.keys() & found.keys()):
        lines = differences(told[name], found[name], by="it states", why="study, records and files give")
        yield from some(lines, f"{METADATA}: {name}")


def _entities(crate: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The entities of a crate by their names."""
    entities = {entity["@id"]: entity for entity in crate["@graph"]}
    if len(entities) != len(crate["@graph"]):
        raise FramewattError(f"{METADATA} describes an entity twice. Use the package as it was written.")
    return entities
