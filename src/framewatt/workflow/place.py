"""Names of folders and of wildcards: characters that Snakemake, Apptainer or a shell would interpret, and patterns."""

import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.schema import unseen

_NEVER = ":{}"
"""A colon separates entries of PATH; braces are Snakemake's wildcards, also in the paths of its own files."""

_IN_CONTAINERS = "'\\,"
"""A comma separates Apptainer's list of folders; the others change how Snakemake quotes a folder for a shell."""

_DIVIDES_BINDS = ":,"


def check_places(root: Path, containers: bool) -> None:
    """Refuse folder names that a tool would read as another path, or as a command.

    Args:
        root: the project's folder.
        containers: whether rules run in containers.

    Raises:
        FramewattError: the name of the project's folder, of the working directory, or of the environment that runs the
            workflow holds such a character.
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
    """Apptainer's arguments that mount a user's folders in the container, at the same paths.

    Args:
        folders: the folders; empty names are ignored.

    Raises:
        FramewattError: Apptainer would read one name as several folders, or mount it at another path.
    """
    paths = [str(Path(folder).resolve()) for folder in folders if folder]
    for path in paths:
        if found := [character for character in path if character in _DIVIDES_BINDS]:
            raise FramewattError(
                f"containers: found {found[0]!r} in the name of the folder {path!r}; allowed: any name without "
                f"{' '.join(_DIVIDES_BINDS)}, at which Apptainer divides names; move it"
            )
    return "".join(f" --bind {shlex.quote(path)}" for path in paths)


_PARTS = re.compile(r"[^-/]*[-/]|[^-/]+")


def one_of(names: Iterable[str]) -> str:
    """A regular expression that matches exactly these names; where there are none, it matches nothing.

    Names of runs are combinations of levels. What they share is written once, since Snakemake writes a wildcard's
    expression into every path of the rule and searches it for every job: of 10,000 runs it is a few hundred characters.
    """
    found = {tuple(_PARTS.findall(name)) for name in names}
    return _pattern(frozenset(found)) if found else "(?!)"


def _pattern(names: frozenset[tuple[str, ...]]) -> str:
    """The expression for names that are cut into parts."""
    rests: dict[str, set[tuple[str, ...]]] = {}
    for name in names:
        if name:
            rests.setdefault(name[0], set()).add(name[1:])
    # Parts that the same rests follow stand beside each other.
    heads: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for part, rest in rests.items():
        heads.setdefault(frozenset(rest), []).append(part)
    found = [
        _either(sorted(map(re.escape, parts))) + (_pattern(rest) if rest != {()} else "")
        for rest, parts in heads.items()
    ]
    return _either(sorted(found)) + ("?" if () in names else "")


def _either(patterns: list[str]) -> str:
    return f"(?:{'|'.join(patterns)})"
