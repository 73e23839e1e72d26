"""Operators of PyTorch, called alone: those that its profiler counts in the program, each as often."""

import json
from collections import Counter
from pathlib import Path

import pytest
from stages import run_stage

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.profiling.alone import key_of
from framewatt.profiling.timeline import callers_of, innermost
from framewatt.study.cell import environment_of
from framewatt.workloads.profilers import Spans
from framewatt.workloads.repeaters import Case

HEAVY = {"aten::convolution", "aten::convolution_backward", "aten::native_batch_norm_backward"}
LOOP_S = 0.01


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    images = {"module": "synthetic", "shape": [3, 32, 32], "classes": 10, "train_samples": 28, "test_samples": 20}
    save_arrays(tmp_path / "data.npz", make_arrays({**images, "seed": 0}))
    (tmp_path / "captured").mkdir()
    return tmp_path


def test_what_a_step_calls_is_seen_and_called_alone(folder: Path) -> None:
    job = {
        **{"engine": "torch", "phase": "train", "device": "cpu", "threads": 1, "seed": 0, "model": "mobilenetv2"},
        **{"batch_size": 8, "repetition": 1, "provider": "native", "window": {}, "weights": "trained"},
        **{"data": str(folder / "data.npz"), "training": {"epochs": 1, "learning_rate": 0.001, "momentum": 0.9}},
        **{name: str(folder / name) for name in ("events", "result", "spans", "captured")},
        "folder": str(folder),
    }
    environment = environment_of("torch", "cpu")
    run_stage("framewatt.runs.repeat_worker", environment, {**job, "step": "capture"})
    found = json.loads((folder / "result").read_text())
    assert found["cannot"] is None
    cases = [Case.from_dict(one) for one in found["cases"]]
    run_stage("framewatt.runs.timeline_worker", environment, job)
    spans = Spans.load(folder / "spans")
    counted = Counter(
        (str(spans.words[spans.name[place]]), str(spans.words[spans.shapes[place]]))
        for place in callers_of(spans, innermost(spans), {case.name for case in cases}).outermost
    )
    # All steps of the pass were looked at: the first three, and the last, which is smaller.
    heavy = [case for case in cases if case.name in HEAVY]
    assert {case.name for case in heavy} == HEAVY
    seen: Counter[tuple[str, str]] = Counter()
    for case in heavy:
        seen[key_of(case)] += sum(case.calls)
    assert seen == {key: count for key, count in counted.items() if key[0] in HEAVY}

    first = [next(case for case in heavy if case.name == name) for name in sorted(HEAVY)]
    run_stage(
        "framewatt.runs.repeat_worker",
        environment,
        {**job, "step": "repeat", "cases": [one.to_dict() for one in first], "loop_s": LOOP_S},
    )
    told = json.loads((folder / "result").read_text())["cases"]
    assert len(told) == len(first)
    assert all(len(one["calls"]) == 3 and min(one["calls"]) > 0 for one in told)
    events = [json.loads(line) for line in (folder / "events").read_text().splitlines()]
    edges = {(one["window"], one["edge"]): one["monotonic_ns"] for one in events if one["window"].startswith("repeat-")}
    lasted_ns = [
        edges[f"repeat-{n}-{turn}", "end"] - edges[f"repeat-{n}-{turn}", "start"]
        for n in range(len(first))
        for turn in range(3)
    ]
    # However slow the machine: a loop goes on until its time is over.
    assert min(lasted_ns) >= LOOP_S * 1e9
