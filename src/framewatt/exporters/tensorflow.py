"""Keras to ONNX, by tf2onnx, with a dynamic batch."""

import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from framewatt.exporters.contract import export
from framewatt.workloads.contract import Inference


def write_onnx(workload: Inference, path: Path) -> Mapping[str, Any]:
    """Write the model through Keras' own export, which calls tf2onnx."""
    workload.model.export(str(path), format="onnx", verbose=False)  # type: ignore[attr-defined]  # every Keras workload has one
    return {"exporter": f"keras.Model.export, keras {version('keras')}, tf2onnx {version('tf2onnx')}"}


if __name__ == "__main__":
    export(sys.argv[1], "tensorflow", write_onnx)
