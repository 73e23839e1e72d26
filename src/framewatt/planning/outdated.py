"""Files that do not match the present configuration, which Snakemake does not notice: it compares file times only."""

from pathlib import Path

from framewatt.base.files import sha256_of
from framewatt.environments.framework import packages_sha256
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.staleness import content_of
from framewatt.study.study import FileStudy


def outdated_sources(hashes: JobHashes, resources: Path) -> list[str]:
    """Records of the study's data and environments that were made with another definition, lock or host.

    Args:
        hashes: of the study.
        resources: the folder of data and environments.
    """
    study, datasets = hashes.study, hashes.datasets
    arrays = {datasets.arrays_of(cell.dataset, cell.framework, cell.workload) for cell in study.cells}
    found = []
    for name in sorted(arrays):
        path = resources / "data" / f"{name}.json"
        record = content_of(path)
        if record and record.get("definition") != datasets.definitions[name]:
            found.append(str(path))
    for name, source in hashes.sources.environments.items():
        path = resources / "environments" / str(source["mode"]) / name / "environment.json"
        record = content_of(path)
        if not record:
            continue
        other_lock = record.get("lock_sha256") != source.get("lock_sha256")
        if other_lock or ("packages_sha256" in source and packages_sha256(record) != source["packages_sha256"]):
            found.append(str(path))
    return found


def imports_are_due(study: FileStudy, results: Path) -> bool:
    """Whether the logs of a study of files differ from those that its records name, or a record is missing.

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
