"""PyTorch to ONNX, by torch.export and torch.onnx's dynamo exporter, with a dynamic batch."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from framewatt.prepare.exporters.contract import export
from framewatt.workloads.contract import Inference, example_inputs
from framewatt.workloads.state import fresh_state, state_names


def write_onnx(workload: Inference, path: Path) -> Mapping[str, Any]:
    """Write the model; torch.export specialises a batch of 1, so the example holds 2."""
    model = workload.model  # type: ignore[attr-defined]  # every torch workload has one
    state = fresh_state(model, 2)
    example = (*workload.tensors(example_inputs(workload.data, 2)), *state)
    sizes = {0: torch.export.Dim("batch", min=1)}
    if workload.data.paired:
        sizes[1] = torch.export.Dim("length", min=1)
    program = torch.onnx.export(
        model,
        example,
        input_names=[*workload.data.inputs_test, *state_names(len(state))],
        dynamo=True,
        dynamic_shapes=tuple(sizes for _ in example),
        external_data=False,
    )
    assert program is not None
    program.save(str(path), external_data=False)
    return {"exporter": f"torch.onnx.export(dynamo=True), torch {torch.__version__}"}


if __name__ == "__main__":
    export(sys.argv[1], "torch", write_onnx)
