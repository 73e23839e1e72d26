"""Exports of every framework are quantised, run in integers, and score near their source."""

import json
from pathlib import Path

import numpy as np
import pytest
from test_exports import run

from framewatt.datasets import make_arrays
from framewatt.datasets.contract import save_arrays
from framewatt.study import environment_of
from framewatt.workloads import FRAMEWORKS

IMAGES = {"module": "digits", "image_size": 32, "test_fraction": 0.2, "seed": 0}
TEXTS = {"module": "synthetic", "shape": [16], "vocabulary": 30522, "classes": 10, "seed": 0}
DATA = {
    "mobilenetv2": {**IMAGES, "train_samples": 96, "test_samples": 32},
    "bert_tiny": {**TEXTS, "train_samples": 20, "test_samples": 6},
}
INTEGER_NODES = {
    "int8_dynamic": {"mobilenetv2": "ConvInteger", "bert_tiny": "MatMulInteger"},
    "int8_static": dict.fromkeys(DATA, "QuantizeLinear"),
}


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory):
    """The export of a model after an epoch of training, with its check; each is made once."""
    made: dict[tuple[str, str], tuple[dict, Path]] = {}

    def make(framework: str, model: str) -> tuple[dict, Path]:
        if (framework, model) not in made:
            made[framework, model] = _make(framework, model, tmp_path_factory.mktemp("export"))
        return made[framework, model]

    return make


def _make(framework: str, model: str, folder: Path) -> tuple[dict, Path]:
    for name in ("train", "export"):
        (folder / name).mkdir()
    save_arrays(folder / "data.npz", make_arrays(DATA[model]))
    job = {
        **{"engine": framework, "model": model, "device": "cpu", "provider": "native", "threads": 2, "seed": 0},
        **{"batch_size": 8, "data": str(folder / "data.npz"), "weights": "trained", "tolerance": None},
        "training": {"epochs": 1, "learning_rate": 0.001, "momentum": 0.9},
    }
    home = environment_of(framework, "cpu")
    run("framewatt.training", home, job | {"folder": str(folder / "train")})
    source = {"artefact": str(folder / "train"), "folder": str(folder / "export")}
    run(f"framewatt.exporters.{framework}", home, job | source)
    return job | {"provider": "cpu", "artefact": str(folder / "export")}, folder


@pytest.mark.parametrize("precision", INTEGER_NODES)
@pytest.mark.parametrize(
    ("framework", "model"), [("torch", "bert_tiny"), *((framework, "mobilenetv2") for framework in FRAMEWORKS)]
)
def test_a_quantised_model_runs_in_integers_near_its_source(
    export, framework: str, model: str, precision: str, tmp_path: Path
) -> None:
    job, source = export(framework, model)
    job = job | {"options": {"precision": precision}}
    run("framewatt.exporters.quantise", "onnxruntime/cpu", job | {"folder": str(tmp_path)})
    record = json.loads((tmp_path / "export.json").read_text())
    train_samples = DATA[model]["train_samples"]
    drawn = {"samples": min(train_samples, 128), "of": "training set"}
    assert record["calibration"] == (drawn if precision == "int8_static" else None)
    assert record["size_b"] < 0.6 * (source / "export" / "model.onnx").stat().st_size

    run("framewatt.exporters.check", "onnxruntime/cpu", job | {"artefact": str(tmp_path), "folder": str(tmp_path)})
    check = json.loads((tmp_path / "check.json").read_text())
    assert (check["status"], check["reason"]) == ("ok", None)
    assert 0 < check["max_abs_difference"] < np.inf
    assert check["source_metrics"].keys() == check["metrics"].keys()
    assert check["integer_nodes"][INTEGER_NODES[precision][model]] > 0
