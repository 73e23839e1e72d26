"""An input of a user's ONNX file that has the name of carried state gets the user's samples, and not zeros."""

import subprocess

from checkout import ROOT, python_of

PROGRAM = """
import sys
from pathlib import Path
import numpy as np, onnx
from onnx import TensorProto, helper
from framewatt.datasets.contract import Samples
from framewatt.workloads.contract import Spec
from framewatt.workloads.onnxruntime.engine import make_inference

folder = Path(sys.argv[1])
given, out = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in ("state_0", "out"))
graph = helper.make_graph([helper.make_node("Neg", ["state_0"], ["out"])], "own", [given], [out])
opsets = [helper.make_opsetid("", 20)]
onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), folder / "model.onnx")
samples = np.arange(6, dtype=np.float32).reshape(3, 2)
labels = np.array([0, 1, 1])
data = Samples(samples, labels, samples, labels, main="state_0", channels_first=False)
inference = make_inference(Spec("own", 2, "cpu", "cpu", 1, 0, folder, {}), data)
inference.setup()
assert (inference.evaluate() == -samples).all()
print("as given")
"""


def test_an_input_called_as_state_gets_the_samples(tmp_path) -> None:
    done = subprocess.run(
        [python_of("onnxruntime/cpu"), "-c", PROGRAM, tmp_path],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == ["as given"], done.stderr
