"""Whether a process ran out of main or GPU memory: by its output, and by the kernel's count of OOM kills."""

from pathlib import Path

GPU, MAIN, UNNAMED = "GPU memory", "main memory", "memory"

_SAID = {
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
    """The kind of memory that ran out according to a process's output, or None.

    Args:
        words: all its output.
    """
    return next((memory for memory, phrases in _SAID.items() if any(phrase in words for phrase in phrases)), None)


def processes_killed_for_memory() -> int | None:
    """OOM kills by the kernel, in this cgroup and its children; None where there is no count.

    The count is that of this process's cgroup (version 2, then 1; a container has its own), else of the machine since
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
    """Candidate files with the OOM kills of this process's cgroup."""
    try:
        groups = [line.split(":", 2) for line in (_SYSTEM / "proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return []
    mounted = _SYSTEM / "sys/fs/cgroup"
    found = [mounted / group.lstrip("/") / "memory.events" for number, _, group in groups if number == "0"]
    return found + [
        mounted / "memory" / group.lstrip("/") / "memory.oom_control"
        for _, controllers, group in groups
        if "memory" in controllers.split(",")
    ]
