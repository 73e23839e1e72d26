"""Requests that arrive at a rate, answered by every real framework in the measured process.

How the loop itself waits and answers is tested on a simulated clock, see tests/runs/test_open_loop.py.
"""

import json
from pathlib import Path

import pytest
from stages import run_stage, run_until

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.runs.batches import FEWEST

ENVIRONMENTS = {
    "torch": ("torch", "torch"),
    "tensorflow": ("tensorflow", "tensorflow/cpu"),
    "mxnet": ("mxnet", "mxnet/cpu"),
    "onnxruntime": ("torch", "onnxruntime/cpu"),
}
"""By engine: the framework that makes its model, and its environment."""
RATE = 50
"""Requests a second."""


@pytest.mark.parametrize("engine", ENVIRONMENTS)
def test_every_request_is_answered_and_waits_are_counted(engine: str, tmp_path: Path) -> None:
    framework, environment = ENVIRONMENTS[engine]
    data = {"module": "synthetic", "classes": 10, "train_samples": 8, "test_samples": 12, "seed": 0}
    save_arrays(tmp_path / "data.npz", make_arrays({**data, "shape": [3, 32, 32]}))
    artefact = "export" if engine == "onnxruntime" else "train"
    run_until(artefact, framework, {"model": "mobilenetv2", "weights": "seeded"}, tmp_path)
    results = {}
    for load in ("closed", f"{RATE}/s"):
        out = tmp_path / load.replace("/", "-")
        out.mkdir()
        job = {
            **{"phase": "infer", "engine": engine, "model": "mobilenetv2", "device": "cpu"},
            **{"provider": "cpu" if engine == "onnxruntime" else "native"},
            # Random weights answer as trained ones do; a record of seeded ones would not judge their answers.
            **{"threads": 1, "seed": 0, "batch_size": 4, "training": {}, "weights": "trained", "repetition": 1},
            **{"data": str(tmp_path / "data.npz"), "artefact": str(tmp_path / artefact), "folder": str(out)},
            **{name: str(out / name) for name in ("events", "result")},
            "options": {"load": load},
            "window": {"warm_up_batches": 1, "minimum_s": 0.1},
        }
        run_stage("framewatt.runs.worker", environment, job)
        results[load] = json.loads((out / "result").read_text())
    answered, closed = results[f"{RATE}/s"], results["closed"]
    loop = answered["latency"]["open_loop"]
    assert (answered["units"]["count"], loop["requests"], loop["rate_per_s"]) == (FEWEST, FEWEST, RATE)
    assert 1 <= loop["largest_batch"] <= 4
    assert 0 < loop["busy_share"] <= 1
    assert answered["quality"] == closed["quality"]
    assert answered["latency"]["p99_s"] >= answered["latency"]["p50_s"] > 0
    assert "open_loop" not in closed["latency"]
    events = [json.loads(line) for line in (out / "events").read_text().splitlines()]
    edges = {(event["window"], event["edge"]): event["monotonic_ns"] for event in events}
    start, end = edges["steady", "start"], edges["steady", "end"]
    # However slow the machine: no window ends before the time for its requests is over.
    assert end - start >= FEWEST / RATE * 1e9
    assert edges["warm_up", "end"] <= start < end <= edges["evaluate", "start"]
