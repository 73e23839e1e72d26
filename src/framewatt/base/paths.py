"""Checks of paths: those of users for use in Snakemake, and entries of untrusted archives.

Names of entries stay in their folder, and sizes are as declared.
"""

from pathlib import Path, PurePosixPath
from typing import IO

from framewatt.base.errors import FramewattError

_CHUNK_B = 2**20


def problem_of_name(name: str) -> str | None:
    """Return what is wrong with the name of an entry of an archive; None where it stays below the target folder."""
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
        size_b: bytes of the entry, by the archive's own list.

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
    """Return the path after a check for braces, which Snakemake would take for a wildcard.

    Args:
        path: of a file or folder that a rule reads.

    Raises:
        FramewattError: the path has a brace.
    """
    if braces := [character for character in str(path) if character in "{}"]:
        raise FramewattError(
            f"{path}: {braces[0]!r} in the name would be a wildcard of Snakemake. Move it to a name without braces."
        )
    return path
