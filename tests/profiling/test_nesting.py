"""Operators in operators: each moment of a thread belongs to the innermost one, and to its outermost one's API."""

import numpy as np

from framewatt.profiling.timeline import calls_per_step, innermost, steps_without
from framewatt.workloads.profilers import STEP, UNKNOWN, Span, Spans


def found(*spans: tuple[str, str, int, float, float]) -> dict[tuple[str, str], tuple[float, int]]:
    """Nanoseconds and calls by operator and API."""
    inner = innermost(
        Spans.from_spans([Span(name, api, "", thread, start, end) for name, api, thread, start, end in spans], [])
    )
    took = np.bincount(inner.kind, inner.end_ns - inner.start_ns, len(inner.kinds))
    return dict(zip(inner.kinds, zip(took.tolist(), inner.calls.tolist(), strict=True), strict=True))


def test_the_innermost_one_has_the_time_and_the_outermost_one_the_name() -> None:
    assert found(
        ("conv2d", "torch.conv2d", 1, 0, 100),
        ("convolution", "", 1, 10, 90),
        ("empty", "torch.empty", 1, 20, 30),
    ) == {
        ("conv2d", "torch.conv2d"): (20, 1),
        ("convolution", "torch.conv2d"): (70, 1),
        ("empty", "torch.conv2d"): (10, 1),
    }


def test_an_operator_without_an_api_is_named_by_itself() -> None:
    assert found(("kernel", "", 1, 0, 5), ("kernel", "", 1, 6, 8)) == {("kernel", "kernel"): (7, 2)}


def test_steps_are_no_operators() -> None:
    assert found((STEP, "", 1, 0, 100), ("a", "", 1, 10, 20)) == {("a", "a"): (10, 1)}


def test_threads_are_apart_and_streams_overlap() -> None:
    assert found(("a", "", 1, 0, 10), ("b", "", 2, 5, 15), ("a", "", 2, 6, 8)) == {
        ("a", "a"): (10, 1),
        ("b", "b"): (8, 1),
        ("a", "b"): (2, 1),
    }


def test_of_two_that_begin_at_once_the_longer_one_is_outside() -> None:
    assert found(("inside", "", 1, 0, 5), ("outside", "f", 1, 0, 9)) == {
        ("outside", "f"): (4, 1),
        ("inside", "f"): (5, 1),
    }


def test_one_that_goes_on_beyond_its_outer_one_is_cut_and_nothing_counts_twice() -> None:
    assert found(("outer", "f", 1, 0, 10), ("inner", "", 1, 6, 12), ("next", "g", 1, 10, 20)) == {
        ("outer", "f"): (6, 1),
        ("inner", "f"): (4, 1),
        ("next", "g"): (10, 1),
    }


def test_steps_whose_operators_a_profiler_lost_are_counted() -> None:
    """An operator may begin after its step, where an engine works behind the program."""
    steps = [Span(STEP, "", "", 1, start, start + 10) for start in (0, 20, 40, 60)]
    assert steps_without(Spans.from_spans([*steps, Span("a", "", "", 2, 1, 9), Span("a", "", "", 2, 55, 58)], [])) == 2
    assert (
        steps_without(Spans.from_spans([*steps, *(Span("a", "", "", 2, at, at + 1) for at in (1, 35, 41, 99))], []))
        == 0
    )


def test_of_no_span_there_is_nothing() -> None:
    assert found() == {}


def test_times_of_years_keep_their_nanoseconds() -> None:
    long_ago = 1_795_612_449_647_500_003
    spans = Spans.from_spans([Span("a", "", "", 1, long_ago, long_ago + 7)], [])
    assert (spans.end_ns - spans.start_ns).tolist() == [7]


def on_both() -> Spans:
    """An optimizer's step and a convolution on the host, and what both launched on a GPU, later."""
    return Spans.from_spans(
        [
            Span("conv2d", "torch.conv2d", "", 1, 0, 20),
            Span("cudnn", "", "", 1, 5, 15),
            Span("sgd_kernel<float>", "", "", -8, 100, 140, 4),
            Span("implicit_gemm", "", "", -8, 40, 90, 1),
            Span("add_", "torch.Tensor.add_", "", 1, 25, 30),
            Span("memset", "", "", -8, 95, 100, UNKNOWN),
        ],
        [],
    )


def test_what_ran_on_a_gpu_is_named_by_what_launched_it() -> None:
    inner = innermost(on_both(), on_gpu=True)
    took = np.bincount(inner.kind, inner.end_ns - inner.start_ns, len(inner.kinds))
    assert dict(zip(inner.kinds, took.tolist(), strict=True)) == {
        ("cudnn", "torch.conv2d"): 50,
        ("memset", "memset"): 5,
        ("add_", "torch.Tensor.add_"): 40,
    }


def test_what_a_step_launched_itself_has_its_own_name() -> None:
    spans = Spans.from_spans([Span(STEP, "", "", 1, 0, 100), Span("triton_relu", "", "", -8, 10, 20, 0)], [(0, 100)])
    assert innermost(spans, on_gpu=True).kinds == (("triton_relu", "triton_relu"),)


def test_the_host_is_asked_for_apart_from_a_gpu() -> None:
    inner = innermost(on_both())
    assert set(inner.kinds) == {
        ("conv2d", "torch.conv2d"),
        ("cudnn", "torch.conv2d"),
        ("add_", "torch.Tensor.add_"),
    }
    assert (inner.end_ns - inner.start_ns).sum() == 25


def test_calls_are_those_of_a_window_and_not_of_what_lies_around_it() -> None:
    """Set-up until 100, two steps until 200, evaluation until 300, a step until 400; a read of each loss between."""
    times = [("item", 50), (STEP, 110), ("item", 140), (STEP, 150), ("item", 190), *[("item", 250)] * 9, (STEP, 310)]
    spans = Spans.from_spans([Span(name, "", "", 1, at, at + 1) for name, at in times], [])
    begun = spans.start_ns + 50
    assert calls_per_step(spans, ["item"], begun, [(100, 200), (300, 400)]) == 2 / 3
    assert calls_per_step(spans, ["other"], begun, [(100, 200)]) == 0
    assert calls_per_step(spans, ["item"], begun, [(200, 300)]) is None, "no step"
