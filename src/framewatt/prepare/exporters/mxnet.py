"""MXNet to ONNX, by mxnet.onnx, with a dynamic batch."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mxnet as mx
from onnx import checker, defs

from framewatt.prepare.exporters.contract import export
from framewatt.workloads.contract import Inference

_OPSET = 13
"""The newest opset that mxnet.onnx can translate to."""


def write_onnx(workload: Inference, path: Path) -> Mapping[str, Any]:
    """Write the model from its symbol; inputs have the data set's names."""
    model: Any = workload.model  # type: ignore[attr-defined]  # every Gluon workload has one
    inputs = workload.data.inputs_test
    symbol = model(*(mx.sym.var(name) for name in inputs))
    if isinstance(symbol, list | tuple):
        symbol = mx.sym.Group(list(symbol))
    shapes = [values.shape[1:] for values in inputs.values()]
    with _own_opset():
        mx.onnx.export_model(
            symbol,
            {name: parameter.data() for name, parameter in model.collect_params().items()},
            [(1, *shape) for shape in shapes],
            [values.dtype.type for values in inputs.values()],
            str(path),
            dynamic=True,
            dynamic_input_shapes=[("batch", *shape) for shape in shapes],
        )
    return {"exporter": f"mxnet.onnx.export_model, mxnet {mx.__version__}"}


@contextmanager
def _own_opset() -> Iterator[None]:
    """Make mxnet.onnx declare the opset that it writes; by itself it declares, and checks for, onnx's newest."""
    checked_for = checker.DEFAULT_CONTEXT.opset_imports
    checker.DEFAULT_CONTEXT.opset_imports = {"": _OPSET}
    try:
        with patch.object(defs, "onnx_opset_version", lambda: _OPSET):
            yield
    finally:
        checker.DEFAULT_CONTEXT.opset_imports = checked_for


if __name__ == "__main__":
    export(sys.argv[1], "mxnet", write_onnx)
