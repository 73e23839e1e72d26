"""Stands in for the check of an export: its scores beside those of its source."""

import sys
from pathlib import Path

import numpy as np

from framewatt.base.files import read_json, write_json
from framewatt.datasets.storing import load_arrays
from framewatt.prepare.exporters.contract import CHECK_RECORD, REFERENCE
from framewatt.tasks.quality import quality_of
from framewatt.workloads import make_inference
from framewatt.workloads.contract import spec_of

job = read_json(Path(sys.argv[1]))
data, spec = load_arrays(Path(job["data"])), spec_of(job)
workload = make_inference("onnxruntime", spec, data)
workload.setup()
scores = workload.evaluate()
reference = np.load(spec.artefact / REFERENCE) if (spec.artefact / REFERENCE).exists() else scores
record = {
    **{"status": "ok", "reason": None, "checker": "ok", "opset": 18, "flops": 2 * workload.weights.size},
    **{"weights_among_inputs": 0, "integer_nodes": {}, "tolerance": job["tolerance"]},
    "samples": len(data.x_test),
    "largest_score": float(np.abs(reference).max()),
    "max_abs_difference": float(np.abs(scores - reference).max()),
    "equal_predictions_share": float(np.mean(scores.argmax(1) == reference.argmax(1))),
    "quality": quality_of(workload.task.judge(scores, data)),
    "source_quality": quality_of(workload.task.judge(reference, data)),
}
write_json(Path(job["folder"]) / CHECK_RECORD, record)
