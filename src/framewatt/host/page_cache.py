"""What the kernel keeps in memory of files: how much it is, and asking the kernel to forget it."""

import ctypes
import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from framewatt.base.errors import FramewattError

DROP = Path("/proc/sys/vm/drop_caches")
"""The kernel's switch that only root may turn, see proc_sys_vm(5)."""

_EVERYTHING = "3\n"
"""Pages of files, and the folders' entries."""

_LIBC = ctypes.CDLL(None, use_errno=True)


def files_below(places: Iterable[Path]) -> Iterator[Path]:
    """All regular files of some places, which are files or folders; links to files elsewhere are followed."""
    for place in places:
        if place.is_file():
            yield place
        for folder, _, names in os.walk(place):
            yield from (path for name in names if (path := Path(folder, name)).is_file())


def in_memory_b(paths: Iterable[Path]) -> tuple[int, int]:
    """Bytes of some files that the kernel has in memory, in whole pages, and the files' size in whole pages.

    Files that may not be read count as nothing. Of a file that is neither its own nor writable by it, the kernel tells
    a process that all of it is in memory; see mincore(2).

    Raises:
        FramewattError: the kernel does not tell.
    """
    held = size = 0
    for path in paths:
        pages = _pages_in_memory(path)
        held += int(pages.sum())
        size += len(pages)
    return held * mmap.PAGESIZE, size * mmap.PAGESIZE


def forget(paths: Iterable[Path], switch: Path = DROP) -> bool:
    """Ask the kernel to forget some files, and where this user may ask for that, all others.

    It keeps what a process has mapped. See posix_fadvise(2); a page that is not written back yet is written first.

    Args:
        paths: the files; those that may not be read are left out.
        switch: the kernel's, for all files.

    Returns:
        Whether all files were to be forgotten.
    """
    os.sync()
    for path in paths:
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)
    try:
        switch.write_text(_EVERYTHING)
    except OSError:
        return False
    return True


def _pages_in_memory(path: Path) -> np.ndarray:
    """For each page of a file whether it is in memory; none of a file that is empty or may not be read."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    except (OSError, ValueError):
        return np.zeros(0, bool)
    with mapped:
        # The view is of the mapping itself, which is asked about and never read.
        view = np.frombuffer(mapped, np.uint8)
        flags = np.zeros(-(-len(view) // mmap.PAGESIZE), np.uint8)
        failed = _LIBC.mincore(
            ctypes.c_void_p(view.ctypes.data), ctypes.c_size_t(len(view)), ctypes.c_void_p(flags.ctypes.data)
        )
        del view
    if failed:
        raise FramewattError(
            f"{path}: found {os.strerror(ctypes.get_errno())} on asking what of it is in memory; allowed: a kernel "
            "that tells (mincore)"
        )
    return (flags & 1).astype(bool)
