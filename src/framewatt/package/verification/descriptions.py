"""Check that files agree on models, exports, weights, data, examples and citation."""

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
"""What a workload reports about a model for every batch size."""

_OF_EXPORT = ("framework", "exporter", "size_b", "model_sha256", "precision", "calibration", "source_sha256")
"""What the record of an export's check has from the exporter."""


def description_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the contradictions between files of a package on what was measured."""
    if "sources" not in package.stored_plan:
        return
    yield from _models(package, study)
    yield from _weights(package, study)
    yield from _exports(package, study)
    yield from _parity(package, study)
    for name, data in sorted({str(one.get("dataset")): one for one in _data(package, study)}.items()):
        yield from some(_counts(data), f"resources/data/{name}.json")


def _models(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the runs of one model by the same code that describe it differently."""
    first: dict[tuple[Any, ...], tuple[str, Mapping[str, Any]]] = {}
    for run, record in package.records:
        if record["status"] != OK or record["workload"] is None:
            continue
        levels = {**study.cell(run.cell).to_dict(), "batch_size": None}
        code = str((record["identity"].get("code") or {}).get("sha256"))
        stated = {key: record["workload"].get(key) for key in _OF_MODEL}
        where, expected = first.setdefault((code, *map(str, levels.values())), (run.where, stated))
        yield from some(differences(stated, expected, "workload", why=f"{where} has"), run.where)


