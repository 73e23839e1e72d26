"""Which study file a results folder belongs to, so that no other writes into it."""

from collections.abc import Iterator
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_text
from framewatt.base.validation import load_yaml

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
