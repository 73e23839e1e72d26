"""Checks an exported model against its source: by the ONNX checker, loading in ONNX Runtime, and its scores.

`python -m framewatt.prepare.exporters.check <job.json>` runs inside an ONNX Runtime environment.
"""

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from framewatt.base.files import read_json, write_json
from framewatt.datasets.contract import Arrays
from framewatt.datasets.storing import load_arrays
from framewatt.prepare.exporters.contract import CHECK_RECORD, REFERENCE
from framewatt.study.training import SEEDED
from framewatt.tasks import task_of
from framewatt.tasks.contract import ANSWERS, NOTHING, Outputs, Task
from framewatt.tasks.quality import quality_of
from framewatt.workloads.contract import ONNX_FILE, Spec, spec_of
from framewatt.workloads.onnxruntime.engine import OnnxRuntimeInference, integer_nodes, make_inference

Shape = tuple[int, ...]

_NO_SOURCE = "the file is measured as it was given, with no source to compare it with"


def check(spec: Spec, data: Arrays, tolerance: float | None) -> dict[str, Any]:
    """Check, load, run and compare an export.

    Args:
        spec: with `artefact`, the exporter's folder.
        data: the arrays; their test set is scored.
        tolerance: largest absolute difference at which scores count as equal, relative to the largest score if all are
            below 1; None where they need not be equal, as for a quantised model.

    Returns:
        `status` (`ok`, `deviates`, or `invalid` where the checker or the runtime rejects the file), `reason`,
        `checker`, `opset`, `samples`, `flops` (of a sample), `weights_among_inputs` (which ONNX Runtime cannot treat as
        constants), `integer_nodes` (how many, by kind), `largest_score` (of the source, in absolute terms),
        `max_abs_difference` (None where there is no source), `equal_answers_share` (of answers
        of a search, as detections are), `equal_predictions_share` (None where outputs are no
        predictions), `quality`, `source_quality`.
    """
    assert spec.artefact is not None
    path = spec.artefact / ONNX_FILE
    record: dict[str, Any] = {"samples": len(data.x_test), "tolerance": tolerance}
    try:
        model = onnx.load(path, load_external_data=False)
        record["opset"] = model.opset_import[0].version
        weights = {tensor.name for tensor in model.graph.initializer}
        record["weights_among_inputs"] = sum(entry.name in weights for entry in model.graph.input)
        if others := _external_files(model):
            reason = f"its weights are in other files ({others}). Use one file with all of them."
            return {**record, "checker": None, "status": "invalid", "reason": reason}
        onnx.checker.check_model(path, full_check=True)
        record["checker"] = "ok"
    except Exception as error:
        record["checker"] = _one_line(error)
        return {**record, "status": "invalid", "reason": f"onnx.checker: {_one_line(error)}"}
    try:
        workload = make_inference(replace(spec, batch_size=_fixed_batch(model) or spec.batch_size), data)
        workload.setup()
        outputs = workload.evaluate()
    except Exception as error:
        return {**record, "status": "invalid", "reason": f"ONNX Runtime: {_one_line(error)}"}
    record |= {**_work(path, workload), "integer_nodes": integer_nodes(model)}
    record["quality"] = quality_of(workload.task.judge(outputs, data))
    return record | _against_source(outputs, spec.artefact / REFERENCE, data, tolerance)


def _against_source(outputs: Outputs, path: Path, data: Arrays, tolerance: float | None) -> dict[str, Any]:
    """Deviation of the outputs from those of the source, where there is one."""
    none: dict[str, Any] = {"max_abs_difference": None, "equal_answers_share": None}
    if not path.exists():
        return {**none, "status": "ok", "reason": _NO_SOURCE}
    reference = np.load(path, allow_pickle=False)
    if (outputs.ndim, len(outputs)) != (reference.ndim, len(reference)):
        reason = f"outputs of shape {outputs.shape}, of its source {reference.shape}"
        return {**none, "status": "invalid", "reason": reason}
    task = task_of(data.task)
    share = task.same_share(outputs, reference)
    if share is None and outputs.shape != reference.shape:
        reason = f"outputs of shape {outputs.shape}, of its source {reference.shape}"
        return {**none, "status": "invalid", "reason": reason}
    comparison = none | {"source_quality": quality_of(task.judge(reference, data))}
    if share is not None:
        return comparison | _compare_answers(share, tolerance)
    return comparison | _compare_scores(task, outputs, reference, data, tolerance)


