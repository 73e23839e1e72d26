"""Folders of the project: whether names can be used, which Snakemake works there, and which study owns results."""

import fcntl
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.files import PARTIAL, write_text
from framewatt.base.schema import unseen
from framewatt.base.validation import load_yaml
from framewatt.host.lock import read_holder, write_holder

_NEVER = ":{}"
"""A colon separates entries of PATH; braces are Snakemake's wildcards, also in the paths of its own files."""

_IN_CONTAINERS = "'\\,"
"""A comma separates Apptainer's list of folders; the others change how Snakemake quotes a folder for a shell."""

_DIVIDES_BINDS = ":,"


def check_folders(root: Path, containers: bool) -> None:
    """Refuse folder names that a tool would read as another path, or as a command.

    Args:
        root: the project's folder.
        containers: whether rules run in containers.

    Raises:
        FramewattError: the name of the project's folder, of the working directory, or of the environment that runs the
            workflow has such a character.
    """
    forbidden = _NEVER + (_IN_CONTAINERS if containers else "")
    for folder in (root, Path.cwd(), Path(sys.prefix)):
        wrong = [character for character in str(folder) if character in forbidden or unseen(character)]
        if wrong:
            raise FramewattError(
                f"{'containers' if containers else 'set-up'}: the name of the folder {str(folder)!r} has "
                f"{wrong[0]!r} in it. Move it to a folder without {' '.join(forbidden)} and line ends in its name."
            )


def container_mounts(folders: Iterable[str | Path]) -> str:
    """Return Apptainer's arguments that mount a user's folders in the container, at the same paths.

    Args:
        folders: the folders; empty names are ignored.

    Raises:
        FramewattError: Apptainer would read one name as several folders, or mount it at another path.
    """
    paths = [str(Path(folder).resolve()) for folder in folders if folder]
    for path in paths:
        if wrong := [character for character in path if character in _DIVIDES_BINDS]:
            raise FramewattError(
                f"containers: the name of the folder {path!r} has {wrong[0]!r} in it, at which Apptainer divides "
                f"names. Move it to a folder without {' '.join(_DIVIDES_BINDS)} in its name."
            )
    return "".join(f" --bind {shlex.quote(path)}" for path in paths)


FILE = "framewatt.lock"
"""Lock file in Snakemake's folder; every running Snakemake holds a shared lock on it until its process ends."""


_OURS = re.compile(r"\..+\.\d+\.partial")


class Presence:
    """The mark that this Snakemake is running here.

    Args:
        folder: Snakemake's own, `.snakemake`.
        command: the command that removes Snakemake's lock here.

    Attributes:
        file: open, with the shared lock; it ends with this process.
    """

    def __init__(self, folder: Path, command: str) -> None:
        self._command = command
        folder.mkdir(exist_ok=True)
        self.file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o666)
        fcntl.flock(self.file, fcntl.LOCK_SH)

    def tell(self, study: str) -> None:
        """Write the study's name into the lock file, for another Snakemake that finds the lock."""
        write_holder(self.file, study)

    def explain_lock(self) -> str:
        """Return why Snakemake's lock is in force here: another one is running, or one was killed."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = read_holder(self.file)
            who = f" ({holder})" if holder else ""
            return f"another snakemake{who} makes files here that this one would. Start again when it has ended."
        return (
            "a snakemake that was killed here left its lock. If no other machine works in this folder, remove the lock "
            f"with {self._command}, and then start again as before."
        )


def was_killed(folder: Path) -> bool:
    """Whether a Snakemake that was killed left its lock, and no other one works here.

    Args:
        folder: Snakemake's own, `.snakemake`.
    """
    if not any((folder / "locks").glob("*")):
        return False
    try:
        file = os.open(folder / FILE, os.O_RDWR)
    except OSError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(file)
    return True


def unlock_command(program: str, config: Mapping[str, Any], here: Path) -> str:
    """The command that removes Snakemake's lock, in the form in which this Snakemake was started.

    Args:
        program: path of Snakemake, as it was called.
        config: the values of `--config`.
        here: the folder in which it runs.
    """
    path = Path(os.path.abspath(program))  # noqa: PTH100 # a link into the virtual environment stays one
    words = [str(path.relative_to(here)) if path.is_relative_to(here) else program, "--unlock"]
    words += ["--config", *(f"{key}={value}" for key, value in config.items())] if config else []
    return shlex.join(words)


def sweep(results: Path) -> list[Path]:
    """Remove partial files below a folder that killed writers left; those of running writers stay.

    Returns:
        the removed files.
    """
    swept = []
    for path in sorted(path for path in results.rglob(PARTIAL) if _OURS.fullmatch(path.name)):
        try:
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue  # it has been renamed to its final name meanwhile, or is not ours
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            swept.append(path)
        except OSError:
            continue  # its writer still runs, or it is gone
        finally:
            os.close(file)
    return swept


_MARK = Path("plan", ".study_file")
"""File below results/<study> with the path of the study file. Hidden, so that packages hold no path of this machine."""


def mark_owner(results: Path, path: Path) -> None:
    """Record which file a study was planned from.

    Args:
        results: results/<study>, below the working directory.
        path: the study file; recorded relative to the working directory, so that a project can be moved.
    """
    here, file = Path.cwd(), path.resolve()
    write_text(results / _MARK, f"{file.relative_to(here) if file.is_relative_to(here) else file}\n")


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
                f"{path}: study: {other} has the name {study!r} too, and both would write into {results}. Give one of "
                "them another name under `study:`."
            )


def _planned_from(results: Path) -> Path | None:
    """Return the file that a study was planned from; None where it is unknown, or gone, or has another name now."""
    try:
        noted = Path((results / _MARK).read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError):
        return None
    return noted if noted.is_file() and _name_in(noted) == results.name else None


def _among(studies: Path, study: str) -> Iterator[Path]:
    """Yield the study files in which the name occurs."""
    for path in sorted(studies.glob("*.yaml")):
        if study in path.read_text(encoding="utf-8", errors="replace"):
            yield path


def _name_in(path: Path) -> object:
    """Return the name in a study file; None where it cannot be read, which is reported when it is used."""
    try:
        return load_yaml(path).get("study")
    except FramewattError:
        return None
