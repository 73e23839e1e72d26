"""Runs a graph of one node on an execution provider, or ends with the reason, which ONNX Runtime's warnings hold.

`python -m framewatt.workloads.onnxruntime.on_device cuda`.
"""

import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

from framewatt.study.runtimes import PROVIDERS


def main(provider: str) -> None:
    """Run it.

    Raises:
        RuntimeError: ONNX Runtime took another provider.
    """
    sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "one", sides[:1], sides[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    name = PROVIDERS[provider]
    if provider != "cpu" and hasattr(ort, "preload_dlls"):
        ort.preload_dlls()
    session = ort.InferenceSession(model.SerializeToString(), providers=[name])
    if session.get_providers()[0] != name:
        raise RuntimeError(f"ONNX Runtime cannot load {name}")
    session.run(None, {"x": np.ones(1, np.float32)})


if __name__ == "__main__":
    main(sys.argv[1])
