"""What an exporter writes: the ONNX file, the source's scores on the test set, and a record."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, sha256_of, write_json
from framewatt.datasets.pairs import Pairs
from framewatt.datasets.segments import Segments
from framewatt.datasets.storing import load_arrays
from framewatt.workloads import make_inference
from framewatt.workloads.contract import EVALUATED, ONNX_FILE, Inference, spec_of
from framewatt.workloads.decoding import searches

REFERENCE = "reference.npy"
RECORD = "export.json"
CHECK_RECORD = "check.json"


def export(job_path: str, framework: str, write_onnx: Callable[[Inference, Path], Mapping[str, Any]]) -> None:
    """Export trained weights and store the source's own scores next to the file.

    Args:
        job_path: the job: `data`, `folder` and the workload's fields (see workloads.contract.spec_of).
        framework: the framework that trained the weights.
        write_onnx: writes the model to a path and returns facts for the record (exporter, opset).
    """
    job = read_json(Path(job_path))
    folder = Path(job["folder"])
    data = load_arrays(Path(job["data"]))
    spec = spec_of(job)
    if isinstance(data, Segments | Pairs) or data.unlabelled is not None:
        # What is before a segment, pads a sentence, or has no row per sample, depends on the batch size: the check has
        # to have the same.
        spec = replace(spec, batch_size=EVALUATED)
    workload = make_inference(framework, spec, data)
    workload.setup()
    if searches(getattr(workload, "model", None), data):
        raise FramewattError(
            f"model: {spec.model} makes its answers token by token, a search that exporters do not take. Use a model "
            "that answers at once, such as its encoder."
        )
    np.save(folder / REFERENCE, workload.evaluate(), allow_pickle=False)
    details = write_onnx(workload, folder / ONNX_FILE)
    record = {
        "framework": framework,
        **details,
        "size_b": (folder / ONNX_FILE).stat().st_size,
        "model_sha256": sha256_of(folder / ONNX_FILE),
    }
    write_json(folder / RECORD, record)
