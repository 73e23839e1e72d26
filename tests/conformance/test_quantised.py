"""Exports of every framework are quantised, run in integers, and score near their source."""

import json
from pathlib import Path

import numpy as np
import pytest
from stages import run_stage, run_until

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.study.runtimes import FRAMEWORKS

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
    """The folder in which a model was exported after an epoch of training; each is made once."""
    made: dict[tuple[str, str], Path] = {}

    def make(framework: str, model: str) -> Path:
        if (framework, model) not in made:
            folder = made[framework, model] = tmp_path_factory.mktemp("export")
            save_arrays(folder / "data.npz", make_arrays(DATA[model]))
            run_until("export", framework, {"model": model, "weights": "trained"}, folder)
        return made[framework, model]

    return make


@pytest.mark.parametrize("precision", INTEGER_NODES)
@pytest.mark.parametrize(
    ("framework", "model"),
    [
        ("torch", "bert_tiny"),
        *(
            pytest.param(framework, "mobilenetv2", marks=() if framework == "mxnet" else pytest.mark.thorough)
            for framework in FRAMEWORKS
        ),
    ],
)
def test_a_quantised_model_runs_in_integers_near_its_source(
    export, framework: str, model: str, precision: str, tmp_path: Path
) -> None:
    source = export(framework, model)
    job = {
        **{"engine": "onnxruntime", "model": model, "device": "cpu", "provider": "cpu", "threads": 1, "seed": 0},
        **{"batch_size": 4, "training": {}, "options": {"precision": precision}, "weights": "trained"},
        **{"data": str(source / "data.npz"), "tolerance": None, "folder": str(tmp_path)},
    }
    run_stage("framewatt.prepare.exporters.quantise", "onnxruntime/cpu", job | {"artefact": str(source / "export")})
    record = json.loads((tmp_path / "export.json").read_text())
    train_samples = DATA[model]["train_samples"]
    drawn = {"samples": min(train_samples, 128), "of": "training set"}
    assert record["calibration"] == (drawn if precision == "int8_static" else None)
    assert record["size_b"] < 0.6 * (source / "export" / "model.onnx").stat().st_size

    run_stage("framewatt.prepare.exporters.check", "onnxruntime/cpu", job | {"artefact": str(tmp_path)})
    check = json.loads((tmp_path / "check.json").read_text())
    assert (check["status"], check["reason"]) == ("ok", None)
    assert 0 < check["max_abs_difference"] < np.inf
    assert check["source_quality"].keys() == check["quality"].keys()
    assert check["integer_nodes"][INTEGER_NODES[precision][model]] > 0
