"""Finds and ends processes that a child leaves behind, even if they have left its process group."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
"""prctl(2)."""

_LIBC = ctypes.CDLL(None, use_errno=True)

_END_WITHIN_S = 5.0


def adopt_orphans() -> None:
    """Make this process the subreaper: orphaned descendants become its children (Linux, since 3.4)."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def ended_with_parent() -> Callable[[], None]:
    """A function for a child to call first, so that the kernel kills it when the thread that started it ends.

    It is for subprocess's `preexec_fn`, where no other thread runs.
    """
    parent = os.getpid()

    def ask() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return ask


def children() -> set[int]:
    """Process ids of this process's children, without zombies."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # Fields after the name, which is in parentheses and may hold any character: state, parent, … (proc(5)).
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z":
            found.add(int(stat.parent.name))
    return found


def end_orphans(spared: set[int]) -> None:
    """Kill all children except `spared`, and the orphans that this process adopts as a result.

    Args:
        spared: process ids of the children to keep.
    """
    deadline = time.monotonic() + _END_WITHIN_S
    while (strays := children() - spared) and time.monotonic() < deadline:
        for pid in strays:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
