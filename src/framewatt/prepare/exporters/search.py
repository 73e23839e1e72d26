"""A detector's search for its best boxes in ONNX, which tf2onnx does not know: TensorFlow's CombinedNonMaxSuppression.

ONNX has an operator that tells which boxes to keep of each image and class; the best of all classes are sorted out of
them here, as TensorFlow does.
"""

from typing import Any

import numpy as np
from tf2onnx.graph import Graph, Node
from tf2onnx.handler import tf_op

_MANY = np.array([2**31 - 1], np.int64)


@tf_op("CombinedNonMaxSuppression")
class CombinedNonMaxSuppression:
    """From boxes (n, boxes, classes or 1, 4) and scores: boxes, scores and classes of the best, and how many there are.

    Boxes are not clipped, and there are as many rows as asked for, in all.
    """

    @classmethod
    def version_13(cls, ctx: Graph, node: Node, **_: Any) -> None:
        """Replace a node."""
        boxes, scores = node.input[:2]
        most, overlap, least = (node.inputs[place].get_tensor_value() for place in (3, 4, 5))

        def made(kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
            found = ctx.make_node(kind, list(inputs), attr=attributes, output_count=outputs)
            return found.output if outputs > 1 else found.output[0]

        def constant(*values: int) -> str:
            return constant_of(np.array(values, np.int64))

        def constant_of(values: Any) -> str:
            name = ctx.make_const(f"{node.name}_{len(ctx.get_nodes())}", values).output[0]
            assert isinstance(name, str)
            return name

        # An image and a class at a time: (n * classes, boxes, 4) and (n * classes, 1, boxes).
        of_class, tops = made("Transpose", boxes, perm=[0, 2, 1, 3]), made("Transpose", scores, perm=[0, 2, 1])
        count = made("Slice", made("Shape", tops), constant(2), constant(3))
        # Boxes may be the same for all classes.
        classes = made("Slice", made("Shape", tops), constant(1), constant(2))
        of_class = made("Expand", of_class, made("Concat", constant(1), classes, constant(1, 1), axis=0))
        apart = made("Reshape", of_class, made("Concat", constant(-1), count, constant(4), axis=0))
        each = made("Reshape", tops, made("Concat", constant(-1, 1), count, axis=0))
        limits = [constant_of(np.array([value], np.float32)) for value in (overlap, least)]
        numbers = made("NonMaxSuppression", apart, each, constant_of(_MANY), *limits)
        ones = made(
            "Expand",
            constant_of(np.ones(1, np.float32)),
            made("Slice", made("Shape", numbers), constant(0), constant(1)),
        )
        kept = made("ScatterND", made("Mul", each, constant_of(np.zeros(1, np.float32))), numbers, ones)
        images = made("Slice", made("Shape", tops), constant(0), constant(1))
        left = made("Reshape", made("Mul", each, kept), made("Concat", images, constant(-1), axis=0))
        # There may be fewer boxes than rows are asked for.
        size = made("Slice", made("Shape", left), constant(1), constant(2))
        wanted = made("Min", size, constant(int(most)))
        best, places = made("TopK", left, wanted, outputs=2, axis=1)
        flat = made("Reshape", of_class, made("Concat", images, constant(-1, 4), axis=0))
        rows = made("GatherND", flat, made("Unsqueeze", places, constant(2)), batch_dims=1)
        kinds = made("Cast", made("Div", places, count), to=1)
        there = made("Cast", made("Greater", best, constant_of(np.zeros(1, np.float32))), to=6)
        valid = made("ReduceSum", there, constant(1), keepdims=0)
        lacking = made("Sub", constant(int(most)), wanted)
        flat_pads = made("Concat", constant(0, 0, 0), lacking, axis=0)
        pads = made("Concat", constant(0, 0, 0, 0), lacking, constant(0), axis=0)
        filled = made("Pad", rows, pads), made("Pad", best, flat_pads), made("Pad", kinds, flat_pads)
        for old, new in zip(node.output, (*filled, valid), strict=True):
            ctx.replace_all_inputs(old, new)
        ctx.remove_node(node.name)
