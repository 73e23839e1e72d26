"""Timelines of real frameworks' profilers on the clock of the program, and how much of a window operators fill."""

from pathlib import Path

import numpy as np
import pytest
from recorded_runs import CONVOLUTIONS, recorded, save_images
from stages import run_until

from framewatt.profiling.timeline import Clock, calls_per_step, clock_of, innermost
from framewatt.study.cell import environment_of
from framewatt.workloads.profilers import HOST_READS, STEP, Spans


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_images(tmp_path, train_samples=80, test_samples=64)
    return tmp_path


def clock(spans: Spans) -> Clock:
    steps = spans.words[spans.name] == STEP
    return clock_of(np.column_stack((spans.start_ns[steps], spans.end_ns[steps])), spans.steps_ns)


def check_window(spans: Spans, parts: list[tuple[int, int]], framework: str) -> None:
    """Operators lie in the window, on its clock, and fill most of it."""
    found = clock(spans)
    assert found.uncertainty_ns < 300_000
    assert abs(found.drift) < 1e-3
    inner = innermost(spans)
    start, end = (1e9 * found.monotonic_s(edge) for edge in (inner.start_ns, inner.end_ns))
    slack_ns = 3 * found.uncertainty_ns
    within = np.zeros(len(start), bool)
    for first, last in parts:
        within |= (start >= first - slack_ns) & (end <= last + slack_ns)
    window_s = 1e-9 * sum(last - first for first, last in parts)
    seconds = 1e-9 * float((end - start)[within].sum())
    assert 0.4 * window_s < seconds <= 1.01 * window_s, (window_s, seconds)
    assert any(CONVOLUTIONS[framework] in inner.kinds[place][0] for place in inner.kind[within])


@pytest.mark.measured(twin="tests/conformance/test_timelines.py::test_a_training")
@pytest.mark.parametrize("framework", ["tensorflow", "mxnet"])
def test_operators_of_a_training_lie_in_its_window(framework: str, folder: Path) -> None:
    training = {"epochs": 3, "learning_rate": 0.001, "momentum": 0.9}
    job = {"engine": framework, "phase": "train", "window": {}, "training": training}
    spans, parts = recorded(folder, environment_of(framework, "cpu"), anew=True, **job)
    # TensorFlow traces its graph in the first epoch, in which little is an operator.
    check_window(spans, parts[1:], framework)


@pytest.mark.measured(
    twin="tests/conformance/test_timelines.py"
    "::test_losses_that_are_read_in_each_step_are_seen_and_those_after_an_epoch_are_none"
)
def test_losses_of_pytorch_are_read_in_the_window(folder: Path) -> None:
    training = {"epochs": 3, "learning_rate": 0.001, "momentum": 0.9}
    job = {"engine": "torch", "phase": "train", "window": {}, "training": training, "options": {"loss_read": "step"}}
    spans, parts = recorded(folder, environment_of("torch", "cpu"), anew=True, **job)
    check_window(spans, parts[1:], "torch")
    assert calls_per_step(spans, HOST_READS, 1e9 * clock(spans).monotonic_s(spans.start_ns), parts) == 1


@pytest.mark.measured(twin="tests/conformance/test_timelines.py::test_an_inference")
def test_nodes_of_onnx_runtime_lie_in_its_window(folder: Path) -> None:
    run_until("export", "torch", {"model": "mobilenetv2", "weights": "seeded"}, folder)
    spans, parts = recorded(
        folder,
        environment_of("onnxruntime", "cpu", "cpu"),
        **{"engine": "onnxruntime", "phase": "infer", "provider": "cpu"},
        window={"warm_up_batches": 1, "minimum_s": 0, "passes": 5},
        artefact=str(folder / "export"),
        anew=True,
    )
    check_window(spans, parts, "onnxruntime")
