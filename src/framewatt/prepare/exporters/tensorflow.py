"""Keras to ONNX, by tf2onnx, with a dynamic batch; and operators that tf2onnx does not translate as needed.

A detector's search for its best boxes is TensorFlow's CombinedNonMaxSuppression, which tf2onnx lacks. ONNX has an
operator that chooses the boxes of each image and class; the best of all classes are sorted out of them here, as
TensorFlow does. `All` and `Size` are written in a form that ONNX Runtime and its providers take.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from tf2onnx.graph import Graph, Node
from tf2onnx.handler import tf_op
from tf2onnx.onnx_opset.reduction import AllAny

from framewatt.prepare.exporters.contract import export


def write_onnx(workload: Any, path: Path) -> Mapping[str, Any]:
    """Write the model through Keras' own export, which calls tf2onnx."""
    with _weights_copied_once():
        # Layers of a detector know no shapes when it is built.
        signature = [workload.images] if hasattr(workload.model, "objective") else None
        workload.model.export(str(path), format="onnx", verbose=False, input_signature=signature)
    return {"exporter": f"keras.Model.export, keras {version('keras')}, tf2onnx {version('tf2onnx')}"}


@contextmanager
def _weights_copied_once() -> Iterator[None]:
    """Make tf2onnx copy only changed weights: BERT-base then needs 9 GB of memory instead of 21 GB.

    By itself, tf2onnx writes all constants into their protobufs after each pass, and protobuf keeps the old ones; it
    also copies the whole graph before each optimiser, in case that fails.
    """
    written: dict[Node, tuple[Any, ...]] = {}
    write = Node.update_proto

    def update_proto(node: Node, external_tensor_storage: Any = None) -> None:
        # The attribute itself is kept, so that no new object can get the same id.
        state = (node.get_attr("value"), tuple(node.output)) if node.is_const() else None
        before = written.get(node)
        if state and before and state[0] is before[0] and state[1] == before[1]:
            return
        write(node, external_tensor_storage)
        if state:
            written[node] = state

    with patch.object(Node, "update_proto", update_proto), patch.dict(os.environ, TF2ONNX_CATCH_ERRORS="FALSE"):
        yield


@tf_op("All")
class All:
    """Whether all are true along an axis, which is counted from the first one.

    Counted from the last one, as tf2onnx leaves it, ONNX Runtime 1.31 gives an array without elements back as it is: a
    detector's graph would fail where no box is left.
    """

    @classmethod
    def version_13(cls, ctx: Graph, node: Node, **further: Any) -> None:
        """Replace a node."""
        rank, axes = ctx.get_rank(node.input[0]), np.atleast_1d(node.inputs[1].get_tensor_value(as_list=False))
        if rank is not None:
            counted = ctx.make_const(f"{node.name}_axes", (axes % rank).astype(np.int64))
            ctx.replace_input(node, node.input[1], counted.output[0], 1)
        AllAny.version_13(ctx, node, **further)


@tf_op("Size")
class Size:
    """How many elements an array has, as the product of its shape.

    OpenVINO's provider (1.24) has no Size, and the parts that it makes of a graph with one do not open.
    """

    @classmethod
    def version_13(cls, ctx: Graph, node: Node, **_: Any) -> None:
        """Replace a node."""
        shape = ctx.make_node("Shape", [node.input[0]]).output[0]
        count = ctx.make_node("ReduceProd", [shape], attr={"axes": [0], "keepdims": 0}).output[0]
        size = ctx.make_node("Cast", [count], attr={"to": ctx.get_dtype(node.output[0])}).output[0]
        ctx.replace_all_inputs(node.output[0], size)
        ctx.remove_node(node.name)


_MANY = np.array([2**31 - 1], np.int64)
"""Boxes of a class that are looked at: all."""


@tf_op("CombinedNonMaxSuppression")
class CombinedNonMaxSuppression:
    """From boxes (n, boxes, classes or 1, 4) and scores: boxes, scores and classes of the best, and how many there are.

    Boxes are not clipped, and there are as many rows as requested, in all.
    """

    @classmethod
    def version_13(cls, ctx: Graph, node: Node, **_: Any) -> None:
        """Replace a node."""
        boxes, scores = node.input[:2]
        most, overlap, least = (node.inputs[place].get_tensor_value() for place in (3, 4, 5))

        def add_node(kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
            added = ctx.make_node(kind, list(inputs), attr=attributes, output_count=outputs)
            return added.output if outputs > 1 else added.output[0]

        def constant(*values: int) -> str:
            return constant_of(np.array(values, np.int64))

        def constant_of(values: Any) -> str:
            name = ctx.make_const(f"{node.name}_{len(ctx.get_nodes())}", values).output[0]
            assert isinstance(name, str)
            return name

        # An image and a class at a time: (n * classes, boxes, 4) and (n * classes, 1, boxes).
        of_class, tops = add_node("Transpose", boxes, perm=[0, 2, 1, 3]), add_node("Transpose", scores, perm=[0, 2, 1])
        count = add_node("Slice", add_node("Shape", tops), constant(2), constant(3))
        # Boxes may be the same for all classes.
        classes = add_node("Slice", add_node("Shape", tops), constant(1), constant(2))
        of_class = add_node("Expand", of_class, add_node("Concat", constant(1), classes, constant(1, 1), axis=0))
        apart = add_node("Reshape", of_class, add_node("Concat", constant(-1), count, constant(4), axis=0))
        each = add_node("Reshape", tops, add_node("Concat", constant(-1, 1), count, axis=0))
        limits = [constant_of(np.array([value], np.float32)) for value in (overlap, least)]
        numbers = add_node("NonMaxSuppression", apart, each, constant_of(_MANY), *limits)
        ones = add_node(
            "Expand",
            constant_of(np.ones(1, np.float32)),
            add_node("Slice", add_node("Shape", numbers), constant(0), constant(1)),
        )
        survives = add_node("ScatterND", add_node("Mul", each, constant_of(np.zeros(1, np.float32))), numbers, ones)
        images = add_node("Slice", add_node("Shape", tops), constant(0), constant(1))
        left = add_node("Reshape", add_node("Mul", each, survives), add_node("Concat", images, constant(-1), axis=0))
        # There may be fewer boxes than requested rows.
        size = add_node("Slice", add_node("Shape", left), constant(1), constant(2))
        wanted = add_node("Min", size, constant(int(most)))
        best, places = add_node("TopK", left, wanted, outputs=2, axis=1)
        flat = add_node("Reshape", of_class, add_node("Concat", images, constant(-1, 4), axis=0))
        rows = add_node("GatherND", flat, add_node("Unsqueeze", places, constant(2)), batch_dims=1)
        kinds = add_node("Cast", add_node("Div", places, count), to=1)
        there = add_node("Cast", add_node("Greater", best, constant_of(np.zeros(1, np.float32))), to=6)
        valid = add_node("ReduceSum", there, constant(1), keepdims=0)
        lacking = add_node("Sub", constant(int(most)), wanted)
        flat_pads = add_node("Concat", constant(0, 0, 0), lacking, axis=0)
        pads = add_node("Concat", constant(0, 0, 0, 0), lacking, constant(0), axis=0)
        filled = add_node("Pad", rows, pads), add_node("Pad", best, flat_pads), add_node("Pad", kinds, flat_pads)
        for old, new in zip(node.output, (*filled, valid), strict=True):
            ctx.replace_all_inputs(old, new)
        ctx.remove_node(node.name)


if __name__ == "__main__":
    export(sys.argv[1], "tensorflow", write_onnx)
