"""Keras to ONNX, by tf2onnx, with a dynamic batch."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tf2onnx.graph import Node

from framewatt.prepare.exporters import operators, search  # noqa: F401  # they tell tf2onnx of operators
from framewatt.prepare.exporters.contract import export


def write_onnx(workload: Any, path: Path) -> Mapping[str, Any]:
    """Write the model through Keras' own export, which calls tf2onnx."""
    with _weights_copied_once():
        # Layers of a detector are told no shapes when it is built.
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


if __name__ == "__main__":
    export(sys.argv[1], "tensorflow", write_onnx)
