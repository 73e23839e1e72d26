"""Profiles of real frameworks: their functions fill the windows, and the largest is the one that users know."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from recorded_runs import TRAINS, profiled, save_images
from stages import run_until

from framewatt.study.cell import environment_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_images(tmp_path, train_samples=160, test_samples=64)
    return tmp_path


def shares(record: dict[str, Any], functions: pd.DataFrame) -> pd.Series:
    """Return the share of each API name in percent, once the profile was seen to fill its windows."""
    took_s = record["passes"]["profiled"]["windows_s"]
    assert 0.5 * took_s < functions["own_time_s"].sum() < 1.02 * took_s
    return functions.groupby("api_name")["share_percent"].sum()


@pytest.mark.measured(twin="tests/conformance/test_profiled_runs.py::test_a_training_is_named")
@pytest.mark.parametrize("framework", TRAINS)
def test_much_of_a_training_is_what_its_users_know(framework: str, folder: Path) -> None:
    training = {"epochs": 2, "learning_rate": 0.001, "momentum": 0.9}
    job = {"engine": framework, "phase": "train", "cell_id": "train", "window": {}, "training": training}
    found = shares(*profiled(folder, environment_of(framework, "cpu"), **job))
    assert found[TRAINS[framework]] > 5, found.to_string()


@pytest.mark.measured(twin="tests/conformance/test_profiled_runs.py::test_an_inference_in_onnx_runtime_is_one_function")
def test_nearly_all_of_an_inference_in_onnx_runtime_is_one_function(folder: Path) -> None:
    run_until("export", "torch", {"model": "mobilenetv2", "weights": "seeded"}, folder)
    record, functions = profiled(
        folder,
        environment_of("onnxruntime", "cpu", "cpu"),
        **{"engine": "onnxruntime", "phase": "infer", "cell_id": "infer", "provider": "cpu"},
        window={"warm_up_batches": 1, "minimum_s": 0, "passes": 5},
        artefact=str(folder / "export"),
    )
    assert shares(record, functions)["onnxruntime.InferenceSession.run"] > 90
