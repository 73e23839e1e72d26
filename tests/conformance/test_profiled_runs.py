"""Profiles of real frameworks: their names are known, and what is profiled is the work and not the loading.

What share of a profile a function has depends on the load of the machine: see tests/measured/test_profiles_in_time.py.
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from recorded_runs import TRAINS, profiled
from stages import run_until

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.study.cell import environment_of

MODEL = "digit_tagger"
"""The smallest, since each of its two processes imports its framework anew."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    numbers = {"module": "numbers", "longest": 8, "test_fraction": 0.2, "seed": 0}
    save_arrays(tmp_path / "data.npz", make_arrays({**numbers, "train_samples": 32, "test_samples": 16}))
    return tmp_path


def of_work(record: dict[str, Any], functions: pd.DataFrame) -> None:
    """Nothing outside the windows of the profiled pass is in the profile, and both passes do the same work."""
    assert not functions["function"].isin(["load_arrays", "judge", "setup"]).any()
    assert record["passes"]["profiled"]["units"] == record["passes"]["plain"]["units"]


def calls_of(functions: pd.DataFrame, api_name: str) -> int:
    """Calls of the function of an API that is called most."""
    return int(functions.loc[functions["api_name"] == api_name, "calls"].max())


@pytest.mark.parametrize("framework", TRAINS)
def test_a_training_is_named(framework: str, folder: Path) -> None:
    training = {"epochs": 2, "learning_rate": 0.001, "momentum": 0.9}
    record, functions = profiled(
        folder,
        environment_of(framework, "cpu"),
        **{
            "engine": framework,
            "phase": "train",
            "cell_id": "train",
            "model": MODEL,
            "window": {},
            "training": training,
        },
    )
    of_work(record, functions)
    # MXNet waits after an epoch; the others have a call in each of four steps.
    assert calls_of(functions, TRAINS[framework]) >= 2 * (1 if framework == "mxnet" else 4)


def test_an_inference_in_onnx_runtime_is_one_function(folder: Path) -> None:
    run_until("export", "torch", {"model": MODEL, "weights": "seeded"}, folder)
    record, functions = profiled(
        folder,
        environment_of("onnxruntime", "cpu", "cpu"),
        **{"engine": "onnxruntime", "phase": "infer", "cell_id": "infer", "model": MODEL, "provider": "cpu"},
        window={"warm_up_batches": 1, "minimum_s": 0, "passes": 5},
        artefact=str(folder / "export"),
    )
    of_work(record, functions)
    assert calls_of(functions, "onnxruntime.InferenceSession.run") >= 5 * 2
