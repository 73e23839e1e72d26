"""Counts floating-point operations of an exported model: the same way for every framework, as some cannot count."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort

Shape = tuple[int, ...]


def count_flops(path: Path, sample: Mapping[str, Any]) -> int:
    """Operations of the products in a forward pass: two for each multiplication with its addition.

    Convolutions and matrix products are counted; operations between them (normalisation, activations) are not, as
    usual. Shapes come from a run, since some graphs do not contain them.

    Args:
        path: the ONNX file.
        sample: an array for each input by name, one sample in each.

    Raises:
        ValueError: the graph has recurrent layers, whose products are in none of its other nodes.
    """
    model = onnx.load(path)
    if recurrent := {node.op_type for node in model.graph.node if node.op_type.endswith(_RECURRENT)}:
        raise ValueError(f"recurrent layers ({', '.join(sorted(recurrent))}) are not counted")
    weights = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    nodes = [node for node in model.graph.node if node.op_type in _COUNTERS]
    between = {name for node in nodes for name in (*node.input[:2], node.output[0]) if name not in weights}
    shapes = {**weights, **_shapes_in_a_run(model, between - sample.keys(), sample)}
    shapes |= {name: values.shape for name, values in sample.items()}
    return sum(2 * _COUNTERS[node.op_type](node, shapes) for node in nodes)


def _shapes_in_a_run(model: onnx.ModelProto, names: set[str], sample: Mapping[str, Any]) -> dict[str, Shape]:
    """Shapes of values inside a graph, from a run of the graph without optimisation."""
    del model.graph.output[:]
    wanted = sorted(names)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return {name: values.shape for name, values in zip(wanted, session.run(wanted, dict(sample)), strict=True)}


def _convolution(node: onnx.NodeProto, shapes: Mapping[str, Shape]) -> int:
    """Every output value is a product of one filter with the inputs below it."""
    return math.prod(shapes[node.output[0]]) * math.prod(shapes[node.input[1]][1:])


def _transposed_convolution(node: onnx.NodeProto, shapes: Mapping[str, Shape]) -> int:
    """Every input value is multiplied with one filter."""
    return math.prod(shapes[node.input[0]]) * math.prod(shapes[node.input[1]][1:])


def _matrix_product(node: onnx.NodeProto, shapes: Mapping[str, Shape]) -> int:
    """Every output value is a product of a row with a column."""
    return math.prod(shapes[node.output[0]]) * shapes[node.input[0]][-1]


def _general_product(node: onnx.NodeProto, shapes: Mapping[str, Shape]) -> int:
    """As a matrix product, of a first matrix that may be transposed."""
    transposed = any(attribute.name == "transA" and attribute.i for attribute in node.attribute)
    return math.prod(shapes[node.output[0]]) * shapes[node.input[0]][0 if transposed else 1]


_RECURRENT = ("LSTM", "GRU", "RNN")

_COUNTERS = {
    "Conv": _convolution,
    "ConvTranspose": _transposed_convolution,
    "MatMul": _matrix_product,
    "Gemm": _general_product,
}