def _weights(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the weights that were made in another way than the study states."""
    for name, cell in jobs.trained_models_of(study).items():
        record = _there(package, f"train/{name}/train.json")
        if record.get("status") != OK:
            continue
        source = weights_of(study.settings, cell.workload)
        epochs = training_of(study.settings, cell.workload)["epochs"] if source in (TRAINED, FINE_TUNED) else 0
        expected = {"framework": cell.framework, "weights": source, "epochs": list(range(1, epochs + 1))}
        stated = {
            **{key: record.get(key) for key in expected},
            "epochs": [one.get("epoch") for one in record["epochs"]],
        }
        yield from some(
            differences(stated, expected, by="it states", why="the study gives"), f"train/{name}/train.json"
        )


def _exports(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the exports that their checks describe differently, and checks with a status that their numbers deny."""
    quantised = jobs.quantised_models_of(study)
    for name, cell in {**jobs.exported_models_of(study), **quantised}.items():
        exported, check = (_there(package, f"export/{name}/{one}") for one in ("onnx/export.json", "check/check.json"))
        where = f"export/{name}/check/check.json"
        if exported.get("status") != OK or check.get("status") not in (OK, "deviates"):
            continue
        taken = {key: exported[key] for key in _OF_EXPORT if key in exported}
        stated = {key: check.get(key) for key in taken}
        yield from some(differences(stated, taken, by="it states", why="export.json has"), where)
        tolerance = None if name in quantised else study.settings["export"]["agreement_tolerance"]
        expected = {"tolerance": tolerance, "samples": data_of(package, cell)["test_samples"]}
        stated = {key: check.get(key) for key in expected}
        yield from some(differences(stated, expected, by="it states", why="study and data give"), where)
        yield from some(_agreement(check, tolerance), where)


def _parity(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the comparisons of models with another verdict than their numbers give."""
    for name in jobs.references_of(study):
        where = f"parity/{name}/sheet/{PARITY_RECORD}"
        yield from some(_verdict(_there(package, where)), where)


def _verdict(sheet: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line if a comparison has another verdict than its numbers give (prepare.parity_sheet)."""
    expected: dict[str, Any] = {"verdict": None}
    if sheet.get("status") == OK and not sheet.get("not_carried"):
        expected = verdict_of(sheet)
    stated = {key: sheet.get(key) for key in expected}
    yield from differences(stated, expected, by="it states", why="its numbers give")


def _agreement(check: Mapping[str, Any], tolerance: float | None) -> Iterator[str]:
    """Yield a line if a check has another status than its difference or its share gives (exporters.check)."""
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
    """Yield a line if the samples per class do not add up to all samples."""
    for part in ("train", "test"):
        classes = data.get(f"{part}_samples_per_class")
        if data.get("classes") and isinstance(classes, list):
            stated = {"classes": data["classes"], f"{part}_samples": data.get(f"{part}_samples")}
            expected = {"classes": len(classes), f"{part}_samples": sum(classes)}
            yield from differences(stated, expected, by="it states", why="its samples per class give")


def _there(package: Opened, name: str) -> Mapping[str, Any]:
    """Return the record of a stage; empty if it is missing, which another check reports."""
    path = package.results / name
    return mapping_in(path) if path.is_file() else {}


_NEAR = 0.5
"""A mean, times the images, is a whole number."""


def example_problems(package: Opened, study: MeasuredStudy) -> Iterator[str]:
    """Yield the examples that no record names, that differ from those recorded, or that contradict data and record."""
    first: dict[Any, tuple[str, Examples]] = {}
    for name, cell in jobs.trained_models_of(study).items():
        where, record = f"train/{name}/{NAME}", _record(package, name)
        path = package.results / where
        if not record.get("examples"):
            if path.is_file():
                yield f"{where}: {RECORD} records no examples"
            continue
        try:
            shown = read_examples(path, record["examples"])
        except FramewattError as error:
            yield str(error).replace(f"{package.results}/", "")
            continue
        data = data_of(package, cell)
        yield from some(problems_of(shown, data, record), where)
        other, known = first.setdefault(data.get("dataset"), (name, shown))
        if known.scene != shown.scene:
            yield f"{where}: other images or objects than {other} was shown, of the same data set"


def problems_of(shown: Examples, data: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    """Yield why examples cannot be of a data set, or of weights.

    Args:
        shown: what was read.
        data: the record of the data set.
        record: of the rule train.

    Returns:
        What is wrong, a line each.
    """
    images, names = data["test_samples"], shown.class_names
    stated = {"images": len(shown.images), "size": list(shown.size), "class_names": names and list(names)}
    expected = {"images": min(IMAGES, images), "size": data["input_shape"][1:], "class_names": data.get("class_names")}
    yield from differences(stated, expected, by="it states", why="the data record gives")
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
            yield f"detections: it shows {total}, quality.{name} records {metric[DETECTIONS]:.6g} an image"


def _record(package: Opened, name: str) -> Mapping[str, Any]:
    path = package.results / "train" / name / RECORD
    return mapping_in(path) if path.is_file() else {}


_AGENT = "framewatt "


def crate_problems(package: Opened) -> Iterator[str]:
    """Yield how the crate, the citation and the bag's labels differ from study and records."""
    records = package.as_planned.sorted(lambda record: record["position"]).values()
    info = labels(package.folder)
    agent = info.get("Bag-Software-Agent", "")
    version = agent.removeprefix(_AGENT)
    if not agent.startswith(_AGENT) or any(record["framewatt_version"] != version for record in records):
        yield f"{INFO}: Bag-Software-Agent: it states {agent or 'nothing'}, the records have another version"
    settings = dict(package.settings)
    released = (span_utc(records)[1] or "1980-01-01")[:10]
    for label, value in (("Bagging-Date", released), ("External-Description", " ".join(settings["title"].split()))):
        if info.get(label) != value:
            yield f"{INFO}: {label}: it states {info.get(label) or 'nothing'}, study and records give {value}"
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
        crate = package.data / METADATA
        if crate.is_file() and crate.read_bytes() == text.encode(errors="surrogatepass"):
            return  # of 10,000 runs, 70,000 entities need not be read twice
        stated, expected = _entities(mapping_in(crate)), _entities(json.loads(text))
    except (KeyError, TypeError) as error:
        raise FramewattError(
            f"{METADATA} is not the metadata of a crate ({error!r}). Use the package as it was written."
        ) from error
    for name in sorted(expected.keys() - stated.keys()):
        yield f"{name}: {METADATA} does not describe it"
    for name in sorted(stated.keys() - expected.keys()):
        yield f"{name}: {METADATA} describes it, and it is not there"
    for name in sorted(stated.keys() & expected.keys()):
        lines = differences(stated[name], expected[name], by="it states", why="study, records and files give")
        yield from some(lines, f"{METADATA}: {name}")


def _entities(crate: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the entities of a crate by their names."""
    entities = {entity["@id"]: entity for entity in crate["@graph"]}
    if len(entities) != len(crate["@graph"]):
        raise FramewattError(f"{METADATA} describes an entity twice. Use the package as it was written.")
    return entities
