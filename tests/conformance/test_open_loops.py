"""Requests that arrive at a rate, answered by every real framework in the measured process."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from checkout import ROOT, python_of
from stages import run_until

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays

ENVIRONMENTS = {
    "torch": ("torch", "torch"),
    "tensorflow": ("tensorflow", "tensorflow/cpu"),
    "mxnet": ("mxnet", "mxnet/cpu"),
    "onnxruntime": ("torch", "onnxruntime/cpu"),
}
"""By engine: the framework that makes its model, and its environment."""


@pytest.mark.parametrize("engine", ENVIRONMENTS)
def test_every_request_is_answered_and_waits_are_counted(engine: str, tmp_path: Path) -> None:
    framework, environment = ENVIRONMENTS[engine]
    data = {"module": "synthetic", "classes": 10, "train_samples": 8, "test_samples": 12, "seed": 0}
    save_arrays(tmp_path / "data.npz", make_arrays({**data, "shape": [3, 32, 32]}))
    # That an export is what its source was, is asked in test_exports.
    artefact = "export" if engine == "onnxruntime" else "train"
    run_until(artefact, framework, {"model": "mobilenetv2", "weights": "trained"}, tmp_path)
    results = {}
    for load in ("closed", "30/s"):
        out = tmp_path / load.replace("/", "-")
        out.mkdir()
        job = {
            **{"phase": "infer", "engine": engine, "model": "mobilenetv2", "device": "cpu"},
            **{"provider": "cpu" if engine == "onnxruntime" else "native"},
            **{"threads": 1, "seed": 0, "batch_size": 4, "training": {}, "weights": "trained", "repetition": 1},
            **{"data": str(tmp_path / "data.npz"), "artefact": str(tmp_path / artefact)},
            **{name: str(out / name) for name in ("events", "result")},
            "options": {"load": load},
            "window": {"warm_up_batches": 3, "minimum_s": 2},
        }
        (out / "job").write_text(json.dumps(job))
        command = [python_of(environment), "-m", "framewatt.runs.worker", out / "job"]
        path = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(command, env=path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        results[load] = json.loads((out / "result").read_text())
    answered, closed = results["30/s"], results["closed"]
    loop = answered["latency"]["open_loop"]
    assert (answered["units"]["count"], loop["requests"], loop["rate_per_s"]) == (60, 60, 30)
    assert 1 <= loop["largest_batch"] <= 4
    assert 0 < loop["busy_share"] <= 1
    assert answered["quality"] == closed["quality"]
    assert answered["latency"]["p99_s"] >= answered["latency"]["p50_s"] > 0
    assert "open_loop" not in closed["latency"]
    events = [json.loads(line) for line in (tmp_path / "30-s/events").read_text().splitlines()]
    edges = {(event["window"], event["edge"]): event["monotonic_ns"] for event in events}
    start, end = edges["steady", "start"], edges["steady", "end"]
    assert (end - start) * 1e-9 > 0.8 * 60 / 30
    assert edges["warm_up", "end"] <= start < end <= edges["evaluate", "start"]
