"""An unpacked package: its study, loaded from the study file without data of this machine, its plan and records."""

import functools
import itertools
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.base.identity import ROOT
from framewatt.base.paths import problem_of_name
from framewatt.base.validation import load_yaml, validate
from framewatt.datasets.catalogue import Catalogue, load_catalogue
from framewatt.host.machine import session_of
from framewatt.imports.file_study import is_file_study, load_file_study, schema_of_files
from framewatt.imports.merged_study import is_merged_study, load_merged_study, schema_of_packages
from framewatt.package.verification.earlier import as_read_then, significance_then
from framewatt.package.verification.reading import same
from framewatt.papers.schemas import study_schema
from framewatt.planning.job_hashes import JobHashes, Sources
from framewatt.planning.jobs import environments_of
from framewatt.planning.needed import Absent
from framewatt.planning.placement import NOWHERE, calibrations, nodes_of, placement_of
from framewatt.planning.plan import plan_of, planned_cells
from framewatt.planning.planned import Merged
from framewatt.runs.aside import set_aside
from framewatt.runs.records import StoredRecord, StoredRecords, read_run
from framewatt.stopping.path import Path as StoppingPath
from framewatt.stopping.path import path_of
from framewatt.study.records import Plan, RunRecord
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.study.stopping_rule import most_blocks, rule_of
from framewatt.study.study import FileStudy, MeasuredStudy, MergedRun, MergedStudy, Study
from framewatt.study.study_file import load_study, schema_of_measuring
from framewatt.study.wordings import in_present_words
from framewatt.workloads import registered_models


@dataclass(frozen=True)
class RunFolder:
    """A planned run as the package has it.

    Attributes:
        path: its folder.
        cell: name of its cell, as planned.
        repetition: as planned.
        stored: its record, schema-checked; None if there is none that can be read.
        problem: the reason for that.
    """

    path: Path
    cell: str
    repetition: int
    stored: StoredRecord | None
    problem: str | None

    @property
    def record(self) -> RunRecord | None:
        """Return a new copy of its record, or None."""
        return None if self.stored is None else self.stored.load()

    @property
    def where(self) -> str:
        """Return cell and repetition, for messages."""
        return f"{self.cell}/{self.repetition}"


