"""Which call a piece of a timeline belongs to: of operators in operators, of kernels on a device."""

import numpy as np
import pytest

from framewatt.profiling.timeline import NOBODY, callers_of, innermost
from framewatt.workloads.profilers import ON_HOST, STEP, UNKNOWN, Span, Spans


def span(name: str, start: float, end: float, thread: int = 0, by: int = ON_HOST) -> Span:
    return Span(name, "", "", thread, start, end, by)


LISTED = [
    span(STEP, 0, 100),
    span("conv2d", 0, 40),
    span("convolution", 5, 40),
    span("empty", 10, 15),
    span("empty", 50, 60),
    span("convolution", 60, 80),
    span("gemm", 20, 55, thread=-1, by=3),
    span("fill", 70, 90, thread=-1, by=4),
    span("copy", 90, 95, thread=-1, by=UNKNOWN),
]
SPANS = Spans.from_spans(LISTED, [(0, 100)])


def seconds_by(names: set[str], *, on_gpu: bool = False) -> dict[int, float]:
    inner = innermost(SPANS, on_gpu=on_gpu)
    found = callers_of(SPANS, inner, names)
    lasted = inner.end_ns - inner.start_ns
    return {int(one): float(lasted[found.caller == one].sum()) for one in np.unique(found.caller)}


def test_what_an_operator_calls_and_launches_is_its_own() -> None:
    assert seconds_by({"convolution"}) == {2: 35, 5: 20, NOBODY: 5 + 10}
    assert seconds_by({"convolution"}, on_gpu=True) == {2: 35, NOBODY: 20 + 5}


def test_of_operators_that_call_each_other_the_outermost_counts() -> None:
    names = {"convolution", "empty", "conv2d"}
    assert seconds_by(names) == {1: 40, 4: 10, 5: 20}
    assert seconds_by(names, on_gpu=True) == {1: 35, 4: 20, NOBODY: 5}


@pytest.mark.parametrize("on_gpu", [False, True])
def test_every_piece_is_in_one_call_at_most(on_gpu: bool) -> None:
    inner = innermost(SPANS, on_gpu=on_gpu)
    found = callers_of(SPANS, inner, {"convolution", "empty"})
    assert len(found.caller) == len(inner.kind)
    assert set(found.outermost.tolist()) == {2, 4, 5}
    assert found.on_device.sum() == (2 if on_gpu else 0)


def test_without_any_such_operator_nothing_has_a_caller() -> None:
    assert set(seconds_by({"matmul"})) == {NOBODY}
    assert set(seconds_by(set(), on_gpu=True)) == {NOBODY}
