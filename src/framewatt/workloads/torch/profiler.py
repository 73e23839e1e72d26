"""PyTorch's profiler (Kineto): operators on the CPU, and kernels where there is a GPU."""

import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from framewatt.workloads.contract import Workload
from framewatt.workloads.profilers import STEP, Span
from framewatt.workloads.torch.kineto import spans_of

_BACKWARD = "autograd::engine::evaluate_function: "
_OPTIMIZER = re.compile(r"Optimizer\.(\w+)#(\w+)\.\w+")
_PLACES = ((torch, "torch"), (torch.nn.functional, "torch.nn.functional"), (torch.Tensor, "torch.Tensor"))


class TorchProfiler:
    """See Profiler.

    Args:
        device: of the workload.
    """

    def __init__(self, device: torch.device) -> None:
        activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device.type == "cuda" else [])
        self._profile = profile(activities=activities, record_shapes=True, acc_events=True)

    def start(self) -> None:
        self._profile.start()

    def step(self) -> AbstractContextManager[Any]:
        return record_function(STEP)  # type: ignore[no-any-return]  # torch is not installed where mypy runs

    def stop(self) -> list[Span]:
        self._profile.stop()
        return spans_of(self._profile.profiler.kineto_results.events(), api_of)


def api_of(name: str) -> str:
    """Return the public function that an outermost operator is called by; empty where that is not known.

    Args:
        name: in the profiler, as `aten::conv2d`.
    """
    if name.startswith(_BACKWARD):
        return "torch.autograd.backward"
    if optimizer := _OPTIMIZER.fullmatch(name):
        return f"torch.optim.{optimizer[2]}.{optimizer[1]}"
    function = name.removeprefix("aten::")
    if function == name:
        return ""
    return next((f"{where}.{function}" for place, where in _PLACES if hasattr(place, function)), "")


def make_profiler(workload: Workload, scratch: Path) -> TorchProfiler:
    """PyTorch's profiler."""
    return TorchProfiler(torch.device(workload.spec.device))
