"""Checks of paths: those of users for use in Snakemake, and entries of untrusted archives.

Names of entries stay in their folder, and sizes are as declared.
"""

from pathlib import Path, PurePosixPath
from typing import IO

from framewatt.base.errors import FramewattError

_CHUNK_B = 2**20


def problem_of_name(name: str) -> str | None:
    """What is wrong with the name of an archive's entry; None where it stays below the target folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or "\\" in name or ":" in name:
        return "an absolute name"
    if ".." in path.parts or "\0" in name:
        return "a name that leaves its folder"
    return None


def write_entry(source: IO[bytes], path: Path, size_b: int) -> bool:
    """Write an entry to a new file.

    Args:
        source: the entry, open for reading.
        path: the file, which must not exist yet; its folders are created.
        size_b: bytes that the archive says the entry has.

    Returns:
        whether the entry has at most `size_b` bytes; if not, reading stopped there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    left_b = size_b
    with path.open("xb") as file:
        while chunk := source.read(_CHUNK_B):
            left_b -= len(chunk)
            if left_b < 0:
                return False
            file.write(chunk)
    return True


def usable(path: Path) -> Path:
    """The path, checked for braces: Snakemake would take them for a wildcard, and look for another file.

    Args:
        path: of a file or folder that a rule reads.

    Raises:
        FramewattError: it holds a brace.
    """
    if found := [character for character in str(path) if character in "{}"]:
        raise FramewattError(
            f"{path}: found {found[0]!r} in the name; allowed: names without braces, which Snakemake takes for "
            "wildcards; move it"
        )
    return path
