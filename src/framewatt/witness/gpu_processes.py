"""Processes on the GPUs of a run that are not the run's."""

from collections.abc import Callable
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.meters.gpus import gpus_of
from framewatt.meters.visible import visible_gpus


class GpuProcesses:
    """Counts the compute processes of every visible GPU.

    Source: NVIDIA Management Library API reference, nvmlDeviceGetComputeRunningProcesses.

    Args:
        library: the pynvml module, or what stands in for it.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self._handles: dict[str, Any] = {}
        try:
            library.nvmlInit()
            for gpu in visible_gpus(gpus_of(library)):
                self._handles[f"gpu:{gpu.index}"] = library.nvmlDeviceGetHandleByIndex(gpu.index)
        except (library.NVMLError, FramewattError):
            # A meter of GPUs says so, where one is used.
            self._handles = {}

    @property
    def domains(self) -> list[str]:
        """The GPUs, in the order of their counts."""
        return list(self._handles)

    def pids(self) -> list[set[int] | None]:
        """The processes on each GPU; None where the driver does not tell."""
        return [self._pids(handle) for handle in self._handles.values()]

    def _pids(self, handle: Any) -> set[int] | None:
        try:
            return {process.pid for process in self._library.nvmlDeviceGetComputeRunningProcesses(handle)}
        except self._library.NVMLError:
            return None


def counted(pids: set[int] | None, owns: Callable[[int], bool], lives: Callable[[int], bool]) -> float | None:
    """How many of some processes are neither the run's nor framewatt's.

    Args:
        pids: of the processes; None is unknown.
        owns: whether a process is the run's or framewatt's.
        lives: whether a process can be seen here.

    Returns:
        None where that is not known, as inside a container that has process ids of its own.
    """
    if pids is None:
        return None
    others = [pid for pid in pids if not owns(pid)]
    return float(len(others)) if all(lives(pid) for pid in others) else None
