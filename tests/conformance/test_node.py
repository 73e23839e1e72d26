"""Node.js runs the exported model that Python runs, through the same windows, on the same clock."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT, python_of
from stages import run_until

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays

SHAPES: dict[str, dict[str, Any]] = {
    "mobilenetv2": {"shape": [3, 32, 32]},
    "bert_tiny": {"shape": [16], "vocabulary": 30522},
}
SAMPLES = 6


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory):
    """The folder of a model's data and export; each is made once."""
    made: dict[str, Path] = {}

    def make(model: str) -> Path:
        if model not in made:
            folder = made[model] = tmp_path_factory.mktemp(model)
            data = {"module": "synthetic", "classes": 10, "train_samples": 8, "test_samples": SAMPLES, "seed": 0}
            save_arrays(folder / "data.npz", make_arrays({**data, **SHAPES[model]}))
            run_until("export", "torch", {"model": model, "weights": "trained"}, folder)
        return made[model]

    return make


@pytest.fixture
def measured(exported, tmp_path: Path):
    """Result and events of the measured process for a client."""

    def run(model: str, client: str) -> tuple[dict, list[dict]]:
        folder, out = exported(model), tmp_path / client
        out.mkdir()
        job = {
            **{"phase": "infer", "engine": "onnxruntime", "model": model, "device": "cpu", "provider": "cpu"},
            **{"threads": 2, "seed": 0, "batch_size": 4, "training": {}, "weights": "trained"},
            **{"data": str(folder / "data.npz"), "artefact": str(folder / "export")},
            **{name: str(out / name) for name in ("events", "result")},
            "options": {"client": client},
            "window": {"warm_up_batches": 3, "minimum_s": 0.3},
        }
        (out / "job").write_text(json.dumps(job))
        done = subprocess.run(
            [python_of("onnxruntime/node"), "-m", "framewatt.runs.worker", out / "job"],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        events = [json.loads(line) for line in (out / "events").read_text().splitlines()]
        return json.loads((out / "result").read_text()), events

    return run


@pytest.mark.parametrize("model", SHAPES)
def test_both_clients_tell_the_same_of_a_model(measured, model: str) -> None:
    (python, python_events), (node, node_events) = (measured(model, client) for client in ("python", "node"))
    assert node["quality"] == python["quality"]
    assert node["workload"].keys() == python["workload"].keys()
    assert node["workload"]["in_force"]["client"].startswith("node ")
    assert node["workload"]["libraries"]["onnxruntime-node"]
    assert [(e["window"], e["edge"]) for e in node_events] == [(e["window"], e["edge"]) for e in python_events]


def test_the_window_spans_whole_passes_and_the_minimum(measured) -> None:
    result, events = measured("mobilenetv2", "node")
    at = {(event["window"], event["edge"]): event["monotonic_ns"] for event in events}
    duration_s = (at["steady", "end"] - at["steady", "start"]) / 1e9
    assert 0.3 <= duration_s < 3
    batches = result["latency"]["batches"]
    # Batches of 4 and of 2, in turns.
    assert result["units"]["count"] == 3 * batches + batches % 2
    assert result["latency"]["mean_s"] == pytest.approx(duration_s / batches)


def test_the_clock_of_node_is_the_samplers(measured) -> None:
    before_ns = time.monotonic_ns()
    _, events = measured("mobilenetv2", "node")
    instants = [before_ns, *(event["monotonic_ns"] for event in events), time.monotonic_ns()]
    assert instants == sorted(instants)


def test_what_node_says_is_told() -> None:
    program = "from framewatt.workloads.onnxruntime.node import *; run_client(Path('nowhere.json'))"
    done = subprocess.run(
        [python_of("onnxruntime/node"), "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "RuntimeError: Node.js ended with exit code 1: Error: ENOENT: no such file" in done.stderr
