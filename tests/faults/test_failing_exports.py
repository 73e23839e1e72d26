"""Exports that are damaged, wrong, or not there: results of the study, told as such."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT, python_of

from framewatt.datasets.contract import Images
from framewatt.datasets.storing import save_arrays

MAKE_MODEL = """
import sys
import numpy as np, onnx
from onnx import TensorProto, helper, numpy_helper
weights = numpy_helper.from_array(np.eye(3, dtype=np.float32), "weights")
nodes = [helper.make_node("GlobalAveragePool", ["x"], ["pooled"]), helper.make_node("Flatten", ["pooled"], ["flat"]),
         helper.make_node("MatMul", ["flat", "weights"], ["scores"])]
graph = helper.make_graph(nodes, "means", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 4, 4])],
                          [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 3])], [weights])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
"""


@pytest.fixture(scope="module")
def python() -> Path:
    return python_of("onnxruntime/cpu")


@pytest.fixture
def check(python: Path, tmp_path: Path):
    """Check an export of a model that averages each channel, after something was done to it."""
    images = np.random.default_rng(0).random((8, 3, 4, 4), dtype=np.float32)
    labels = np.arange(8, dtype=np.int64) % 3
    save_arrays(tmp_path / "data.npz", Images(images, labels, images, labels))
    folder = tmp_path / "onnx"
    folder.mkdir()
    subprocess.run([python, "-c", MAKE_MODEL, folder / "model.onnx"], check=True)
    np.save(folder / "reference.npy", images.mean(axis=(2, 3)))

    def run() -> dict:
        job = {
            **{"model": "means", "batch_size": 4, "device": "cpu", "provider": "cpu", "threads": 1, "seed": 0},
            **{"training": {}, "artefact": str(folder), "data": str(tmp_path / "data.npz"), "folder": str(tmp_path)},
            **{"tolerance": 1e-3, "weights": "trained"},
        }
        (tmp_path / "job.json").write_text(json.dumps(job))
        command = [python, "-m", "framewatt.prepare.exporters.check", tmp_path / "job.json"]
        subprocess.run(command, check=True, env={"PYTHONPATH": str(ROOT / "src")})
        return json.loads((tmp_path / "check.json").read_text())

    return run, folder


def test_a_true_export_is_ok(check) -> None:
    run, _ = check
    found = run()
    assert (found["status"], found["opset"], found["equal_predictions_share"]) == ("ok", 17, 1)
    assert found["max_abs_difference"] < 1e-6


def test_the_work_of_a_sample_is_two_operations_a_product(check) -> None:
    run, _ = check
    # A row of 3 means times a matrix of 3 x 3, whatever the batch; averaging is not counted.
    assert run()["flops"] == 2 * 3 * 3


def test_other_scores_than_the_source_gave_deviate(check) -> None:
    run, folder = check
    reference = np.load(folder / "reference.npy")
    reference[0] = reference[0][::-1] + 0.5
    np.save(folder / "reference.npy", reference)
    found = run()
    assert found["status"] == "deviates"
    assert found["reason"].startswith("scores differ by up to ")
    assert found["max_abs_difference"] > 0.5


def test_scores_near_nothing_deviate_as_others_do(check) -> None:
    run, folder = check
    reference = np.load(folder / "reference.npy")
    np.save(folder / "reference.npy", np.zeros_like(reference) + 1e-9)
    assert run()["reason"].endswith("over 1e-12")


def test_a_file_cut_short_is_invalid(check) -> None:
    run, folder = check
    model = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(model[: len(model) // 2])
    found = run()
    assert found["status"] == "invalid"
    assert found["reason"].startswith("onnx.checker: ")


def test_a_model_that_the_runtime_rejects_is_invalid(check) -> None:
    run, folder = check
    model = (folder / "model.onnx").read_bytes()
    # The same length, so that the file still parses: a node of a kind that does not exist.
    (folder / "model.onnx").write_bytes(model.replace(b"MatMul", b"MutMal"))
    found = run()
    assert found["status"] == "invalid"
    assert "MutMal" in found["reason"]
