"""The primary metric, recounted from which units of the test set a run answered right."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.package.verification.compare import some
from framewatt.package.verification.opened import Opened
from framewatt.package.verification.samples import asked_of, data_of
from framewatt.runs.predictions import NAME, read_right
from framewatt.study.study import Study
from framewatt.tasks.quality import is_known, values_of


def problems(package: Opened, study: Study) -> Iterator[str]:
    """Where the answers of a run are not those that its record tells of, or give another metric."""
    for run, record in package.records:
        if "predictions" in record:
            data = data_of(package, study.cell(run.cell))
            yield from some(_of_run(run.path / NAME, record, data), run.where)


def _of_run(path: Path, record: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    told, task = record["predictions"], asked_of(data)
    answers = task.answers_in(data)
    name = task.primary.name
    value = values_of(record["quality"]).get(name)
    if told["samples"] != answers:
        yield f"{NAME}: the record tells of {told['samples']} answers, the data set asks for {answers}"
    try:
        again = task.recount(read_right(path, told))
    except FramewattError as error:
        yield str(error).replace(f"{path.parent}/", "")
        return
    if value is None:
        yield f"quality.{name}: the record has none, and {NAME} tells which answers were right"
    elif again != value:
        yield f"quality.{name}: the record says {value:.6g}, {NAME} gives {again:.6g}"


def recounted_in(package: Opened) -> tuple[int, int]:
    """Of how many runs with a primary metric it is recounted, and of how many it is not."""
    told = Counter("predictions" in record for _, record in package.records if is_known(record["quality"]))
    return told[True], told[False]
