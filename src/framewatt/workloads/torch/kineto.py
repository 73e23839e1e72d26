"""Events of Kineto, which records for PyTorch's profiler, as spans: operators on the host, kernels on a GPU."""

from collections.abc import Callable, Iterable
from typing import Any

from framewatt.workloads.profilers import ON_HOST, UNKNOWN, Span

_KINDS = ("cpu_op", "user_annotation", "kernel", "gpu_memcpy", "gpu_memset")
"""Types of events that are operators, or ran on a GPU; others are what the host asks of the driver, among them."""

_HOST = "CPU"

_OF_THE_DRIVER = ("cuda", "cu", "hip")
"""What names of the driver's functions begin with, and of no operator (`aten::…`, `autograd::…`, `Optimizer.…`)."""


def spans_of(events: Iterable[Any], api_of: Callable[[str], str]) -> list[Span]:
    """Return the operators, with what they launched on a GPU.

    Args:
        events: of a profile, as `torch.profiler` keeps them.
        api_of: the public function that an operator of a name is called by.
    """
    spans: list[Span] = []
    of_gpu: list[tuple[int, int]] = []
    by_correlation: dict[int, int] = {}
    for event in events:
        name, on_gpu = event.name(), event.device_type().name != _HOST
        # A GPU shows ranges of the host once more.
        if not _counts(event, name, on_gpu) or (on_gpu and event.is_user_annotation()):
            continue
        if on_gpu:
            of_gpu.append((len(spans), event.linked_correlation_id()))
        else:
            by_correlation[event.correlation_id()] = len(spans)
        shapes = str([shape for shape in event.shapes() if shape]) if name.startswith("aten::") else ""
        thread = -1 - event.device_resource_id() if on_gpu else event.start_thread_id()
        spans.append(Span(name, api_of(name), shapes, thread, event.start_ns(), event.end_ns(), ON_HOST))
    for place, correlation in of_gpu:
        # 0 is what no operator launched.
        origin = by_correlation.get(correlation, UNKNOWN) if correlation else UNKNOWN
        spans[place] = spans[place]._replace(origin=origin)
    return spans


def _counts(event: Any, name: str, on_gpu: bool) -> bool:
    """Whether an event is an operator, or ran on a GPU. PyTorch 2.11 does not tell the type of one, 2.15 does."""
    if hasattr(event, "activity_type"):
        return event.activity_type() in _KINDS
    return on_gpu or not name.startswith(_OF_THE_DRIVER)
