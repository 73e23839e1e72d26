"""Why artefacts of a study are no longer valid, in a few words, and which files no longer match the configuration."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from framewatt.base.files import read_json, sha256_of
from framewatt.environments.framework import packages_sha256
from framewatt.planning import paths
from framewatt.planning.job_hash import idle_domains_sha256
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.placement import calibrations
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.exporters.contract import RECORD as EXPORT_RECORD
from framewatt.prepare.stage import worth_repeating
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.runs.aside import Try, reasons_of, tries_of
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.runs.verdict import UNAVAILABLE
from framewatt.study.cell import Cell
from framewatt.study.records import RunRecord
from framewatt.study.runtimes import ONNX_RUNTIME
from framewatt.study.study import FileStudy

ABSENT, NOT_MEASURED = "not made", "not measured"
OTHER = "made under other settings"
OTHER_INPUT = "made of other"
REQUESTED = "requested"
GONE = "its file is gone"
SET_ASIDE = "set aside, since others disturbed them"

_MOST_TRIES = 6
"""A run stays set aside after this number of tries: whatever disturbs it does not go away."""

Forced = Callable[[str, str], bool]
"""Whether the user forced an artefact to be made again, by its rule and its path below results/<study>."""


def stage_due(record: Path, sha256: str, start: Mapping[str, str | None]) -> str | None:
    """Return why weights, an export or its check are due; None where they are not.

    Args:
        record: the record of the step that makes them.
        sha256: the hash of its job, for the present study file.
        start: SHA-256 of its present inputs, see stage.input_hashes; None for an input that is missing.
    """
    content = content_of(record)
    if content is None:
        return ABSENT
    if content.get("job_sha256") != sha256:
        return OTHER
    if content.get("status") is None or worth_repeating(content):
        return "failed"
    then = content.get("made_of") or {}
    return next((f"{OTHER_INPUT} {what}" for what, now in start.items() if now and now != then.get(what, now)), None)


def idle_due(record: Path, sha256: str) -> str | None:
    """Return why a measurement of idle power is due, by its record and the hash of its job; None where it is not."""
    content = content_of(record)
    if content is None:
        return NOT_MEASURED
    return None if content.get("job_sha256") == sha256 else OTHER


class Runs:
    """Why runs are due: by their records, and by a comparison of their inputs with those that the records name.

    Args:
        hashes: of all jobs, for the present study file.
        results: results/<study>.
        resources: the folder of data and environments.
    """

    def __init__(self, hashes: JobHashes, results: Path, resources: Path) -> None:
        self._hashes, self._results, self._resources = hashes, results, resources
        self._cells = {cell.id: cell for cell in hashes.study.cells}
        self._with_threads: dict[int, JobHashes] = {}
        self._read: dict[Path, dict[str, Any] | None] = {}
        self._clocks: dict[Path, tuple[Any, ...]] = {}
        self._tries: list[Try] = []
        self._idle = {
            node: {idle_domains_sha256(self._content(path)) for path in folder.glob("idle*.json")}
            for node, folder in zip(hashes.nodes, calibrations(results, hashes.nodes), strict=True)
        }

    def start_of(self, cell: Cell, *inputs: str) -> dict[str, str | None]:
        """Return SHA-256 of the present inputs of a step of a cell's model.

        Args:
            cell: the cell.
            inputs: which input: `weights`, or `model` and the export's name.
        """
        start = {"data": self._data(cell)}
        if inputs and inputs[0] == "weights":
            start["weights"] = self._content(
                paths.below(self._results, paths.WEIGHTS, model=cell.model) / TRAIN_RECORD
            ).get("weights_sha256")
        elif inputs:
            start["model"] = self._content(
                paths.below(self._results, paths.EXPORT, model=inputs[1]) / EXPORT_RECORD
            ).get("model_sha256")
        return start

    def _data(self, cell: Cell) -> str | None:
        arrays = self._hashes.datasets.arrays_of(cell.dataset, cell.framework, cell.workload)
        return self._resource("data", f"{arrays}.json").get("sha256")

    def run_due(self, folder: Path, cell_id: str, planned_sha256: str, exports: Collection[str] = ()) -> str | None:
        """Return why a planned run is due; None where it is not.

        Args:
            folder: folder of its record and trace.
            cell_id: its cell.
            planned_sha256: the hash of its job, as the plan has it.
            exports: names of the exports that are made again.
        """
        record = content_of(folder / "run.json")
        self._clocks[folder] = _clock_of(record)
        if record is None or not all((folder / name).is_file() for name in ("power.parquet", "events.parquet")):
            return NOT_MEASURED
        try:
            if "predictions" in record and not (folder / PREDICTIONS).is_file():
                return "without its predictions"
            if worth_repeating(record):
                return "failed or invalid"
            cell = self._cells[cell_id]
            if record["status"] == UNAVAILABLE and cell.engine == ONNX_RUNTIME and cell.export in exports:
                return "without an export, which is made again"
            self._tries += tries_of(folder / "run.json", cast("RunRecord", record))
            return self._changed(cell, planned_sha256, record)
        except (KeyError, TypeError):
            return "with a record that cannot be read"

    @property
    def aside(self) -> set[str]:
        """Runs that were read, are set aside and were not yet tried too often: `<cell>/<repetition>`."""
        tried: dict[Path, int] = {run.path: run.attempt for run in self._tries if run.counts}
        paths = reasons_of(self._tries).keys()
        return {path.parent.relative_to(path.parents[2]).as_posix() for path in paths if tried[path] < _MOST_TRIES}

    def clock_of(self, folder: Path) -> tuple[Any, ...]:
        """Return the clock of a run, see clock_in; a record that was read already is not read again."""
        return self._clocks[folder] if folder in self._clocks else clock_in(folder)

    def _changed(self, cell: Cell, planned_sha256: str, record: Mapping[str, Any]) -> str | None:
        """Return what has changed since the run was measured; None where nothing has."""
        identity, used = record["identity"], record["identity"]["environment"]
        name = cell.environment(self._hashes.study.device)
        mode = str(self._hashes.sources.environments[name]["mode"])
        if used["mode"] != mode:
            return f"measured with environment {used['mode']}, not {mode}"
        if record.get("job_sha256") != planned_sha256:
            return self._other_threads(cell, record) or "measured under other settings"
        if identity.get("idle_sha256") not in (None, *self._idle[self._hashes.node_of(record["repetition"])]):
            return "corrected by another idle power"
        environment = self._resource("environments", mode, name, "environment.json")
        there = {
            "on other data": (self._data(cell), identity["data_sha256"]),
            "in another image": (environment.get("image_sha256"), used["image_sha256"]),
            "with another interpreter": (environment.get("python_version"), used["python_version"]),
            "with other weights": (self._artefact(cell), identity["artefact_sha256"]),
        }
        return next((f"measured {what}" for what, (now, then) in there.items() if now and now != then), None)

    def _other_threads(self, cell: Cell, record: Mapping[str, Any]) -> str | None:
        """Return the reason if a run is due only since the number of usable processors has changed; else None."""
        settings = self._hashes.study.settings
        then, now = record.get("threads"), self._hashes.study.threads
        named = any(chosen.option == "threads" for chosen in cell.options)
        if settings["threads"] != "auto" or named or not isinstance(then, int) or then == now:
            return None
        if then not in self._with_threads:
            study = replace(self._hashes.study, settings={**settings, "threads": then})
            self._with_threads[then] = replace(self._hashes, study=study)
        if self._with_threads[then].run(cell, record["repetition"]) != record["job_sha256"]:
            return None
        return f"measured with {then} threads, where this machine gives {now} (threads: {then} in the study keeps them)"

    def _artefact(self, cell: Cell) -> str | None:
        """Return SHA-256 of the weights or the ONNX file that a run of the cell would start from; None if missing."""
        if cell.engine == ONNX_RUNTIME:
            return self._record(paths.CHECK, cell.export, CHECK_RECORD).get("model_sha256")
        if cell.phase == "infer":
            return self._record(paths.WEIGHTS, cell.model, TRAIN_RECORD).get("weights_sha256")
        return None

    def _resource(self, *path: str) -> dict[str, Any]:
        return self._content(self._resources.joinpath(*path))

    def _record(self, folder: str, model: str, name: str) -> dict[str, Any]:
        return self._content(paths.below(self._results, folder, model=model) / name)

    def _content(self, path: Path) -> dict[str, Any]:
        """Read a record that many runs refer to, cached."""
        if path not in self._read:
            self._read[path] = content_of(path)
        return self._read[path] or {}


def clock_in(folder: Path) -> tuple[Any, ...]:
    """Return the clock in the record of a run's folder, alone in a tuple; an empty tuple without a record."""
    return _clock_of(content_of(folder / "run.json"))


