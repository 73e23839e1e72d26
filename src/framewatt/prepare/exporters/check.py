"""Checks an exported model against its source: by the ONNX checker, loading in ONNX Runtime, and its scores.

`python -m framewatt.prepare.exporters.check <job.json>` runs inside an ONNX Runtime environment.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from framewatt.base.files import read_json, write_json
from framewatt.datasets.contract import Arrays
from framewatt.datasets.storing import load_arrays
from framewatt.prepare.exporters.contract import CHECK_RECORD, REFERENCE
from framewatt.prepare.exporters.flops import count_flops
from framewatt.study.training import SEEDED
from framewatt.tasks import task_of
from framewatt.tasks.contract import ANSWERS, NOTHING, Outputs, Task
from framewatt.tasks.quality import quality_of
from framewatt.workloads.contract import ONNX_FILE, Spec, spec_of
from framewatt.workloads.onnxruntime.engine import OnnxRuntimeInference, integer_nodes, make_inference

_NO_SOURCE = "the file is measured as it was given, with no source to compare it with"


def check(spec: Spec, data: Arrays, tolerance: float | None) -> dict[str, Any]:
    """Check, load, run and compare an export.

    Args:
        spec: with `artefact`, the exporter's folder.
        data: the arrays whose test set is scored.
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
    found: dict[str, Any] = {"samples": len(data.x_test), "tolerance": tolerance}
    try:
        model = onnx.load(path, load_external_data=False)
        found["opset"] = model.opset_import[0].version
        weights = {tensor.name for tensor in model.graph.initializer}
        found["weights_among_inputs"] = sum(entry.name in weights for entry in model.graph.input)
        if beside := _files_beside(model):
            reason = f"found weights in other files ({beside}); allowed: one file that holds all"
            return {**found, "checker": None, "status": "invalid", "reason": reason}
        onnx.checker.check_model(path, full_check=True)
        found["checker"] = "ok"
    except Exception as error:
        found["checker"] = _one_line(error)
        return {**found, "status": "invalid", "reason": f"onnx.checker: {_one_line(error)}"}
    try:
        workload = make_inference(replace(spec, batch_size=_fixed_batch(model) or spec.batch_size), data)
        workload.setup()
        outputs = workload.evaluate()
    except Exception as error:
        return {**found, "status": "invalid", "reason": f"ONNX Runtime: {_one_line(error)}"}
    found |= {**_work(path, workload), "integer_nodes": integer_nodes(model)}
    found["quality"] = quality_of(workload.task.judge(outputs, data))
    return found | _against_source(outputs, spec.artefact / REFERENCE, data, tolerance)


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
    found = none | {"source_quality": quality_of(task.judge(reference, data))}
    if share is not None:
        return found | _of_answers(share, tolerance)
    return found | _of_scores(task, outputs, reference, data, tolerance)


def _of_answers(share: float, tolerance: float | None) -> dict[str, Any]:
    """Of a search: two answers that are nearly alike may change places, so that no difference tells anything."""
    if np.isnan(share):
        return {"status": "deviates", "reason": NOTHING}
    found = {"equal_answers_share": share}
    if tolerance is None or share >= ANSWERS:
        return {**found, "status": "ok", "reason": None}
    return {**found, "status": "deviates", "reason": f"{share:.1%} of answers are the same, below {ANSWERS:.0%}"}


def _of_scores(
    task: Task, outputs: Outputs, reference: Outputs, data: Arrays, tolerance: float | None
) -> dict[str, Any]:
    """By the largest difference, as far as a task's outputs are scores."""
    difference = float(np.abs(outputs.astype(float) - reference.astype(float)).max())
    answers, expected = (task.predictions(one, data) for one in (outputs, reference))
    known = answers is not None and expected is not None
    found: dict[str, Any] = {
        "largest_score": float(np.abs(reference).max()),
        "max_abs_difference": difference if np.isfinite(difference) else None,
        "equal_predictions_share": float(np.mean(answers == expected)) if known else None,
    }
    if not np.isfinite(difference):
        return {**found, "status": "deviates", "reason": "scores are no numbers"}
    if tolerance is None:
        return {**found, "status": "ok", "reason": None}
    # Random weights may give scores near 0, which would pass any absolute tolerance.
    allowed = tolerance * min(1.0, found["largest_score"])
    if difference > allowed:
        return {**found, "status": "deviates", "reason": f"scores differ by up to {difference:.3g}, over {allowed:.3g}"}
    return {**found, "status": "ok", "reason": None}


def main(job_path: str) -> None:
    """Check an export and write the record."""
    job = read_json(Path(job_path))
    record = check(spec_of(job), load_arrays(Path(job["data"])), job["tolerance"])
    if job["weights"] == SEEDED:
        record |= {name: None for name in ("quality", "source_quality") if name in record}
    write_json(Path(job["folder"]) / CHECK_RECORD, record)


def _files_beside(model: onnx.ModelProto) -> str:
    """Names of external files with weights of a model, in one line."""
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


if __name__ == "__main__":
    main(sys.argv[1])
