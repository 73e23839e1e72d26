"""Runs in ONNX Runtime's environment: what nodes of a small graph are seen, and what they give when they run alone.

`python nodes_of_onnx.py <folder>` prints a JSON object.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from framewatt.workloads.contract import Spec
from framewatt.workloads.onnxruntime.providers import open_session
from framewatt.workloads.onnxruntime.repeater import NodeRepeater
from framewatt.workloads.repeaters import Case, UnrepeatableError

DRAW = np.random.default_rng(0)


def graph(path: Path) -> None:
    """Convolutions that are alike and one that is not, a product with packed weights, and places that are computed."""

    def weight(name: str, *shape: int) -> Any:
        return numpy_helper.from_array(DRAW.standard_normal(shape).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], "first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], "relu"),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], "second", pads=[1, 1, 1, 1]),
        helper.make_node("Sigmoid", ["c2"], ["s2"], "sigmoid"),
        helper.make_node("Conv", ["s2", "w3"], ["c3"], "third", pads=[1, 1, 1, 1]),
        helper.make_node("Tanh", ["c3"], ["t3"], "tanh"),
        helper.make_node("Conv", ["t3", "w3"], ["c4"], "fourth", pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["c4"], ["mean"], "pool"),
        helper.make_node("Flatten", ["mean"], ["flat"], "flat"),
        helper.make_node("Gemm", ["flat", "w4"], ["scores"], "product"),
        helper.make_node("Gather", ["table", "places"], ["rows"], "lookup"),
        helper.make_node("ArgMax", ["scores"], ["best"], "best", axis=1, keepdims=0),
        helper.make_node("Gather", ["table", "best"], ["chosen"], "chosen"),
    ]
    weights = [weight("w1", 8, 3, 3, 3), weight("b1", 8), weight("w2", 8, 8, 3, 3), weight("w3", 8, 8, 3, 3)]
    weights += [weight("w4", 8, 5), weight("table", 5, 4)]
    inputs = [
        helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 8, 8]),
        helper.make_tensor_value_info("places", TensorProto.INT64, ["n"]),
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("rows", "chosen")]
    made = helper.make_graph(nodes, "small", inputs, outputs, weights)
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


class Program:
    """A workload on that graph."""

    def __init__(self, spec: Spec, path: Path) -> None:
        self.path = path
        self.session, _ = open_session(spec, path)

    def feed(self, rows: int) -> dict[str, Any]:
        image = DRAW.standard_normal((rows, 3, 8, 8)).astype(np.float32)
        return {"image": image, "places": np.arange(rows, dtype=np.int64) % 5}

    def run(self, rows: int) -> None:
        self.session.run(None, self.feed(rows))


def main(folder: Path) -> None:
    spec = Spec("small", 4, "cpu", "cpu", 1, 0, folder, {}, {"graph_optimization": sys.argv[2]})
    graph(folder / "model.onnx")
    cases = NodeRepeater(spec, folder).captured(Program(spec, folder / "model.onnx"), [4, 4, 2])
    again = NodeRepeater(spec, folder)
    found = []
    for case in cases:
        kept = Case.from_dict(json.loads(json.dumps(case.to_dict())))
        told: dict[str, Any] = {"name": kept.name, "shapes": kept.shapes, "calls": kept.calls, "reason": None}
        try:
            call = again.make_call(kept)
            call()
            again.synchronize()
            outputs = again._last.copy_outputs_to_cpu()
            told["outputs"] = [list(one.shape) for one in outputs]
            told["finite"] = all(bool(np.isfinite(one).all()) for one in outputs)
        except UnrepeatableError as error:
            told["reason"] = str(error)
        found.append(told)
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
