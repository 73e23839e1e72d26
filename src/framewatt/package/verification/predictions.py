"""Accuracy, recounted from which test samples a run answered right."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.package.verification.compare import some
from framewatt.package.verification.opened import Opened
from framewatt.package.verification.samples import data_of
from framewatt.runs.predictions import NAME, read_right
from framewatt.study.study import Study


def problems(package: Opened) -> Iterator[str]:
    """Where the answers of a run are not those that its record tells of, or give another accuracy."""
    if not isinstance(package.study, Study):
        return
    for run, record in package.records:
        if "predictions" in record:
            samples = data_of(package, package.study.cell(run.cell))["test_samples"]
            yield from some(_of_run(run.path / NAME, record, samples), run.where)


def _of_run(path: Path, record: Mapping[str, Any], samples: int) -> Iterator[str]:
    told, accuracy = record["predictions"], record["metrics"].get("accuracy")
    if told["samples"] != samples:
        yield f"{NAME}: the record tells of {told['samples']} samples, the data set has {samples}"
    try:
        right = read_right(path, told)
    except FramewattError as error:
        yield str(error).replace(f"{path.parent}/", "")
        return
    if accuracy is None:
        yield f"metrics.accuracy: the record has none, and {NAME} tells which answers were right"
    elif right.mean() != accuracy:
        yield f"metrics.accuracy: the record says {accuracy:.6g}, {NAME} gives {right.mean():.6g}"


def recounted_in(package: Opened) -> tuple[int, int]:
    """Of how many runs with an accuracy it is recounted, and of how many it is not."""
    known = [record for _, record in package.records if record["metrics"].get("accuracy") is not None]
    told = sum("predictions" in record for record in known)
    return told, len(known) - told
