"""What a record says of which run it is: study, cell, place in the order, settings, meters."""

from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.imports.collect import FileRun
from framewatt.imports.file_study import FILES, FileStudy
from framewatt.package.verification import chain
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, RunFolder
from framewatt.planning import jobs
from framewatt.study.cell import FIXED
from framewatt.study.study import Study

_SINCE_PURPOSES = 4
"""First schema version whose records tell the purpose of their run."""

_OF_THE_JOB = ("study", "cell_id", "cell", "repetition", "device", "threads")


def problems(package: Opened) -> Iterator[str]:
    """Where a record is that of another run than the planned one, or of another way to run it."""
    study = package.study
    heads: _Heads = iter(())
    if isinstance(study, Study):
        heads = _measured(package, study)
    elif isinstance(study, FileStudy):
        heads = _imported(package, study)
    for run, record, found in heads:
        told = {name: record.get(name) for name in found}
        yield from some(differences(told, found, why="the plan gives"), run.where)


_Heads = Iterator[tuple[RunFolder, Mapping[str, Any], dict[str, Any]]]


def _measured(package: Opened, study: Study) -> _Heads:
    """Every record, with its head out of the job that the study file makes of the run."""
    entries = {(entry["cell"], entry["repetition"]): entry for entry in package.plan["order"]}
    # Where cells joined the study or left it, or a run was repeated, earlier runs had their places in another order.
    in_order = chain.as_planned(package)
    for run, record in package.records:
        job = jobs.measure_job(study, study.cell(run.cell), run.repetition, record["attempt"])
        found = {name: job[name] for name in _OF_THE_JOB}
        # A study may have come to name an option after the run; the run had its usual level.
        since = {name for name in job["cell"] if name not in record["cell"] and name not in FIXED}
        found["cell"] = {name: level for name, level in job["cell"].items() if name not in since}
        entry = entries[run.cell, run.repetition]
        found |= {"block": run.repetition, "job_sha256": entry.get("job_sha256"), "node": entry.get("node")}
        found["position"] = entry["position"] if in_order else record["position"]
        found |= {"source": None if record.get("source") is None else "measured"}
        found |= {} if record["schema_version"] < _SINCE_PURPOSES else {"purpose": job["purpose"]}
        yield run, record, found


def _imported(package: Opened, study: FileStudy) -> _Heads:
    """Every record, with its head out of the names of its files."""
    runs = {(run.cell.id, run.repetition): run for run in study.runs()}
    logs = study.settings["files"]["logs"]
    positions = _places(package, [(run.cell.id, run.repetition) for run in study.runs()])
    for run, record in package.records:
        of_files = runs[run.cell, run.repetition]
        readers = [logs[file.log]["reader"] for file in of_files.files]
        head: dict[str, Any] = {"study": study.name, "cell_id": run.cell, "cell": of_files.cell.to_dict()}
        head |= {"source": FILES, "repetition": run.repetition, "block": run.repetition, "attempt": 1, "machine": {}}
        head |= {"device": None, "threads": None, "meters": list(dict.fromkeys(readers))}
        head |= {"position": positions[run.where], "files": _files(of_files, readers, record)}
        yield run, record, head


def _files(run: FileRun, readers: list[str], record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The files of an imported run; whether their hashes are right is another check's."""
    told = {file["path"]: file["sha256"] for file in record.get("files", [])}
    pairs = zip(run.files, readers, strict=True)
    return [{"path": file.path, "sha256": told.get(file.path), "reader": reader} for file, reader in pairs]


def _places(package: Opened, order: list[tuple[str, int]]) -> dict[str, int]:
    """Places of imported runs: by their clocks where all that could be read have one, else by repetition."""
    found = {
        (run.cell, run.repetition): (run.where, record["clock"]["utc"], record["status"])
        for run, record in package.records
    }
    in_order = [found[key] for key in order if key in found]
    if all(utc for _, utc, status in in_order if status == "ok"):
        in_order.sort(key=lambda of: of[1] or "9999")
    return {where: place for place, (where, _, _) in enumerate(in_order, 1)}
