"""Opening a package: which study it has, and how that is loaded without anything of this machine."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.identity import ROOT
from framewatt.base.paths import problem_of_name
from framewatt.base.validation import load_yaml, validate
from framewatt.datasets.catalogue import Catalogue, load_catalogue
from framewatt.imports.file_study import is_file_study, load_file_study, schema_of_files
from framewatt.imports.merged_study import is_merged_study, load_merged_study, schema_of_packages
from framewatt.package.verification.earlier import as_read_then
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.papers.schemas import study_schema
from framewatt.planning.needed import Absent
from framewatt.runs.records import read_run
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.study.stopping_rule import most_blocks
from framewatt.study.study import FileStudy, MeasuredStudy, Study
from framewatt.study.study_file import load_study, schema_of_measuring
from framewatt.workloads import registered_models

_MOST_RUNS = 100_000
"""Runs of the largest package that is checked; a study file of a few bytes may plan any number."""

_MOST_THREADS = 1 << 16


def open_package(folder: Path) -> Opened:
    """Open an unpacked package.

    Raises:
        FramewattError: it has not exactly one plan and one study file, or they cannot be read.
    """
    data = folder / "data"
    plans = sorted(data.glob("results/*/plan/plan.json"))
    if len(plans) != 1:
        raise FramewattError(f"results: found {len(plans)} plans; allowed: one study")
    plan, results = mapping_in(plans[0]), plans[0].parents[1]
    studies = sorted(path.name for path in (data / "config" / "studies").glob("*"))
    if studies != [f"{results.name}.yaml"]:
        raise FramewattError(
            f"config/studies: found {', '.join(studies) or 'nothing'}; allowed: {results.name}.yaml, the study's file"
        )
    path = data / "config" / "studies" / studies[0]
    schemas = ROOT / "config" / "schemas"
    # A study may be of data sets that only its own checkout knows.
    own = data / "config" / "datasets.yaml"
    datasets = load_catalogue(
        own if own.is_file() else ROOT / "config" / "datasets.yaml", schemas / "datasets.schema.yaml"
    )
    schema = study_schema(load_yaml(schemas / "study.schema.yaml"))
    try:
        content = as_read_then(load_yaml(path), plan)
        settings = validate(content, _schema_for(content)(schema), str(path))
        study: Study
        if is_merged_study(content):
            study = load_merged_study(path, content, schema, results)
            settings = study.settings
        elif is_file_study(content):
            study = _file_study(path, content, schema, results, plan)
        else:
            study = _measured_study(path, content, schema, datasets, plan)
            settings = study.settings
            datasets = datasets.with_own(study.own.values())
    except FramewattError as error:
        raise FramewattError(str(error).replace(f"{data}/", "")) from error
    return Opened(folder, results, study, content, settings, datasets, plan)


def _schema_for(content: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """What makes the schema of a study of its kind."""
    if is_merged_study(content):
        return schema_of_packages
    return schema_of_files if is_file_study(content) else schema_of_measuring


def _measured_study(
    path: Path, content: Mapping[str, Any], schema: Mapping[str, Any], datasets: Catalogue, plan: Mapping[str, Any]
) -> MeasuredStudy:
    """A study that measures, as it was where it was planned: what it left to that machine is what the plan names."""
    known = {"dataset": datasets.names, **{f"workload/{name}": registered_models(name) for name in FRAMEWORKS}}
    device, threads = plan.get("device"), plan.get("threads")
    if device not in ("cpu", "cuda") or type(threads) is not int or not 0 < threads <= _MOST_THREADS:
        raise FramewattError(f"plan.json: found device {device!r}, threads {threads!r}; allowed: cpu or cuda, a number")
    absent = plan.get("absent", {})
    if not isinstance(absent, Mapping) or not all(isinstance(why, str) for why in absent.values()):
        raise FramewattError(
            f"plan.json: absent: {absent!r} is not reasons by name. Use the package as it was written."
        )
    study = load_study(path, content, schema, known, device, threads, Absent(absent))
    runs = most_blocks(study.settings) * len(study.cells)
    if runs > _MOST_RUNS:
        raise FramewattError(f"{path}: repetitions: found {runs} runs; allowed: at most {_MOST_RUNS} in a package")
    return study


def _file_study(
    path: Path, content: Mapping[str, Any], schema: Mapping[str, Any], results: Path, plan: Mapping[str, Any]
) -> FileStudy:
    """A study of files: those that the package has, or but the names that its records and its plan have of them."""
    logs = results.parents[1] / "logs" / results.name
    if logs.is_dir():
        return _below(logs, path, content, schema)
    with tempfile.TemporaryDirectory(prefix="framewatt-") as scratch:
        for where, name in _named_files(results, plan):
            if problem := problem_of_name(name):
                raise FramewattError(f"{where}: files: found {problem}; allowed: a path below the root")
            place = Path(scratch) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        return _below(Path(scratch), path, content, schema)


def _named_files(results: Path, plan: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Paths of the files of every run, also of one that the study leaves out, and where they stand."""
    for record in sorted(results.glob("measure/*/*/run.json")):
        yield from ((record, file["path"]) for file in read_run(record).get("files", []))
    left_out, where = plan.get("left_out", []), results / "plan" / "plan.json"
    for one in left_out if isinstance(left_out, list) else [left_out]:
        files = one.get("files") if isinstance(one, dict) else None
        if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
            raise FramewattError(f"{where}: left_out: found {one!r:.60}; allowed: runs with the paths of their files")
        yield from ((where, name) for name in files)


def _below(root: Path, path: Path, content: Mapping[str, Any], schema: Mapping[str, Any]) -> FileStudy:
    """The study with its files below some folder."""
    files = {**content["files"], "root": str(root), "root_config": ""}
    return load_file_study(path, {**content, "files": files}, schema, {}, root)
