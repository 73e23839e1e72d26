"""PyTorch's profiler (Kineto): operators on the CPU, and kernels where there is a GPU."""

import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from framewatt.workloads.contract import Workload
from framewatt.workloads.profilers import STEP, Span

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
        found: list[Span] = []
        places: dict[int, int] = {}
        launched: list[tuple[int, int]] = []
        for event in self._profile.profiler.kineto_results.events():
            name = event.name()
            on_gpu = event.device_type() != torch.autograd.DeviceType.CPU
            # A GPU shows ranges of the host once more, and the host what it asks of the driver.
            if event.activity_type() not in _OPERATORS or (on_gpu and event.is_user_annotation()):
                continue
            shapes = str([shape for shape in event.shapes() if shape]) if name.startswith("aten::") else ""
            thread = -1 - event.device_resource_id() if on_gpu else event.start_thread_id()
            if not on_gpu:
                places[event.correlation_id()] = len(found)
            elif event.linked_correlation_id():
                launched.append((len(found), event.linked_correlation_id()))
            found.append(Span(name, api_of(name), shapes, thread, event.start_ns(), event.end_ns()))
        for kernel, operator in launched:
            found[kernel] = found[kernel]._replace(by=places.get(operator, -1))
        return found


_OPERATORS = ("cpu_op", "user_annotation", "kernel", "gpu_memcpy", "gpu_memset")


def api_of(name: str) -> str:
    """The public function that an outermost operator is called by; empty where that is not known.

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
