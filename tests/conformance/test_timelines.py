"""Timelines of real frameworks' profilers: on the program's clock, of its steps, each operator once."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stages import run_stage, run_until

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.energy.accounting import spans_of
from framewatt.profiling.clock import Clock, clock_of
from framewatt.profiling.nesting import calls_per_step, innermost
from framewatt.study.cell import environment_of
from framewatt.workloads.profilers import HOST_READS, STEP, Spans

CONVOLUTIONS = {
    "torch": "aten::mkldnn_convolution",
    "tensorflow": "Conv2D",
    "mxnet": "Convolution",
    "onnxruntime": "Conv",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    images = {"module": "synthetic", "shape": [3, 32, 32], "classes": 10, "train_samples": 80, "test_samples": 64}
    save_arrays(tmp_path / "data.npz", make_arrays({**images, "seed": 0}))
    return tmp_path


def recorded(folder: Path, environment: str, **job: Any) -> tuple[Spans, list[tuple[int, int]]]:
    """The spans of a recorded run, and the parts of its timed window."""
    whole = {
        **{"device": "cpu", "threads": 1, "seed": 0, "model": "mobilenetv2", "batch_size": 8, "repetition": 1},
        **{"provider": "native", "data": str(folder / "data.npz"), "weights": "trained", "training": {}},
        **{name: str(folder / name) for name in ("events", "result", "spans")},
        "folder": str(folder),
        **job,
    }
    run_stage("framewatt.runs.timeline_worker", environment, whole)
    events = [json.loads(line) for line in (folder / "events").read_text().splitlines()]
    return Spans.load(folder / "spans"), spans_of(events)["steady"]


def clock(spans: Spans) -> Clock:
    steps = spans.words[spans.name] == STEP
    return clock_of(np.column_stack((spans.start_ns[steps], spans.end_ns[steps])), spans.steps_ns)


def lies_in_the_window(spans: Spans, parts: list[tuple[int, int]], steps: int) -> dict[str, float]:
    """Seconds of each operator in the window, once its timeline was found to be right."""
    assert len(spans.steps_ns) == steps
    found = clock(spans)
    assert found.uncertainty_ns < 300_000
    assert abs(found.drift) < 1e-3
    inner = innermost(spans)
    start, end = (1e9 * found.monotonic_s(edge) for edge in (inner.start_ns, inner.end_ns))
    slack_ns = 3 * found.uncertainty_ns
    within = np.zeros(len(start), bool)
    for first, last in parts:
        within |= (start >= first - slack_ns) & (end <= last + slack_ns)
    seconds: dict[str, float] = {}
    for place, takes in zip(inner.kind[within], (end - start)[within], strict=True):
        name = inner.kinds[place][0]
        seconds[name] = seconds.get(name, 0.0) + 1e-9 * takes
    window_s = 1e-9 * sum(last - first for first, last in parts)
    print({name: round(took / window_s, 3) for name, took in sorted(seconds.items(), key=lambda one: -one[1])[:12]})
    assert 0.4 * window_s < sum(seconds.values()) <= 1.01 * window_s, (window_s, seconds)
    return seconds


@pytest.mark.parametrize("framework", ["torch", "tensorflow", "mxnet"])
def test_a_training(framework: str, folder: Path) -> None:
    training = {"epochs": 3, "learning_rate": 0.001, "momentum": 0.9}
    spans, parts = recorded(
        folder, environment_of(framework, "cpu"), engine=framework, phase="train", window={}, training=training
    )
    assert len(parts) == 3
    # TensorFlow traces its graph in the first epoch, in which little is an operator.
    seconds = lies_in_the_window(spans, parts[1:], 30)
    assert any(CONVOLUTIONS[framework] in name for name in seconds), seconds


@pytest.mark.parametrize(("level", "calls"), [pytest.param("epoch", 0, marks=pytest.mark.thorough), ("step", 1)])
def test_losses_that_are_read_in_each_step_are_seen_and_those_after_an_epoch_are_none(
    folder: Path, level: str, calls: int
) -> None:
    training = {"epochs": 2, "learning_rate": 0.001, "momentum": 0.9}
    options = {} if level == "epoch" else {"options": {"loss_read": level}}
    job = {"engine": "torch", "phase": "train", "window": {}, "training": training, "batch_size": 20}
    spans, parts = recorded(folder, environment_of("torch", "cpu"), **job, **options)
    # Those of the last epoch are read when the profiler has ended.
    assert (spans.words[spans.name] == HOST_READS[0]).sum() == 4 * (1 + calls)
    assert calls_per_step(spans, HOST_READS, 1e9 * clock(spans).monotonic_s(spans.start_ns), parts) == calls
    assert json.loads((folder / "result").read_text())["workload"]["in_force"]["loss_read"] == level


@pytest.mark.parametrize("framework", ["torch", "tensorflow", "mxnet", "onnxruntime"])
def test_an_inference(framework: str, folder: Path) -> None:
    maker = "torch" if framework == "onnxruntime" else framework
    run_until(
        "export" if framework == "onnxruntime" else "train",
        maker,
        {"model": "mobilenetv2", "weights": "seeded"},
        folder,
    )
    spans, parts = recorded(
        folder,
        environment_of(framework, "cpu", "cpu"),
        **{"engine": framework, "phase": "infer", "provider": "cpu" if framework == "onnxruntime" else "native"},
        window={"warm_up_batches": 1, "minimum_s": 0.001, "passes": 5},
        artefact=str(folder / ("export" if framework == "onnxruntime" else "train")),
    )
    seconds = lies_in_the_window(spans, parts, 40)
    assert any(CONVOLUTIONS[framework] in name for name in seconds), seconds
