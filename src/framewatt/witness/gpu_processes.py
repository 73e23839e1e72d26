"""Counts processes on a run's GPUs that do not belong to the run."""

from collections.abc import Callable
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.meters.gpus import gpus_of
from framewatt.meters.visible import visible_gpus


class GpuProcesses:
    """Counts the compute processes of every visible GPU.

    Source: NVIDIA Management Library API reference, nvmlDeviceGetComputeRunningProcesses.

    Args:
        library: the pynvml module, or a replacement for tests.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self._handles: dict[str, Any] = {}
        try:
            library.nvmlInit()
            for gpu in visible_gpus(gpus_of(library)):
                self._handles[f"gpu:{gpu.index}"] = library.nvmlDeviceGetHandleByIndex(gpu.index)
        except (library.NVMLError, FramewattError):
            # If a GPU meter is used, it reports this error.
            self._handles = {}

    @property
    def domains(self) -> list[str]:
        """Domains of the GPUs, in the order of their counts."""
        return list(self._handles)

    def pids(self) -> list[set[int] | None]:
        """Process ids on each GPU; None where the driver does not list them."""
        return [self._pids(handle) for handle in self._handles.values()]

    def _pids(self, handle: Any) -> set[int] | None:
        try:
            return {process.pid for process in self._library.nvmlDeviceGetComputeRunningProcesses(handle)}
        except self._library.NVMLError:
            return None


def counted(pids: set[int] | None, owns: Callable[[int], bool], lives: Callable[[int], bool]) -> float | None:
    """How many of the processes belong neither to the run nor to framewatt.

    Args:
        pids: process ids; None is unknown.
        owns: whether a process belongs to the run or to framewatt.
        lives: whether a process id exists here.

    Returns:
        None where unknown, as in a container with its own process ids.
    """
    if pids is None:
        return None
    others = [pid for pid in pids if not owns(pid)]
    return float(len(others)) if all(lives(pid) for pid in others) else None
