"""Memory that ran out, memory that a process frees, and files that the kernel has in memory."""

import ctypes
import mmap
import os
import resource
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.study.options import HEAP_STAYS

GPU, MAIN, UNNAMED = "GPU memory", "main memory", "memory"

_PHRASES = {
    # torch, MXNet, the CUDA driver and TensorFlow.
    GPU: (
        "CUDA out of memory",
        "cudaMalloc retry failed: out of memory",
        "cudaMalloc failed: out of memory",
        "CUDA_ERROR_OUT_OF_MEMORY",
        "CUDA error: out of memory",
        "by allocator GPU_",
    ),
    # Python and numpy, C++, torch, MXNet, TensorFlow and the C library.
    MAIN: (
        "MemoryError",
        "std::bad_alloc",
        "DefaultCPUAllocator: can't allocate memory",
        "Failed to allocate CPU Memory",
        "by allocator cpu",
        "by allocator mklcpu",
        "Cannot allocate memory",
    ),
    # ONNX Runtime, on any device.
    UNNAMED: ("Failed to allocate memory for requested buffer",),
}
"""Messages of frameworks about a failed allocation, by the kind of memory."""

_SYSTEM = Path("/")
"""Root of the kernel's files."""


def shortage_in_output(words: str) -> str | None:
    """Return the kind of memory that ran out according to the output of a process, or None.

    Args:
        words: all its output.
    """
    return next((memory for memory, phrases in _PHRASES.items() if any(phrase in words for phrase in phrases)), None)


def processes_killed_for_memory() -> int | None:
    """Return the OOM kills by the kernel, in this cgroup and its children; None where there is no count.

    The count is for the cgroup of this process (version 2, then 1; a container has its own), else for the machine since
    its boot. Source: Linux, Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst, proc(5).
    """
    for path in (*_counters_of_group(), _SYSTEM / "proc/vmstat"):
        try:
            rows = [line.split() for line in path.read_text().splitlines()]
        except OSError:
            continue
        counts = [int(row[1]) for row in rows if len(row) == 2 and row[0] == "oom_kill"]
        if counts:
            return counts[0]
    return None


def _counters_of_group() -> list[Path]:
    """Return the files that may have the OOM kills of this process's cgroup."""
    try:
        groups = [line.split(":", 2) for line in (_SYSTEM / "proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return []
    mounted = _SYSTEM / "sys/fs/cgroup"
    files = [mounted / group.lstrip("/") / "memory.events" for number, _, group in groups if number == "0"]
    return files + [
        mounted / "memory" / group.lstrip("/") / "memory.oom_control"
        for _, controllers, group in groups
        if "memory" in controllers.split(",")
    ]


KEEPING = {"MALLOC_TRIM_THRESHOLD_": str(2**60), "MALLOC_MMAP_MAX_": "0"}
"""Variables by which glibc keeps its heap: no end of it is long enough to be returned, and no block is mapped. Source:
mallopt(3). Heaps of further threads still shrink, by whole pieces of 64 MiB."""

RETURNED = "returned"
"""The freed memory of a process goes back to the kernel; the other case is options.HEAP_STAYS."""

_TRIED_B = 64 << 20
"""Bytes of a test block: over 32 MiB, so that freeing it does not change the size from which glibc maps blocks."""

_FEW = _TRIED_B // (2 << 20) // 2
"""Page faults below which a block was there already: a new block takes one a page, and pages have 2 MiB at most."""


def heap_settings(job: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment variables for the heap that the cell of a job names; none for the default.

    Args:
        job: of a run.
    """
    return dict(KEEPING) if job.get("options", {}).get("heap") == HEAP_STAYS else {}


def heap_in_force() -> str:
    """Return HEAP_STAYS or RETURNED: where a large block goes that this process frees, whatever its allocator is.

    A block is filled, freed, allocated and filled once more. If the process kept it, the second time has no page
    faults. Call this outside measured windows, in the main thread.

    Raises:
        MemoryError: there is no memory for the block.
    """
    _faults_of_filling()
    return HEAP_STAYS if _faults_of_filling() < _FEW else RETURNED


def _faults_of_filling() -> int:
    """Return the page faults of this thread while it fills a block, which it then frees."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
    block = libc.malloc(_TRIED_B)
    if not block:
        raise MemoryError(f"no memory for a block of {_TRIED_B} bytes")
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    ctypes.memset(block, 1, _TRIED_B)
    faults = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before
    libc.free(block)
    return faults


DROP = Path("/proc/sys/vm/drop_caches")
"""The kernel's switch that only root may turn, see proc_sys_vm(5)."""

_EVERYTHING = "3\n"
"""Pages of files, and the folders' entries."""

_LIBC = ctypes.CDLL(None, use_errno=True)


def files_below(places: Iterable[Path]) -> Iterator[Path]:
    """Yield all regular files of some places, which are files or folders; links to files elsewhere are followed."""
    for place in places:
        if place.is_file():
            yield place
        for folder, _, names in os.walk(place):
            yield from (path for name in names if (path := Path(folder, name)).is_file())


def in_memory_b(paths: Iterable[Path]) -> tuple[int, int]:
    """Return the bytes of some files that the kernel has in memory, and the size of the files, both in whole pages.

    Files that may not be read count as nothing. For a file that a process neither owns nor may write, the kernel
    reports that all of it is in memory; see mincore(2).

    Raises:
        FramewattError: the kernel does not report it.
    """
    cached = size = 0
    for path in paths:
        pages = _pages_in_memory(path)
        cached += int(pages.sum())
        size += len(pages)
    return cached * mmap.PAGESIZE, size * mmap.PAGESIZE


def forget(paths: Iterable[Path], switch: Path = DROP) -> bool:
    """Request that the kernel forgets some files, and where this user may request that, all others.

    It keeps what a process has mapped. See posix_fadvise(2); a page that is not written back yet is written first.

    Args:
        paths: the files; those that may not be read are left out.
        switch: the kernel's, for all files.

    Returns:
        whether the kernel was requested to forget all files.
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
    """Return for each page of a file whether it is in memory; no pages where it is empty or may not be read."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    except (OSError, ValueError):
        return np.zeros(0, bool)
    with mapped:
        # The view is the mapping itself. Only its address is used, and it is never read.
        view = np.frombuffer(mapped, np.uint8)
        flags = np.zeros(-(-len(view) // mmap.PAGESIZE), np.uint8)
        failed = _LIBC.mincore(
            ctypes.c_void_p(view.ctypes.data), ctypes.c_size_t(len(view)), ctypes.c_void_p(flags.ctypes.data)
        )
        del view
    if failed:
        raise FramewattError(
            f"{path}: the kernel does not report which pages are in memory ({os.strerror(ctypes.get_errno())}). Use a "
            "kernel with mincore(2)."
        )
    return (flags & 1).astype(bool)
