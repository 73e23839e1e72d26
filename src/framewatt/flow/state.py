"""How results stand beside the present configuration, where the times of files do not say it."""

from collections.abc import Iterable
from pathlib import Path, PurePath

from framewatt.imports.file_study import FileStudy
from framewatt.imports.merged_study import MergedStudy
from framewatt.planning.due import plan_is_due
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.jobs import AnyStudy
from framewatt.planning.outdated import imports_are_due, outdated_sources
from framewatt.planning.plan import plan_of
from framewatt.planning.staleness import content_of


def due_plans(studies: Iterable[AnyStudy], results: Path) -> list[str]:
    """Names of the studies of files, or of packages, whose plan is missing or another one now.

    Args:
        studies: of any kind; those that measure are left out, see framewatt.planning.due.due_of.
        results: the folder of all results.
    """
    found = []
    for study in studies:
        folder = results / study.name
        if isinstance(study, MergedStudy) and plan_is_due(plan_of(study), folder):
            found.append(study.name)
        if not isinstance(study, FileStudy):
            continue
        # A study whose files are not there keeps the plan that it has, as in a package.
        there = (folder / "plan" / "plan.json").is_file()
        if plan_is_due(plan_of(study), folder) if study.found else not there:
            found.append(study.name)
    return found


def failed_environments(targets: Iterable[str]) -> dict[str, str]:
    """Records of environments among some targets that say that they could not be made, and why.

    A study goes on without an environment; who asks for one by its record wants it.

    Args:
        targets: Snakemake's: rules, paths.
    """
    below = ("resources", "environments")
    named = [path for path in targets if path.endswith("/environment.json") and PurePath(path).parts[:2] == below]
    records = {path: content_of(Path(path)) or {} for path in named}
    return {path: str(record["reason"]) for path, record in records.items() if record.get("status") == "failed"}


def outdated(study: AnyStudy, hashes: JobHashes | None, results: Path, resources: Path) -> list[str]:
    """Paths that are made again although the times of files do not ask for it.

    Args:
        study: any.
        hashes: of a study that measures and has runs due; None otherwise.
        results: the folder of all results.
        resources: the folder of data and environments.
    """
    if isinstance(study, FileStudy):
        records = results / study.name / "measure"
        return [str(records)] if records.is_dir() and imports_are_due(study, records.parent) else []
    return outdated_sources(hashes, resources) if hashes else []
