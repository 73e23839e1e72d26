"""Operators of real frameworks, called alone: as the profiler counts them in the program, and with their arguments."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stages import run_stage, run_until

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.profiling.called import key_of
from framewatt.profiling.callers import callers_of
from framewatt.profiling.nesting import innermost
from framewatt.study.cell import environment_of
from framewatt.workloads.profilers import STEP, Spans
from framewatt.workloads.repeaters import Case

HEAVY = {
    ("torch", "train"): {"aten::convolution", "aten::convolution_backward", "aten::native_batch_norm_backward"},
    ("onnxruntime", "infer"): {"Conv", "Gemm"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    images = {"module": "synthetic", "shape": [3, 32, 32], "classes": 10, "train_samples": 28, "test_samples": 20}
    save_arrays(tmp_path / "data.npz", make_arrays({**images, "seed": 0}))
    (tmp_path / "captured").mkdir()
    return tmp_path


def whole_job(folder: Path, engine: str, phase: str) -> dict[str, Any]:
    job = {
        **{"engine": engine, "phase": phase, "device": "cpu", "threads": 1, "seed": 0, "model": "mobilenetv2"},
        **{"batch_size": 8, "repetition": 1, "provider": "cpu" if engine == "onnxruntime" else "native"},
        **{"data": str(folder / "data.npz"), "weights": "trained", "training": {}, "window": {}},
        **{name: str(folder / name) for name in ("events", "result", "spans", "captured")},
        "folder": str(folder),
    }
    if phase == "train":
        return {**job, "training": {"epochs": 1, "learning_rate": 0.001, "momentum": 0.9}}
    last = "export" if engine == "onnxruntime" else "train"
    run_until(last, "torch", {"model": "mobilenetv2", "weights": "seeded"}, folder)
    return {
        **job,
        "artefact": str(folder / last),
        "window": {"warm_up_batches": 1, "minimum_s": 0.001, "passes": 1},
    }


@pytest.mark.parametrize(("engine", "phase"), HEAVY)
def test_what_a_step_calls_is_seen_and_called_alone(engine: str, phase: str, folder: Path) -> None:
    job = whole_job(folder, engine, phase)
    environment = environment_of(engine, "cpu", "cpu")
    run_stage("framewatt.runs.capture_worker", environment, job)
    found = json.loads((folder / "result").read_text())
    assert found["cannot"] is None
    cases = [Case.of(one) for one in found["cases"]]
    run_stage("framewatt.runs.timeline_worker", environment, job)
    spans = Spans.load(folder / "spans")
    # ONNX Runtime's profile has a step of warming up before the first.
    began_ns = spans.start_ns[spans.words[spans.name] == STEP].min()
    counted = Counter(
        (str(spans.words[spans.name[place]]), str(spans.words[spans.shapes[place]]))
        for place in callers_of(spans, innermost(spans), {case.name for case in cases}).outermost
        if spans.start_ns[place] >= began_ns
    )
    # All steps of the pass were looked at: the first three, and the last, which is smaller.
    heavy = [case for case in cases if case.name in HEAVY[engine, phase]]
    assert {case.name for case in heavy} == HEAVY[engine, phase]
    seen: Counter[tuple[str, str]] = Counter()
    for case in heavy:
        seen[key_of(case)] += sum(case.calls)
    assert seen == {key: count for key, count in counted.items() if key[0] in HEAVY[engine, phase]}

    first = [next(case for case in heavy if case.name == name) for name in sorted(HEAVY[engine, phase])]
    run_stage(
        "framewatt.runs.repeat_worker", environment, {**job, "cases": [one.to_dict() for one in first], "loop_s": 0.05}
    )
    told = json.loads((folder / "result").read_text())["cases"]
    assert [one["reason"] for one in told] == [None] * len(first)
    assert all(len(one["calls"]) == 3 and min(one["calls"]) > 0 for one in told)
    events = [json.loads(line) for line in (folder / "events").read_text().splitlines()]
    edges = {(one["window"], one["edge"]): one["monotonic_ns"] for one in events if one["window"].startswith("repeat-")}
    lasted_s = [
        1e-9 * (edges[f"repeat-{n}-{turn}", "end"] - edges[f"repeat-{n}-{turn}", "start"])
        for n in range(len(first))
        for turn in range(3)
    ]
    assert np.all(np.array(lasted_s) >= 0.05)
