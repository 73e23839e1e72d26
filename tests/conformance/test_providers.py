"""Execution providers are what they claim: every node on the provider, or a list of those that were not."""

import json
import subprocess
from pathlib import Path

import pytest
from checkout import ROOT, python_of

MAKE_MODEL = """
import sys
import onnx
from onnx import TensorProto, helper
inner = [helper.make_node("Det", ["negative"], ["signed"])] if sys.argv[2] == "Det" else []
nodes = [helper.make_node("Neg", ["images"], ["negative"]), *inner,
         helper.make_node("Neg", ["signed" if inner else "negative"], ["scores"])]
graph = helper.make_graph(nodes, "determinants",
                          [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["n", 3, 4, 4])],
                          [helper.make_tensor_value_info("scores", TensorProto.FLOAT, None)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
"""
SCORE = """
import json, sys
from pathlib import Path
import numpy as np
from framewatt.datasets.contract import Images
from framewatt.workloads.contract import Spec
from framewatt.workloads.onnxruntime.engine import make_inference
images = np.random.default_rng(0).random((5, 3, 4, 4), dtype=np.float32)
labels = np.zeros(5, np.int64)
workload = make_inference(Spec("model", 2, "cpu", sys.argv[2], 1, 0, Path(sys.argv[1]), {}),
                          Images(images, labels, images, labels))
workload.setup()
workload.evaluate()
print(json.dumps({name: workload.facts()[name] for name in ("all_nodes_on_provider", "nodes_by_provider")}))
"""


@pytest.fixture
def placed(tmp_path: Path):
    """Where the nodes of a model ran; the model takes determinants, which OpenVINO cannot, or does without."""

    def on(provider: str, build: str, inner: str = "") -> subprocess.CompletedProcess:
        python = python_of(f"onnxruntime/{build}")
        subprocess.run([python, "-c", MAKE_MODEL, tmp_path / "model.onnx", inner], check=True)
        environment = {"PYTHONPATH": str(ROOT / "src")}
        command = [python, "-c", SCORE, tmp_path, provider]
        return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)

    return on


def last_line(answer: subprocess.CompletedProcess) -> dict:
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout.splitlines()[-1])


@pytest.mark.parametrize("provider", ["cpu", "openvino"])
def test_a_provider_that_takes_every_node_is_vouched_for(placed, provider: str) -> None:
    assert last_line(placed(provider, provider)) == {"all_nodes_on_provider": True, "nodes_by_provider": None}


def test_nodes_that_ran_elsewhere_are_told(placed) -> None:
    found = last_line(placed("openvino", "openvino", "Det"))
    assert found["all_nodes_on_provider"] is False
    assert found["nodes_by_provider"]["CPUExecutionProvider"]["Det"] == 1
    assert "OpenVINOExecutionProvider" in found["nodes_by_provider"]


@pytest.mark.parametrize(
    ("provider", "name"), [("openvino", "OpenVINOExecutionProvider"), ("tensorrt", "TensorrtExecutionProvider")]
)
def test_a_provider_that_is_not_installed_is_an_error_and_no_other_takes_its_place(placed, provider, name) -> None:
    answer = placed(provider, "cpu")
    assert answer.returncode != 0
    assert f"provider: this build of ONNX Runtime has no {name}. Use one that it has: " in answer.stderr
