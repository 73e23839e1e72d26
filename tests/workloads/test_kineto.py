"""Events of PyTorch's profiler as spans, of versions that tell their types and of one that does not."""

from types import SimpleNamespace
from typing import Any

import pytest

from framewatt.workloads.profilers import ON_HOST, UNKNOWN
from framewatt.workloads.torch.kineto import spans_of

HOST, GPU = SimpleNamespace(name="CPU"), SimpleNamespace(name="CUDA")

EVENTS = (
    # name, type, device, start, end, correlation, linked correlation
    ("framewatt.step", "user_annotation", HOST, 0, 90, 1, 0),
    ("aten::conv2d", "cpu_op", HOST, 10, 40, 2, 0),
    ("cudaLaunchKernel", "cuda_runtime", HOST, 20, 25, 2, 0),
    ("cuLaunchKernelEx", "cuda_driver", HOST, 26, 28, 2, 0),
    ("sm90_implicit_gemm", "kernel", GPU, 60, 100, 0, 2),
    ("Memset (Device)", "gpu_memset", GPU, 100, 101, 0, 0),
    ("framewatt.step", "gpu_user_annotation", GPU, 60, 101, 0, 1),
    ("Memcpy DtoH", "gpu_memcpy", GPU, 101, 103, 0, 77),
)


def event(row: tuple[Any, ...], *, told: bool) -> SimpleNamespace:
    name, kind, device, start, end, correlation, linked = row
    found = {
        **{"name": name, "device_type": device, "start_ns": start, "end_ns": end},
        **{"correlation_id": correlation, "linked_correlation_id": linked, "shapes": [[8, 3], []]},
        **{"device_resource_id": 7, "start_thread_id": 1, "is_user_annotation": "annotation" in kind},
        **({"activity_type": kind} if told else {}),
    }
    return SimpleNamespace(**{key: (lambda value=value: value) for key, value in found.items()})


@pytest.mark.parametrize("told", [True, False])
def test_operators_and_what_they_launched(told: bool) -> None:
    spans = spans_of([event(row, told=told) for row in EVENTS], lambda name: f"api of {name}")
    assert [(one.name, one.shapes, one.thread, one.origin) for one in spans] == [
        ("framewatt.step", "", 1, ON_HOST),
        ("aten::conv2d", "[[8, 3]]", 1, ON_HOST),
        ("sm90_implicit_gemm", "", -8, 1),
        ("Memset (Device)", "", -8, UNKNOWN),
        ("Memcpy DtoH", "", -8, UNKNOWN),
    ]
