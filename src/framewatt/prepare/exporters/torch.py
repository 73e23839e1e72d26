"""PyTorch to ONNX, by torch.export and torch.onnx's dynamo exporter, with a dynamic batch."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from onnxscript import opset18 as op

import framewatt.workloads.torch.detector  # noqa: F401  # registers the operator
from framewatt.datasets.pairs import Pairs
from framewatt.prepare.exporters.contract import export
from framewatt.workloads.contract import Inference, example_inputs
from framewatt.workloads.state import fresh_state, state_names


def write_onnx(workload: Inference, path: Path) -> Mapping[str, Any]:
    """Write the model; torch.export specialises a batch of 1, so the example holds 2."""
    model = workload.model  # type: ignore[attr-defined]  # every torch workload has one
    at_once = getattr(model, "at_once", None)
    if at_once is not None:
        model = _AtOnce(model).eval()
    state = fresh_state(model, 2)
    example = (*workload.tensors(example_inputs(workload.data, 2)), *state)
    sizes = {0: torch.export.Dim("batch", min=1)}
    if isinstance(workload.data, Pairs):
        sizes[1] = torch.export.Dim("length", min=1)
    program = torch.onnx.export(
        model,
        example,
        input_names=[*workload.data.inputs_test, *state_names(len(state))],
        dynamo=True,
        dynamic_shapes=tuple(sizes for _ in example),
        external_data=False,
        custom_translation_table=_SEARCH if at_once is not None else None,
    )
    assert program is not None
    for node in program.model.graph.all_nodes():
        # It holds the paths of PyTorch's files: the same model would be another file on another machine.
        node.metadata_props.pop("pkg.torch.onnx.stack_trace", None)
    program.save(str(path), external_data=False)
    return {"exporter": f"torch.onnx.export(dynamo=True), torch {torch.__version__}"}


class _AtOnce(torch.nn.Module):
    """A detector in the form that fixed shapes allow; see workloads.torch.detector."""

    def __init__(self, detector: torch.nn.Module) -> None:
        super().__init__()
        self.detector = detector

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.detector.at_once(images)


def _survives(boxes: Any, scores: Any, overlap: float, least: float) -> Any:
    """Return the search for the best boxes in ONNX, which has an operator for it: a mask of the boxes that survive."""
    every = op.Constant(value_ints=[2**31 - 1])
    limits = op.Constant(value_floats=[overlap]), op.Constant(value_floats=[least])
    numbers = op.NonMaxSuppression(boxes, scores, every, *limits)
    none = op.ConstantOfShape(op.Shape(scores))
    count = op.Slice(op.Shape(numbers), op.Constant(value_ints=[0]), op.Constant(value_ints=[1]))
    ones = op.Expand(op.Constant(value_floats=[1.0]), count)
    return op.Cast(op.ScatterND(none, numbers, ones), to=_BOOL)


_BOOL = 9
"""Of onnx.TensorProto.DataType."""

_SEARCH = {torch.ops.framewatt.kept.default: _survives}


if __name__ == "__main__":
    export(sys.argv[1], "torch", write_onnx)
