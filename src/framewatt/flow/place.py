"""Folders in whose names something stands that a tool below framewatt would read as its own."""

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.schema import unseen

_NEVER = ":{}"
"""A colon divides PATH; braces are Snakemake's wildcards, also in the paths of its own files."""

_IN_CONTAINERS = "'\\,"
"""A comma divides Apptainer's list of folders; the others change how Snakemake quotes a folder for a shell."""

_DIVIDES_BINDS = ":,"


def check_places(root: Path, containers: bool) -> None:
    """Refuse to work where a tool would take a folder for another, or for a command.

    Args:
        root: the project's folder.
        containers: whether rules run in containers.

    Raises:
        FramewattError: the name of the project's folder, of the working directory, or of the environment that runs the
            workflow holds a character that cannot be.
    """
    forbidden = _NEVER + (_IN_CONTAINERS if containers else "")
    for folder in (root, Path.cwd(), Path(sys.prefix)):
        found = [character for character in str(folder) if character in forbidden or unseen(character)]
        if found:
            raise FramewattError(
                f"{'containers' if containers else 'set-up'}: found {found[0]!r} in the name of the folder "
                f"{str(folder)!r}; allowed: any name without {' '.join(forbidden)} and line ends; move it"
            )


def binds_of(folders: Iterable[str | Path]) -> str:
    """Arguments by which Apptainer lets a user's folders be seen inside, at the same path.

    Args:
        folders: they; empty names are none.

    Raises:
        FramewattError: Apptainer would take one for several, or to be seen elsewhere.
    """
    paths = [str(Path(folder).resolve()) for folder in folders if folder]
    for path in paths:
        if found := [character for character in path if character in _DIVIDES_BINDS]:
            raise FramewattError(
                f"containers: found {found[0]!r} in the name of the folder {path!r}; allowed: any name without "
                f"{' '.join(_DIVIDES_BINDS)}, at which Apptainer divides names; move it"
            )
    return "".join(f" --bind {shlex.quote(path)}" for path in paths)
