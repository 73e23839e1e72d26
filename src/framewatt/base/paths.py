"""Checks users' paths for use in Snakemake."""

from pathlib import Path

from framewatt.base.errors import FramewattError


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
