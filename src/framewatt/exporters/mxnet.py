"""MXNet to ONNX, by mxnet.onnx, with a dynamic batch."""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np

from framewatt.exporters.contract import export
from framewatt.workloads.contract import Inference


def write_onnx(workload: Inference, path: Path) -> Mapping[str, Any]:
    """Write the model from the symbol that `hybridize` traced."""
    shape = tuple(workload.data.input_shape)
    with tempfile.TemporaryDirectory() as scratch:
        prefix = f"{scratch}/model"
        workload.model.export(prefix)  # type: ignore[attr-defined]  # every Gluon workload has one
        mx.onnx.export_model(
            f"{prefix}-symbol.json",
            f"{prefix}-0000.params",
            [(1, *shape)],
            np.float32,
            str(path),
            dynamic=True,
            dynamic_input_shapes=[("batch", *shape)],
        )
    return {"exporter": f"mxnet.onnx.export_model, mxnet {mx.__version__}"}


if __name__ == "__main__":
    export(sys.argv[1], "mxnet", write_onnx)
