"""Timelines of real frameworks' profilers: of the program's steps, with every operator of each.

How well their clocks agree with the program's, and how much of a window operators fill, depends on the load of the
machine: see tests/measured/test_timelines_in_time.py.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import CONVOLUTIONS, recorded, save_images
from stages import run_until

from framewatt.profiling.timeline import innermost
from framewatt.study.cell import environment_of
from framewatt.workloads.profilers import HOST_READS, STEP, Spans

TRAINING = {"learning_rate": 0.001, "momentum": 0.9}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_images(tmp_path, train_samples=24, test_samples=16)
    return tmp_path


def check_steps(spans: Spans, framework: str, steps: int) -> None:
    """The profile has as many steps as the program took, in their order, and their convolutions."""
    own = spans.words[spans.name] == STEP
    assert own.sum() == len(spans.steps_ns) == steps
    assert (spans.start_ns[own][1:] >= spans.end_ns[own][:-1]).all()
    inner = innermost(spans)
    names = [inner.kinds[place][0] for place in inner.kind]
    convolutions = sum(CONVOLUTIONS[framework] in name for name in names)
    # Of 52 in the model; frameworks have several names for them.
    assert convolutions >= 10 * steps, sorted(set(names))


@pytest.mark.parametrize("framework", ["tensorflow", "mxnet"])
def test_a_training(framework: str, folder: Path) -> None:
    """PyTorch's is the one below."""
    job = {"engine": framework, "phase": "train", "window": {}, "training": {"epochs": 2, **TRAINING}}
    spans, parts = recorded(folder, environment_of(framework, "cpu"), **job)
    assert len(parts) == 2
    check_steps(spans, framework, 2 * 3)


@pytest.mark.parametrize(("level", "calls"), [pytest.param("epoch", 0, marks=pytest.mark.thorough), ("step", 1)])
def test_losses_that_are_read_in_each_step_are_seen_and_those_after_an_epoch_are_none(
    folder: Path, level: str, calls: int
) -> None:
    options = {} if level == "epoch" else {"options": {"loss_read": level}}
    job = {"engine": "torch", "phase": "train", "window": {}, "training": {"epochs": 2, **TRAINING}}
    spans, parts = recorded(folder, environment_of("torch", "cpu"), **job, **options)
    assert len(parts) == 2
    check_steps(spans, "torch", 2 * 3)
    # The first epoch's losses are read after it where they are not in its steps; those of the last one are read when
    # the profiler has ended.
    assert (spans.words[spans.name] == HOST_READS[0]).sum() == 3 * (1 + calls)
    assert json.loads((folder / "result").read_text())["workload"]["in_force"]["loss_read"] == level


@pytest.mark.parametrize(
    "framework",
    # Of PyTorch and TensorFlow the same profiler sees the training above.
    [*(pytest.param(name, marks=pytest.mark.thorough) for name in ("torch", "tensorflow")), "mxnet", "onnxruntime"],
)
def test_an_inference(framework: str, folder: Path) -> None:
    maker, artefact = ("torch", "export") if framework == "onnxruntime" else (framework, "train")
    run_until(artefact, maker, {"model": "mobilenetv2", "weights": "seeded"}, folder)
    job: dict[str, Any] = {
        **{"engine": framework, "phase": "infer", "provider": "cpu" if framework == "onnxruntime" else "native"},
        "window": {"warm_up_batches": 1, "minimum_s": 0, "passes": 3},
    }
    spans, _ = recorded(folder, environment_of(framework, "cpu", "cpu"), **job, artefact=str(folder / artefact))
    check_steps(spans, framework, 3 * 2)
