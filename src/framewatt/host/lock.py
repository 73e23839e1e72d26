"""One measurement on a machine at a time, across users, checkouts, containers and Slurm jobs.

The lock of the machine is flock(2) on a file in every folder of FOLDERS to which every user may write. Not everyone
sees the same folders (a container has its own /run/lock, a job its own /tmp); those that share at least one take turns.
All lock them in this order, which rules out deadlocks. The process that has the lock writes its name into the file,
and those that wait read it.

The kernel releases a lock when the last process that holds it has ended, however it ended. Children inherit it
(`MachineLock.files`) if the machine is back to normal only after they have ended.
"""

import contextlib
import errno
import fcntl
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError

_NOTE_B = 4096
_STUDY = re.compile(r"[\w.-]{1,100}", re.ASCII)


@dataclass(frozen=True)
class Holder:
    """Who holds a lock.

    Attributes:
        study: the study that it measures.
        pid: its process id.
        since: when it took the lock, UTC.
    """

    study: str
    pid: int
    since: datetime

    def __str__(self) -> str:
        return f"process {self.pid}, study {self.study}, since {self.since:%Y-%m-%d %H:%M:%S} UTC"


def write_holder(file: int, study: str) -> None:
    """Write into the file of a lock that this process has it. On a full disk, only this note is lost."""
    holder = {"study": study, "pid": os.getpid(), "since_utc": datetime.now(UTC).isoformat(timespec="seconds")}
    line = f"{json.dumps(holder)}\n".encode()
    with contextlib.suppress(OSError):
        os.pwrite(file, line, 0)
        os.ftruncate(file, len(line))


def read_holder(file: int) -> Holder | None:
    """Return the holder that the file of a lock names, or None. Anybody may write there; other content is ignored."""
    try:
        note = json.loads(os.pread(file, _NOTE_B, 0).splitlines()[0])
        study, since = str(note["study"]), datetime.fromisoformat(note["since_utc"]).astimezone(UTC)
        return Holder(study, int(note["pid"]), since) if _STUDY.fullmatch(study) else None
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError, OverflowError):
        return None


FOLDERS = tuple(map(Path, ("/run/lock", "/run/lock/framewatt", "/tmp", "/dev/shm")))  # noqa: S108 # files are checked
VARIABLE = "FRAMEWATT_LOCK_FOLDER"
"""For tests: the one folder with the lock that counts instead of the machine's. Records state if it was used."""

WAIT_VARIABLE = "FRAMEWATT_WAIT"
"""`no`: end if another process has the lock. Jobs get it through the environment, since results do not depend on it."""

MEASUREMENT, STUDIES = "framewatt-measurement.lock", "framewatt-studies.lock"
"""Locked while something is measured; shared by all studies that measure on this machine, from start to end."""

_EVERYONE = 0o666


@dataclass(frozen=True)
class MachineLock:
    """The lock, while this process has it.

    Attributes:
        files: open files that keep it locked, to pass on to children.
        waited_s: seconds waited for others.
        machine_wide: False where it is the lock of a test instead of the machine's.
    """

    files: tuple[int, ...]
    waited_s: float
    machine_wide: bool

    def facts(self) -> dict[str, Any]:
        """Return the entry of the lock in records."""
        return {"waited_s": self.waited_s, "machine_wide": self.machine_wide}


@contextlib.contextmanager
def machine_lock(study: str, *, wait: bool = True) -> Iterator[MachineLock]:
    """Keep the lock of the machine for the block; if others measure, print one line that names them, and wait.

    Args:
        study: what is measured, shown to others that wait.
        wait: False raises instead of waiting.

    Raises:
        FramewattError: somebody else measures and `wait` is False, or no lock can be taken.
    """
    started_s = time.monotonic()
    files: list[int] = []
    try:
        waited = False
        for path in _paths(MEASUREMENT):
            waited |= _take(path, files, study, wait, waited)
        if not files:
            raise _no_folder()
        yield MachineLock(tuple(files), time.monotonic() - started_s if waited else 0.0, VARIABLE not in os.environ)
    finally:
        for file in files:
            os.close(file)


def may_wait() -> bool:
    """Return whether a job of the workflow may wait for the lock."""
    return os.environ.get(WAIT_VARIABLE) != "no"


