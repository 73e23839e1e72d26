"""Detects whether another Snakemake works in the folder or was killed there, and removes temporary files it left."""

import fcntl
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Never

import snakemake.exceptions

from framewatt.base.files import PARTIAL
from framewatt.host.lock import read_holder, tell

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
        tell(self.file, study)

    def instead_of_snakemakes_error(self) -> None:
        """Replace Snakemake's error on a held lock, of eight lines without a command, by one line with the command."""
        snakemake.exceptions.LockException = self._end

    def _end(self) -> Never:
        sys.exit(f"framewatt: {self.why_locked()}")

    def why_locked(self) -> str:
        """Why Snakemake's lock is held here: by another one that is running, or by one that was killed."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = read_holder(self.file)
            who = f" ({holder})" if holder else ""
            return (
                f"found that another snakemake{who} makes files here that this one would; allowed: one at a "
                "time; mend: start again when it has ended"
            )
        return (
            "found the lock of a snakemake that was killed here; allowed: none; mend, where no other machine works in "
            f"this folder: {self._command}, and then start again as before"
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
    """Remove partial files below a folder whose writers were killed; those of running writers stay.

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
