"""Inputs of an ONNX file, printed as JSON.

`python -m framewatt.prepare.onnx_inputs <file>` runs in the environment of ONNX Runtime, which can read such files.
"""

import json
import sys
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError


def inputs_of(path: Path) -> list[dict[str, Any]]:
    """Return the inputs of a graph in its order: `name`, `type` (numpy's name) and `shape`.

    An axis without a size is given by its name, or is None.

    Args:
        path: of an ONNX file; weights in other files are not read.

    Raises:
        FramewattError: it cannot be read, has weights in other files, or an input is no tensor.
    """
    import onnx
    from google.protobuf.message import DecodeError

    try:
        graph = onnx.load(path, load_external_data=False).graph
    except (OSError, DecodeError) as error:
        raise FramewattError(f"{path} is not an ONNX model ({error}). Name an ONNX file.") from error
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in graph.initializer):
        raise FramewattError(
            f"{path} has weights in other files. Write one file with all of it, by "
            "onnx.save(onnx.load(path), other_path)."
        )
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [one for one in graph.input if one.name not in weights]
    if not inputs:
        raise FramewattError(f"{path} is an ONNX model without inputs. Name one that has some.")
    return [_input(path, one) for one in inputs]


def _input(path: Path, one: Any) -> dict[str, Any]:
    import onnx

    if one.type.WhichOneof("value") != "tensor_type" or not one.type.tensor_type.HasField("shape"):
        raise FramewattError(
            f"{path}: input {one.name} is not a tensor of a known rank. Name a file with such inputs alone."
        )
    tensor = one.type.tensor_type
    shape = [
        axis.dim_value if axis.HasField("dim_value") and axis.dim_value > 0 else axis.dim_param or None
        for axis in tensor.shape.dim
    ]
    return {"name": one.name, "type": str(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)), "shape": shape}


def main() -> None:
    """Print them, or why there are none."""
    try:
        print(json.dumps({"inputs": inputs_of(Path(sys.argv[1]))}))
    except FramewattError as error:
        print(json.dumps({"error": str(error)}))


if __name__ == "__main__":
    main()
