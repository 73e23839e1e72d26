"""Whether memory that a process lets go of stays with it: asked for by variables of glibc, and tried out.

By default glibc maps large blocks, and returns them, and the end of its heap, to the kernel when they are freed. Each
page that is then asked for again is a page fault.
"""

import ctypes
import resource
from collections.abc import Mapping
from typing import Any

from framewatt.study.options import KEPT

KEEPING = {"MALLOC_TRIM_THRESHOLD_": str(2**60), "MALLOC_MMAP_MAX_": "0"}
"""Variables by which glibc keeps its heap: no end of it is long enough to be returned, and no block is mapped. Source:
mallopt(3). Heaps of further threads still shrink, by whole pieces of 64 MiB."""

RETURNED = "returned"
"""What a process does whose freed memory goes back to the kernel; the other is options.KEPT."""

_TRIED_B = 64 << 20
"""Bytes of a block that is tried: over 32 MiB, so that freeing it does not change from where on glibc maps blocks."""

_FEW = _TRIED_B // (2 << 20) // 2
"""Page faults below which a block was there already: a new one takes one a page, and pages have 2 MiB at most."""


def heap_settings(job: Mapping[str, Any]) -> dict[str, str]:
    """Variables of the environment for the heap that a job's cell names; none for the default.

    Args:
        job: of a run.
    """
    return dict(KEEPING) if job.get("options", {}).get("heap") == KEPT else {}


def heap_in_force() -> str:
    """KEPT or RETURNED: what becomes of a large block that this process frees, whatever its allocator is.

    A block is filled, freed, asked for and filled once more: if it was kept, the second time is without page faults. To
    be called outside of what is measured, by the main thread.

    Raises:
        MemoryError: there is no memory for the block.
    """
    _faults_of_filling()
    return KEPT if _faults_of_filling() < _FEW else RETURNED


def _faults_of_filling() -> int:
    """Page faults of this thread while it fills a block, which it frees."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
    block = libc.malloc(_TRIED_B)
    if not block:
        raise MemoryError(f"found no memory for a block of {_TRIED_B} bytes")
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    ctypes.memset(block, 1, _TRIED_B)
    faults = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before
    libc.free(block)
    return faults
