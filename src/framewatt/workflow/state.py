"""The results folder: which study file it belongs to, and how results relate to the present configuration."""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_text
from framewatt.base.validation import load_yaml
from framewatt.planning.due import plan_is_due
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.outdated import imports_are_due, outdated_sources
from framewatt.planning.plan import plan_of
from framewatt.planning.staleness import content_of
from framewatt.study.study import FileStudy, MergedStudy, Study

_MARK = Path("plan", ".study_file")
"""File below results/<study> with the path of the study file. Hidden, so that packages hold no path of this machine."""


def mark_owner(results: Path, path: Path) -> None:
    """Note which file a study was planned from.

    Args:
        results: results/<study>, below the working directory.
        path: the study file; noted relative to the working directory, so that it still holds where a project is moved.
    """
    here, found = Path.cwd(), path.resolve()
    write_text(results / _MARK, f"{found.relative_to(here) if found.is_relative_to(here) else found}\n")


def check_owner(path: Path, study: str, results: Path, studies: Path) -> None:
    """Make sure that a study file is the only one that writes into its results.

    Args:
        path: the study file.
        study: the name that it gives itself.
        results: results/<study>.
        studies: the folder of study files. A file named like its study takes precedence there.

    Raises:
        FramewattError: the results were planned from another file that still exists with this study's name, or another
            file in `studies` has the name.
    """
    owns = _planned_from(results) or studies / f"{study}.yaml"
    if path.resolve() == owns.resolve():
        return
    for other in (owns, *_among(studies, study)):
        if other.resolve() != path.resolve() and _name_in(other) == study:
            raise FramewattError(
                f"{path}: study: found {study!r}, which {other} has too, and both would write into {results}; "
                "allowed: a name of its own, under `study:`"
            )


def _planned_from(results: Path) -> Path | None:
    """The file that a study was planned from, where that is known and the file is there and still has the name."""
    try:
        noted = Path((results / _MARK).read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError):
        return None
    return noted if noted.is_file() and _name_in(noted) == results.name else None


def _among(studies: Path, study: str) -> Iterator[Path]:
    """Study files in which the name occurs."""
    for path in sorted(studies.glob("*.yaml")):
        if study in path.read_text(encoding="utf-8", errors="replace"):
            yield path


def _name_in(path: Path) -> object:
    """The name in a study file; None where it cannot be read, which is reported when it is used."""
    try:
        return load_yaml(path).get("study")
    except FramewattError:
        return None


def due_plans(studies: Iterable[Study], results: Path) -> list[str]:
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
        if plan_is_due(plan_of(study), folder) if study.available else not there:
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


def outdated(study: Study, hashes: JobHashes | None, results: Path, resources: Path) -> list[str]:
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