@dataclass(frozen=True)
class Opened:
    """A package with one study, loaded from its study file.

    Attributes:
        folder: where it was unpacked to.
        results: the study's results in it.
        study: loaded from the study file, on the device and with the threads that the plan names.
        content: what the study file sets.
        settings: the same, with defaults filled in.
        datasets: those that there are, and the study's own.
        stored_plan: plan.json.
    """

    folder: Path
    results: Path
    study: Study
    content: Mapping[str, Any]
    settings: Mapping[str, Any]
    datasets: Catalogue
    stored_plan: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the name of the study, which is that of the folder of its results."""
        return self.results.name

    @property
    def data(self) -> Path:
        """Return the folder of its content."""
        return self.folder / "data"

    @functools.cached_property
    def plan(self) -> dict[str, Any]:
        """Return the plan as it follows from the study file, in the types of JSON."""
        plan: dict[str, Any] = json.loads(json.dumps({**plan_of(self.planned), "settings": self.settings}))
        if "sources" in plan and "sources" not in self.stored_plan:
            # A package from before jobs had hashes.
            del plan["sources"]
            plan["order"] = [{key: entry[key] for key in entry if key != "job_sha256"} for entry in plan["order"]]
        # An older framewatt had fewer keys. A key that is absent means the same as an empty one.
        plan = {key: value for key, value in plan.items() if key in self.stored_plan or value not in ([], {}, None)}
        plan["settings"] = _without_newer(plan["settings"], self.stored_plan.get("settings"), self.content)
        stated = self.stored_plan.get("significance")
        if not same(stated, plan["significance"]) and same(stated, significance_then(plan, planned_cells(plan))):
            plan["significance"] = stated
        return plan

    @functools.cached_property
    def planned(self) -> FileStudy | MergedStudy | JobHashes:
        """Return the source of the plan: hashes of jobs, from the plan's hashes of locks and of own files."""
        if not isinstance(self.study, MeasuredStudy):
            assert isinstance(self.study, FileStudy | MergedStudy)
            return self.study
        # A package from before jobs had hashes has none; the hashes made here are then not compared.
        nothing: dict[str, Any] = {"environments": {name: {} for name in environments_of(self.study)}, "own": {}}
        stored = self.stored_plan.get("sources", nothing)
        sources = Sources(stored["environments"], stored["own"], stored.get("replay_trace"))
        return JobHashes(self.study, self.datasets, sources, placement_of(self.stored_plan))

    @functools.cached_property
    def calibrations(self) -> list[Path]:
        """Return the folders of each node with what was measured before and after the runs; one without nodes."""
        return calibrations(self.results, nodes_of(placement_of(self.stored_plan)))

    @functools.cached_property
    def runs(self) -> list[RunFolder]:
        """Return every planned run; if the study stops when its answer is known, those up to its last block."""
        if isinstance(self.study, MergedStudy):
            merged = Merged(cast("Plan", self.plan))
            return [_on_machine(run, merged) for run in self.study.runs()]
        path = self.stopping_path
        order = self.plan["order"]
        if path is not None and path.stopped:
            order = [entry for entry in order if entry["repetition"] <= len(path.steps)]
        return [self._run(entry["cell"], entry["repetition"]) for entry in order]

    @functools.cached_property
    def stopping_path(self) -> StoppingPath | None:
        """Return what the study knew after each whole block in the package; None if it has no rule when to stop."""
        if not isinstance(self.study, MeasuredStudy) or rule_of(self.study.settings) is None:
            return None
        records: dict[Path, StoredRecord] = {}
        for _, block in itertools.groupby(self.study.runs(), key=lambda run: run.repetition):
            runs = [self._run(run.cell.id, run.repetition) for run in block]
            # Its folder decides which run a record is of; another check compares that with what the record states.
            known = {
                run.path: StoredRecord({**record, "cell_id": run.cell, "repetition": run.repetition})
                for run in runs
                if (record := run.record) is not None
            }
            if len(known) < len(runs):
                break
            records |= known
        counted = set_aside(StoredRecords(records).items(), self.study.settings)
        return path_of(planned_cells(self.plan), self.study.settings, counted.values())

    @property
    def records(self) -> Iterator[tuple[RunFolder, RunRecord]]:
        """Yield the planned runs that have a record."""
        return ((run, record) for run in self.runs if (record := run.record) is not None)

    @property
    def as_planned(self) -> StoredRecords:
        """Return the records by their paths, with the levels of the plan.

        The study may have named an option only after a run. Runs that other programs disturbed too much are left out,
        as in frames.
        """
        levels = {cell["id"]: {name: cell[name] for name in cell if name != "id"} for cell in self.plan["cells"]}

        def records() -> Iterator[tuple[Path, RunRecord]]:
            for run, record in self.records:
                yield run.path / "run.json", {**record, "cell": levels[run.cell]}

        return set_aside(records(), self.plan["settings"])

    def idle_of(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the idle power that a run was compared with: that of its machine, or what a study of files states.

        Raises:
            FramewattError: there is none.
        """
        if isinstance(self.study, FileStudy):
            return {"domains": self.study.settings["files"]["baseline"], "meters": []}
        node, session = record.get("node", NOWHERE), str(session_of(record["machine"]))
        if (node, session) not in self.baselines:
            where = f"node {node} in its session {session}" if node else f"the machine {session}"
            raise FramewattError(
                f"the package has no idle baseline of {where}, on which the run was measured by its record. Use the "
                "package as it was written."
            )
        return self.baselines[node, session]

    @functools.cached_property
    def baselines(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        """Return idle power before the runs, by the node and the session of the machine that idled."""
        paths = [
            path
            for folder in self.calibrations
            for path in (folder / "idle.json", *sorted(folder.glob("idle_[0-9a-f]*.json")))
        ]
        idle_of_session = {}
        for path in paths:
            if path.is_file() and path.stem != "idle_after":
                idle = mapping_in(path)
                idle_of_session[str(idle.get("node", NOWHERE)), str(session_of(idle.get("machine") or {}))] = idle
        return idle_of_session

    def _run(self, cell: str, repetition: int) -> RunFolder:
        path = self.results / "measure" / cell / str(repetition)
        return RunFolder(path, cell, repetition, *_record_in(path))


def _on_machine(run: MergedRun, merged: Merged) -> RunFolder:
    """Return a run in the package of its machine as a run of the merged study."""
    record, problem = _record_in(run.path.parent)
    whole = StoredRecord(merged.as_one(record.load(), run.source.machine)) if record is not None else None
    return RunFolder(run.path.parent, run.cell.id, run.repetition, whole, problem)


def _record_in(path: Path) -> tuple[StoredRecord | None, str | None]:
    """Return the record in a run's folder, or the reason why there is none."""
    if not (path / "run.json").is_file():
        return None, "planned, and has no record"
    try:
        return StoredRecord(_in_present_words(read_run(path / "run.json"))), None
    except FramewattError as error:
        return None, str(error).removeprefix(f"{path}/")


_WITH_SENTENCES = ("reasons", "flags", "disturbed", "unknown")
"""Keys of a record with sentences that this code compares with its own."""


def _in_present_words(value: Any) -> Any:
    """Return a part of a record with its sentences in their newest wording."""
    if isinstance(value, dict):
        return {key: _reworded(one) if key in _WITH_SENTENCES else _in_present_words(one) for key, one in value.items()}
    return [_in_present_words(one) for one in value] if isinstance(value, list) else value


def _reworded(value: Any) -> Any:
    if isinstance(value, str):
        return in_present_words(value)
    if isinstance(value, dict):
        return {key: _reworded(one) for key, one in value.items()}
    return [_reworded(one) for one in value] if isinstance(value, list) else value


def _without_newer(settings: Any, stated: Any, content: Any) -> Any:
    """Return settings without those that an older framewatt did not have: neither plan nor study file name them."""
    if not all(isinstance(one, dict) for one in (settings, stated)):
        return settings
    named = content if isinstance(content, dict) else {}
    return {
        key: _without_newer(value, stated.get(key), named.get(key))
        for key, value in settings.items()
        if key in stated or key in named
    }


def mapping_in(path: Path) -> Mapping[str, Any]:
    """Return the content of a JSON file that holds an object.

    Raises:
        FramewattError: it does not.
    """
    try:
        content = read_json(path)
    except (OSError, ValueError, RecursionError) as error:
        raise FramewattError(f"{path.name}: not JSON: {error}") from error
    if not isinstance(content, dict):
        raise FramewattError(
            f"{path.name} holds a {type(content).__name__}, not an object. Use the package as it was written."
        )
    return content


_MOST_RUNS = 100_000
"""Most runs of a package that is checked; a study file of a few bytes may plan any number."""

_MOST_THREADS = 1 << 16


def open_package(folder: Path) -> Opened:
    """Open an unpacked package.

    Raises:
        FramewattError: it has not exactly one plan and one study file, or they cannot be read.
    """
    data = folder / "data"
    plans = sorted(data.glob("results/*/plan/plan.json"))
    if len(plans) != 1:
        raise FramewattError(f"results: {len(plans)} plans are in the package. A package has one study.")
    plan, results = mapping_in(plans[0]), plans[0].parents[1]
    studies = sorted(path.name for path in (data / "config" / "studies").glob("*"))
    if studies != [f"{results.name}.yaml"]:
        raise FramewattError(
            f"config/studies holds {', '.join(studies) or 'nothing'}. It has to hold {results.name}.yaml alone."
        )
    path = data / "config" / "studies" / studies[0]
    schemas = ROOT / "config" / "schemas"
    # A study may use data sets that only its own checkout defines.
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
    """Return the function that makes the schema for the kind of a study."""
    if is_merged_study(content):
        return schema_of_packages
    return schema_of_files if is_file_study(content) else schema_of_measuring


def _measured_study(
    path: Path, content: Mapping[str, Any], schema: Mapping[str, Any], datasets: Catalogue, plan: Mapping[str, Any]
) -> MeasuredStudy:
    """Return a study that measures, with the device, threads and absent modules that the plan names."""
    known = {"dataset": datasets.names, **{f"workload/{name}": registered_models(name) for name in FRAMEWORKS}}
    device, threads = plan.get("device"), plan.get("threads")
    if device not in ("cpu", "cuda") or type(threads) is not int or not 0 < threads <= _MOST_THREADS:
        raise FramewattError(
            f"plan.json: device {device!r} or threads {threads!r} is not possible. Use cpu or cuda, and a number."
        )
    absent = plan.get("absent", {})
    if not isinstance(absent, Mapping) or not all(isinstance(why, str) for why in absent.values()):
        raise FramewattError(
            f"plan.json: absent: {absent!r} is not reasons by name. Use the package as it was written."
        )
    study = load_study(path, content, schema, known, device, threads, Absent(absent))
    runs = most_blocks(study.settings) * len(study.cells)
    if runs > _MOST_RUNS:
        raise FramewattError(f"{path}: repetitions: the study has {runs} runs. A package has at most {_MOST_RUNS}.")
    return study


def _file_study(
    path: Path, content: Mapping[str, Any], schema: Mapping[str, Any], results: Path, plan: Mapping[str, Any]
) -> FileStudy:
    """Return a study of files: those in the package, or empty ones with the names in its records and its plan."""
    logs = results.parents[1] / "logs" / results.name
    if logs.is_dir():
        return _below(logs, path, content, schema)
    with tempfile.TemporaryDirectory(prefix="framewatt-") as scratch:
        for where, name in _named_files(results, plan):
            if problem := problem_of_name(name):
                raise FramewattError(
                    f"{where}: files: {problem} is not a path below the root. Use the package as it was written."
                )
            place = Path(scratch) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        return _below(Path(scratch), path, content, schema)


def _named_files(results: Path, plan: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield the paths of the files of every run, also of left-out runs, each after the file that names it."""
    for record in sorted(results.glob("measure/*/*/run.json")):
        yield from ((record, file["path"]) for file in read_run(record).get("files", []))
    left_out, where = plan.get("left_out", []), results / "plan" / "plan.json"
    for one in left_out if isinstance(left_out, list) else [left_out]:
        files = one.get("files") if isinstance(one, dict) else None
        if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
            raise FramewattError(
                f"{where}: left_out: {one!r:.60} is not a run with its files. Use the package as it was written."
            )
        yield from ((where, name) for name in files)


def _below(root: Path, path: Path, content: Mapping[str, Any], schema: Mapping[str, Any]) -> FileStudy:
    """Return the study with its files below some folder."""
    files = {**content["files"], "root": str(root), "root_config": ""}
    return load_file_study(path, {**content, "files": files}, schema, {}, root)
