"""Examples of what weights find: the file that their record names, held to the data set's record and to each other."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.verification.samples import data_of
from framewatt.planning import jobs
from framewatt.prepare.examples_file import IMAGES, NAME, Examples, read_examples
from framewatt.prepare.training import RECORD
from framewatt.study.study import Study
from framewatt.tasks.detection import DETECTIONS

_NEAR = 0.5
"""A mean, times the images, is a whole number."""


def problems(package: Opened, study: Study) -> Iterator[str]:
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
        if asked.asked != shown.asked:
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
    yield from differences(told, found, by="it says", why="the data record gives")
    if shown.without_pixels is None and data.get("synthetic") is not True:
        yield "pixels: it has them, of a data set that is not synthetic"
    objects = [one for image in shown.images for one in image.objects]
    if any((one.runs is not None) != bool(data.get("masks")) for one in objects):
        yield f"masks: objects have them or not, the data record says {data.get('masks')}"
    things = [*objects, *(one for image in shown.images for one in image.detections)]
    if any(one.kind >= data["classes"] for one in things):
        yield f"classes: it has more than {data['classes']}"
    for kind, count in sorted(Counter(one.kind for one in objects).items()):
        if count > dict(enumerate(data["test_objects_per_class"])).get(kind, 0):
            yield f"objects: it shows {count} of class {kind}, the data record has fewer"
    quality = (record.get("epochs") or [{}])[-1].get("quality") or {}
    total = sum(image.found for image in shown.images)
    for name, metric in quality.items():
        if DETECTIONS in metric and total > metric[DETECTIONS] * images + _NEAR:
            yield f"detections: it shows {total}, quality.{name} tells of {metric[DETECTIONS]:.6g} an image"


def _record(package: Opened, name: str) -> Mapping[str, Any]:
    path = package.results / "train" / name / RECORD
    return mapping_in(path) if path.is_file() else {}
