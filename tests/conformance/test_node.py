"""Node.js runs the exported model that Python runs, through the same windows, on the same clock."""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from stages import end_of, run_stage, run_until

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.runs.conditions import ignored

SHAPES: dict[str, dict[str, Any]] = {
    "mobilenetv2": {"shape": [3, 32, 32]},
    "bert_tiny": {"shape": [16], "vocabulary": 30522},
}
SAMPLES = 6


MINIMUM_S = 0.2


class Measured(NamedTuple):
    """What the measured process of a client gave, and when it was started and had ended, in CLOCK_MONOTONIC."""

    result: dict[str, Any]
    events: list[dict[str, Any]]
    began_ns: int
    ended_ns: int


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory):
    """The measured process of a model for a client; each runs once."""
    exported: dict[str, Path] = {}
    known: dict[tuple[str, str], Measured] = {}

    def export(model: str) -> Path:
        if model not in exported:
            folder = exported[model] = tmp_path_factory.mktemp(model)
            data = {"module": "synthetic", "classes": 10, "train_samples": 8, "test_samples": SAMPLES, "seed": 0}
            save_arrays(folder / "data.npz", make_arrays({**data, **SHAPES[model]}))
            run_until("export", "torch", {"model": model, "weights": "seeded"}, folder)
        return exported[model]

    def run(model: str, client: str) -> Measured:
        if (model, client) not in known:
            folder, out = export(model), tmp_path_factory.mktemp(client)
            job = {
                **{"phase": "infer", "engine": "onnxruntime", "model": model, "device": "cpu", "provider": "cpu"},
                # Random weights answer as trained ones do; a record of seeded ones would not judge their answers.
                **{"threads": 1, "seed": 0, "batch_size": 4, "training": {}, "weights": "trained"},
                **{"data": str(folder / "data.npz"), "artefact": str(folder / "export"), "folder": str(out)},
                **{name: str(out / name) for name in ("events", "result")},
                "options": {"client": client},
                "window": {"warm_up_batches": 3, "minimum_s": MINIMUM_S},
            }
            began_ns = time.monotonic_ns()
            run_stage("framewatt.runs.worker", "onnxruntime/node", job)
            ended_ns = time.monotonic_ns()
            events = [json.loads(line) for line in (out / "events").read_text().splitlines()]
            result = json.loads((out / "result").read_text())
            known[model, client] = Measured(result, events, began_ns, ended_ns)
        return known[model, client]

    return run


@pytest.mark.parametrize("model", SHAPES)
def test_both_clients_tell_the_same_of_a_model(measured, model: str) -> None:
    python, node = (measured(model, client) for client in ("python", "node"))
    assert node.result["quality"] == python.result["quality"]
    assert node.result["workload"].keys() == python.result["workload"].keys()
    assert node.result["workload"]["in_force"]["client"].startswith("node ")
    assert node.result["workload"]["libraries"]["onnxruntime-node"]
    for each, client in ((python, "python"), (node, "node")):
        assert each.result["workload"]["options"]["client"] == {"requested": client, "in_force": client}
        assert list(ignored(each.result["workload"]["options"])) == []
    edges = [[(one["window"], one["edge"]) for one in each.events] for each in (node, python)]
    assert edges[0] == edges[1]


def test_the_window_spans_whole_passes_and_the_minimum(measured) -> None:
    node = measured("mobilenetv2", "node")
    at = {(event["window"], event["edge"]): event["monotonic_ns"] for event in node.events}
    duration_s = (at["steady", "end"] - at["steady", "start"]) / 1e9
    assert duration_s >= MINIMUM_S
    batches = node.result["latency"]["batches"]
    # Batches of 4 and of 2, in turns.
    assert node.result["units"]["count"] == 3 * batches + batches % 2
    assert node.result["latency"]["mean_s"] == pytest.approx(duration_s / batches)


def test_the_clock_of_node_is_the_samplers(measured) -> None:
    node = measured("mobilenetv2", "node")
    instants = [node.began_ns, *(event["monotonic_ns"] for event in node.events), node.ended_ns]
    assert instants == sorted(instants)


def test_what_node_says_is_told(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("from framewatt.workloads.onnxruntime.node import *; run_client(Path('nowhere.json'))")
    ended = end_of("onnxruntime/node", program)
    assert "RuntimeError: Node.js ended with exit code 1: Error: ENOENT: no such file" in ended.err