def _compare_answers(share: float, tolerance: float | None) -> dict[str, Any]:
    """Of a search: two answers that are nearly alike may change places, so that a difference has no meaning."""
    if np.isnan(share):
        return {"status": "deviates", "reason": NOTHING}
    comparison = {"equal_answers_share": share}
    if tolerance is None or share >= ANSWERS:
        return {**comparison, "status": "ok", "reason": None}
    return {**comparison, "status": "deviates", "reason": f"{share:.1%} of answers are the same, below {ANSWERS:.0%}"}


def _compare_scores(
    task: Task, outputs: Outputs, reference: Outputs, data: Arrays, tolerance: float | None
) -> dict[str, Any]:
    """By the largest difference, as far as a task's outputs are scores."""
    difference = float(np.abs(outputs.astype(float) - reference.astype(float)).max())
    answers, expected = (task.predictions(one, data) for one in (outputs, reference))
    known = answers is not None and expected is not None
    comparison: dict[str, Any] = {
        "largest_score": float(np.abs(reference).max()),
        "max_abs_difference": difference if np.isfinite(difference) else None,
        "equal_predictions_share": float(np.mean(answers == expected)) if known else None,
    }
    if not np.isfinite(difference):
        return {**comparison, "status": "deviates", "reason": "scores are no numbers"}
    if tolerance is None:
        return {**comparison, "status": "ok", "reason": None}
    # Random weights may give scores near 0, which would pass any absolute tolerance.
    allowed = tolerance * min(1.0, comparison["largest_score"])
    if difference > allowed:
        return {
            **comparison,
            "status": "deviates",
            "reason": f"scores differ by up to {difference:.3g}, over {allowed:.3g}",
        }
    return {**comparison, "status": "ok", "reason": None}


def main(job_path: str) -> None:
    """Check an export and write the record."""
    job = read_json(Path(job_path))
    record = check(spec_of(job), load_arrays(Path(job["data"])), job["tolerance"])
    if job["weights"] == SEEDED:
        record |= {name: None for name in ("quality", "source_quality") if name in record}
    write_json(Path(job["folder"]) / CHECK_RECORD, record)


def _external_files(model: onnx.ModelProto) -> str:
    """Return names of external files with weights of a model, in one line."""
    external = (tensor for tensor in model.graph.initializer if tensor.data_location == onnx.TensorProto.EXTERNAL)
    where = (entry.value for tensor in external for entry in tensor.external_data if entry.key == "location")
    return ", ".join(sorted({Path(name).name for name in where}))


def _fixed_batch(model: onnx.ModelProto) -> int:
    """Fixed batch size of a model; 0 where it takes any."""
    dimensions = model.graph.input[0].type.tensor_type.shape.dim
    return int(dimensions[0].dim_value) if dimensions else 0


def _work(path: Path, workload: OnnxRuntimeInference) -> dict[str, Any]:
    """Operations of a sample; failing to count them is no fault of the export."""
    sample = workload.feed(tuple(values[:1] for values in next(workload.batches())))
    try:
        return {"flops": count_flops(path, sample)}
    except Exception as error:
        return {"flops": None, "flops_reason": _one_line(error)}


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def count_flops(path: Path, sample: Mapping[str, Any]) -> int:
    """Operations of the products in a forward pass: two for each multiplication with its addition.

    Convolutions and matrix products are counted; operations between them (normalisation, activations) are not, as
    is customary. Shapes come from a run, since some graphs do not contain them.

    Args:
        path: the ONNX file.
        sample: an array for each input by name, one sample in each.

    Raises:
        ValueError: the graph has recurrent layers; their products are in no other node.
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


if __name__ == "__main__":
    main(sys.argv[1])
