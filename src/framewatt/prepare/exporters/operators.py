"""Operators of TensorFlow that tf2onnx writes in a form which ONNX Runtime, or a provider of it, does not take."""

from typing import Any

import numpy as np
from tf2onnx.graph import Graph, Node
from tf2onnx.handler import tf_op
from tf2onnx.onnx_opset.reduction import AllAny


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
        found = ctx.make_node("Cast", [count], attr={"to": ctx.get_dtype(node.output[0])}).output[0]
        ctx.replace_all_inputs(node.output[0], found)
        ctx.remove_node(node.name)