def announce_study(study: str, *, wait: bool) -> tuple[int, ...]:
    """Register a study that measures on this machine, for as long as this process lives.

    Args:
        study: its name.
        wait: False raises if another study is registered or measures.

    Returns:
        the open files, which keep the lock.

    Raises:
        FramewattError: another study is registered or measures and `wait` is False, or no lock can be taken.
    """
    if not wait:
        with machine_lock(study, wait=False):
            pass
    files: list[int] = []
    for path in _paths(STUDIES):
        file = _open(path)
        if file is None or any(os.path.sameopenfile(file, other) for other in files):
            continue
        try:
            if not wait:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _refusal(file) from None
        fcntl.flock(file, fcntl.LOCK_SH)
        write_holder(file, study)
        files.append(file)
    return tuple(files)


def _paths(name: str) -> list[Path]:
    """Return the files of a lock in folders to which every user may write."""
    if VARIABLE in os.environ:
        return [Path(os.environ[VARIABLE], name)]
    paths = [folder / name for folder in FOLDERS if _open_to_all(folder)]
    if not paths:
        raise _no_folder()
    return paths


def _no_folder() -> FramewattError:
    return FramewattError(
        f"no folder for the lock of this machine: every user must be able to write to one of "
        f"{', '.join(map(str, FOLDERS))}. Run chmod 1777 on one, as its owner."
    )


def _open_to_all(folder: Path) -> bool:
    try:
        mode = folder.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and bool(mode & stat.S_IWOTH)


def _take(path: Path, files: list[int], study: str, wait: bool, quiet: bool) -> bool:
    """Lock a file and add it to `files`; return whether others had it.

    If the file was removed meanwhile, its lock is useless: the file that now has its name is locked instead.
    """
    waited = False
    while (file := _open(path)) is not None:
        files.append(file)
        if any(os.path.sameopenfile(file, other) for other in files[:-1]):
            return waited
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                raise _refusal(file) from None
            if not (quiet or waited):
                print(f"waiting for {_holder(file)}: one measurement on a machine at a time", flush=True)
            waited = True
            # A blocking call, which sleeps in the kernel: waiting must not disturb the measurement.
            fcntl.flock(file, fcntl.LOCK_EX)
        if _is_still(file, path):
            write_holder(file, study)
            return waited
        os.close(files.pop())
    return waited


def _open(path: Path) -> int | None:
    """Open the lock's file, creating it if missing; None in a read-only folder, such as a container's own."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
    while True:
        try:
            # First without O_CREAT: in a sticky folder the kernel may refuse O_CREAT for another user's file.
            file = os.open(path, flags)
        except FileNotFoundError:
            mask = os.umask(0)
            try:
                file = os.open(path, flags | os.O_CREAT | os.O_EXCL, _EVERYONE)
            except FileExistsError:
                continue
            except OSError as error:
                if error.errno == errno.EROFS:
                    return None
                raise _unusable(path, str(error.strerror)) from error
            finally:
                os.umask(mask)
        except OSError as error:
            if error.errno == errno.EROFS:
                return None
            raise _unusable(path, str(error.strerror)) from error
        status = os.fstat(file)
        if stat.S_ISREG(status.st_mode) and status.st_nlink <= 1:
            return file
        os.close(file)
        raise _unusable(path, "it is another kind of file, or has a second name")


def _unusable(path: Path, why: str) -> FramewattError:
    return FramewattError(
        f"{path} cannot be the lock of this machine ({why}): every user must be able to read and write it. Run rm "
        f"{path}, as its owner."
    )


def _is_still(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.lstat())
    except FileNotFoundError:
        return False


def _refusal(file: int) -> FramewattError:
    return FramewattError(
        f"this machine measures {_holder(file)}, and may measure one study at a time. Start again when that has ended, "
        "or without wait=False."
    )


def _holder(file: int) -> str:
    """Return who has the lock; if that process has ended, also its children that still have it."""
    holder = read_holder(file)
    if holder is None:
        return "a study without a name"
    words = f"study {holder.study} (process {holder.pid}, since {holder.since:%Y-%m-%d %H:%M:%S} UTC)"
    if not Path("/proc", str(holder.pid)).exists() and (left := _holding(os.fstat(file).st_ino)):
        words += f"; it has ended, but left process {', '.join(map(str, left))}, which you may end"
    return words


def _holding(inode: int) -> list[int]:
    """Return the processes that have a lock on a file, among those that this user may inspect."""
    pids = set()
    for path in Path("/proc").glob("[0-9]*/fdinfo/*"):
        with contextlib.suppress(OSError):
            lines = path.read_text().splitlines()
            if any(line.startswith("lock:") and f":{inode} " in line for line in lines):
                pids.add(int(path.parts[2]))
    return sorted(pids)