def _clock_of(record: Mapping[str, Any] | None) -> tuple[Any, ...]:
    return (record.get("clock"),) if record else ()


def content_of(path: Path) -> dict[str, Any] | None:
    """Read a JSON object; None where the file is missing or unreadable."""
    try:
        content = read_json(path)
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def outdated_sources(hashes: JobHashes, resources: Path) -> list[str]:
    """Return the records of data and environments that were made with another definition, lock or host.

    Args:
        hashes: hashes of the study.
        resources: the folder of data and environments.
    """
    study, datasets = hashes.study, hashes.datasets
    arrays = {datasets.arrays_of(cell.dataset, cell.framework, cell.workload) for cell in study.cells}
    outdated = []
    for name in sorted(arrays):
        path = resources / "data" / f"{name}.json"
        record = content_of(path)
        if record and record.get("definition") != datasets.definitions[name]:
            outdated.append(str(path))
    for name, source in hashes.sources.environments.items():
        path = resources / "environments" / str(source["mode"]) / name / "environment.json"
        record = content_of(path)
        if not record:
            continue
        other_lock = record.get("lock_sha256") != source.get("lock_sha256")
        if other_lock or ("packages_sha256" in source and packages_sha256(record) != source["packages_sha256"]):
            outdated.append(str(path))
    return outdated


def imports_are_due(study: FileStudy, results: Path) -> bool:
    """Return whether the logs of a study of files differ from those in its records, or a record is missing.

    Args:
        study: with its files.
        results: results/<study>.
    """
    if study.root is None:
        return False
    for run in study.available:
        folder = results / "measure" / run.cell.id / str(run.repetition)
        record = content_of(folder / "run.json")
        if record is None or not all((folder / name).is_file() for name in ("power.parquet", "events.parquet")):
            return True
        then = {file["path"]: file["sha256"] for file in record.get("files", [])}
        if then != {file.path: sha256_of(study.root / file.path) for file in run.files}:
            return True
    return False
