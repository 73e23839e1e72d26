"""Checks of the GPUs for anything that disturbs a measurement."""

import os
from collections.abc import Iterator
from typing import Any

from framewatt.meters.gpus import gpus_of
from framewatt.meters.throttling import throttled_shares
from framewatt.meters.visible import visible_gpus
from framewatt.preflight.finding import HOT_C, Finding


def gpu_findings(library: Any = None) -> Iterator[Finding]:
    """Findings about every NVIDIA GPU that a run may use; none where no driver answers.

    Args:
        library: a replacement for the pynvml module, for tests.

    Raises:
        FramewattError: CUDA_VISIBLE_DEVICES names a GPU about which the driver reports nothing.
    """
    if library is None:
        try:
            import pynvml
        except ImportError:
            return
        library = pynvml
    try:
        library.nvmlInit()
    except library.NVMLError:
        return
    try:
        for gpu in visible_gpus(gpus_of(library)):
            yield from _gpu(library, gpu.index)
    finally:
        library.nvmlShutdown()


def _gpu(library: Any, index: int) -> Iterator[Finding]:
    handle = library.nvmlDeviceGetHandleByIndex(index)

    def answer(name: str, *arguments: Any) -> Any:
        """Result of an NVML call, or None where this GPU does not support it."""
        try:
            return getattr(library, name)(handle, *arguments)
        except library.NVMLError:
            return None

    others = [p for p in answer("nvmlDeviceGetComputeRunningProcesses") or [] if p.pid != os.getpid()]
    if others:
        yield Finding(
            "GPU processes", f"{len(others)} on GPU {index}", "their work is measured too", "end them, or wait for them"
        )
    if answer("nvmlDeviceGetPersistenceMode") == 0:
        yield Finding(
            "GPU persistence",
            f"off on GPU {index}",
            "the driver is loaded anew for every run",
            "nvidia-smi --persistence-mode=1",
        )
    reasons = throttled_shares([answer("nvmlDeviceGetCurrentClocksThrottleReasons") or 0])
    if reasons:
        yield Finding(
            "GPU throttling", f"GPU {index}: {', '.join(reasons)}", "its clock is held down", "cool it, raise its limit"
        )
    temperature_c = answer("nvmlDeviceGetTemperature", library.NVML_TEMPERATURE_GPU) or 0
    if temperature_c > HOT_C:
        yield Finding(
            "GPU temperature",
            f"{temperature_c} °C on GPU {index}",
            "it will lower its clock soon",
            "let it cool, mend its cooling",
        )
