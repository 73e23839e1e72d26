"""Profiles of real frameworks: their names are known, and what is profiled is the work and not the loading."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from checkout import ROOT
from stages import run_stage, run_until

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.profiling.api_names import read_rules
from framewatt.profiling.frame import calls_frame, functions_frame, profiled_frame
from framewatt.profiling.own import read_own
from framewatt.runs.profiling import RECORD
from framewatt.study.cell import environment_of

TRAINS = {
    "torch": "torch.autograd.backward",
    "tensorflow": "tf.function",
    "mxnet": "mxnet.nd.waitall",
}
"""Where the frameworks' users find most of a training: waiting is MXNet's."""


def profiled(folder: Path, environment: str, **job: Any) -> tuple[dict[str, Any], pd.DataFrame]:
    """The record of a profiled run, and its functions with their names."""
    made = folder / job["cell_id"]
    made.mkdir()
    whole = {
        **{"device": "cpu", "threads": 1, "seed": 0, "model": "mobilenetv2", "batch_size": 8, "repetition": 1},
        **{"cell": {"workload": "mobilenetv2"}, "provider": "native", "data": str(folder / "data.npz")},
        **{"profile": "windows", "weights": "trained", "training": {}, "folder": str(made), **job},
    }
    run_stage("framewatt.runs.profiling", environment, whole)
    record = json.loads((made / RECORD).read_text())
    (made / RECORD).write_text(json.dumps({**record, "status": "ok", "reason": None}))
    runs, told = read_own([made])
    assert told["status"].tolist() == ["ok"], told["reason"][0]
    rules = read_rules(ROOT / "config" / "api_names.csv")
    return record, functions_frame(profiled_frame("s", runs), calls_frame("s", runs), rules, {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    images = {"module": "synthetic", "shape": [3, 32, 32], "classes": 10, "train_samples": 160, "test_samples": 64}
    save_arrays(tmp_path / "data.npz", make_arrays({**images, "seed": 0}))
    return tmp_path


def of_work(record: dict[str, Any], functions: pd.DataFrame) -> None:
    """The profile is of its pass' windows, and of nothing outside them."""
    took_s = record["passes"]["profiled"]["windows_s"]
    assert 0.5 * took_s < functions["own_time_s"].sum() < 1.02 * took_s
    assert not functions["function"].isin(["load_arrays", "judge", "setup"]).any()
    assert record["passes"]["profiled"]["units"] == record["passes"]["plain"]["units"]


@pytest.mark.parametrize("framework", TRAINS)
def test_a_training_is_named(framework: str, folder: Path) -> None:
    training = {"epochs": 2, "learning_rate": 0.001, "momentum": 0.9}
    record, functions = profiled(
        folder,
        environment_of(framework, "cpu"),
        **{"engine": framework, "phase": "train", "cell_id": "train", "window": {}, "training": training},
    )
    of_work(record, functions)
    shares = functions.groupby("api_name")["share_percent"].sum()
    assert TRAINS[framework] in shares.index, shares.to_string()
    assert shares[TRAINS[framework]] > 5, shares.to_string()


def test_an_inference_in_onnx_runtime_is_one_function(folder: Path) -> None:
    run_until("export", "torch", {"model": "mobilenetv2", "weights": "seeded"}, folder)
    record, functions = profiled(
        folder,
        environment_of("onnxruntime", "cpu", "cpu"),
        **{"engine": "onnxruntime", "phase": "infer", "cell_id": "infer", "provider": "cpu"},
        window={"warm_up_batches": 1, "minimum_s": 0.001, "passes": 5},
        artefact=str(folder / "export"),
    )
    of_work(record, functions)
    shares = functions.groupby("api_name")["share_percent"].sum()
    assert shares["onnxruntime.InferenceSession.run"] > 90
