"""Verifies and rebuilds an untrusted package in a process with limits; the outcome is always lines of text."""

from pathlib import Path

from framewatt.package.confined import Limits, confined

_WORK = "framewatt.package.verify"
"""Module that does the work; only the child process imports it."""

REBUILDING_TAKES = 20
"""Time limit of rebuilding, as a multiple of that of checking."""


def check(archive: Path, scratch: Path, limits: Limits, rebuild: bool) -> dict[str, list[str]]:
    """Verify a package in a process of its own.

    Args:
        archive: the zip file.
        scratch: an empty folder, which the caller removes.
        limits: of the process; rebuilding may take REBUILDING_TAKES times as long.
        rebuild: whether to rebuild the derived files too, if nothing else is wrong.

    Returns:
        `problems`, the last of which sums them up, and `said`: what is proven if there are no problems.

    Raises:
        FramewattError: it cannot be checked within the limits, or is no package.
    """
    given = {"archive": str(archive), "scratch": str(scratch), "disk_b": limits.disk_b}
    told: dict[str, list[str]] = confined(f"{_WORK}:verified", given, limits, str(archive))
    if rebuild and not told["problems"]:
        given = {"archive": str(archive), "scratch": str(scratch)}
        told = confined(f"{_WORK}:rebuilt", given, _longer(limits), str(archive))
    return told


def made_again(archive: Path, target: Path, limits: Limits) -> list[str]:
    """Rebuild a package that was verified, in a process of its own.

    Args:
        archive: the zip file.
        target: an empty folder, see rebuild.rebuild.
        limits: of checking; rebuilding may take REBUILDING_TAKES times as long.

    Returns:
        one line for each file that differs from the package's.

    Raises:
        FramewattError: it cannot be rebuilt, or not within the limits.
    """
    given = {"archive": str(archive), "target": str(target)}
    lines: list[str] = confined("framewatt.package.rebuild:differences", given, _longer(limits), str(archive))
    return lines


def _longer(limits: Limits) -> Limits:
    return Limits(limits.seconds * REBUILDING_TAKES, limits.memory_b, limits.disk_b)
