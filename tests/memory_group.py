"""A control group of the kernel that gives the programs in it little memory, and ends one that wants more."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_MOUNTED = Path("/sys/fs/cgroup")
_ENTER = 'echo $$ > "$0" && exec "$@"'


class NoGroupError(Exception):
    """This machine lets nobody here make one."""


@contextmanager
def little_memory(limit_b: int) -> Iterator[list[str]]:
    """Words that put the command after them into a new group, below that of this process.

    Args:
        limit_b: bytes that all its programs may hold together.

    Raises:
        NoGroupError: this machine lets nobody here make one.
    """
    try:
        group = _make(limit_b)
    except OSError as error:
        raise NoGroupError(str(error)) from error
    try:
        yield ["sh", "-c", _ENTER, str(group / "cgroup.procs")]
    finally:
        group.rmdir()


def _make(limit_b: int) -> Path:
    """A group of version 1 or 2, whichever governs memory here, whose programs are not moved to swap instead."""
    rows = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    first = [path for _, controllers, path in rows if "memory" in controllers.split(",")]
    mounted, path = (_MOUNTED / "memory", first[0]) if first else (_MOUNTED, rows[0][2])
    group = mounted / path.lstrip("/") / f"framewatt-test-{os.getpid()}"
    group.mkdir()
    limit, swap = ("memory.limit_in_bytes", "memory.swappiness") if first else ("memory.max", "memory.swap.max")
    try:
        (group / limit).write_text(str(limit_b))
        with suppress(FileNotFoundError):  # a kernel without swap
            (group / swap).write_text("0")
    except OSError:
        group.rmdir()
        raise
    return group
