"""An exported model with 8-bit integers for weights and activations, by ONNX Runtime's own quantisation.

`python -m framewatt.prepare.exporters.quantise <job.json>` runs inside an ONNX Runtime environment.
"""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, sha256_of, write_json
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.datasets.pairs import Pairs
from framewatt.datasets.storing import load_arrays
from framewatt.prepare.exporters.contract import RECORD, REFERENCE
from framewatt.tasks.contract import Outputs
from framewatt.workloads.contract import ONNX_FILE, Spec, spec_of
from framewatt.workloads.onnxruntime.engine import make_inference

CALIBRATION_SAMPLES = 128
_AT_ONCE = 16


def quantise(spec: Spec, data: Arrays, path: Path) -> dict[str, Any]:
    """Write the quantised model.

    Args:
        spec: with `artefact`, the folder of the export, and the number format wanted.
        data: the samples that calibrate the ranges of activations in static quantisation.
        path: the file to write.

    Returns:
        facts for the record: `exporter`, and `calibration`, None where there is none.
    """
    assert spec.artefact is not None
    with TemporaryDirectory() as folder:
        prepared = prepare(spec.artefact / ONNX_FILE, Path(folder))
        if spec.level("precision") == "int8_dynamic":
            # ONNX Runtime has no CPU kernel of ConvInteger for signed weights.
            quantize_dynamic(prepared, path, weight_type=QuantType.QUInt8)
            return {"exporter": f"quantize_dynamic, onnxruntime {ort.__version__}", "calibration": None}
        samples, part = calibration_samples(data, spec.seed)
        # x86 has instructions for unsigned activations with signed weights; if both are signed it takes twice the time.
        calibration = Calibration(spec, samples)
        quantize_static(prepared, path, calibration, per_channel=True, activation_type=QuantType.QUInt8)
    drawn = {"samples": len(samples.y_test), "of": part}
    return {"exporter": f"quantize_static, onnxruntime {ort.__version__}", "calibration": drawn}


def prepare(source: Path, folder: Path) -> Path:
    """Return the model with operators fused, so that they are quantised as one, and with shapes inferred anew."""
    model = onnx.load(source)
    # Fusing transposes weights, so shapes that the exporter had stored for them would be wrong.
    del model.graph.value_info[:]
    onnx.save(model, folder / "without_shapes.onnx")
    quant_pre_process(folder / "without_shapes.onnx", folder / "prepared.onnx", skip_symbolic_shape=True)
    return folder / "prepared.onnx"


def calibration_samples(data: Arrays, seed: int) -> tuple[Arrays, str]:
    """Samples from the training set, or from the test set if that is empty; as a test set, and which was used."""
    if isinstance(data, Pairs):
        raise FramewattError(
            "precision: int8_static does not take pairs of sentences. Use int8_dynamic, which takes no samples."
        )
    if isinstance(data.y_test, Objects):
        raise FramewattError(
            "precision: int8_static does not take detectors. Use int8_dynamic, which leaves boxes in fp32."
        )
    training = len(data.y_train) > 0
    count = len(data.y_train if training else data.y_test)
    drawn = np.random.default_rng(seed).permutation(count)[:CALIBRATION_SAMPLES]
    chosen = data.with_test_rows(drawn, test=not training)
    return chosen, "training set" if training else "test set"


class Calibration(CalibrationDataReader):
    """Feeds samples to the calibration in the form that the graph takes."""

    def __init__(self, spec: Spec, samples: Arrays) -> None:
        workload = make_inference(replace(spec, batch_size=_AT_ONCE), samples)
        workload.setup()
        self._feeds: Iterator[dict[str, Any]] = (workload.feed(batch) for batch in workload.batches())

    def get_next(self) -> dict[str, Any] | None:
        """Return the next samples by the names of the graph's inputs, None after the last."""
        return next(self._feeds, None)


def _outputs(spec: Spec, data: Arrays) -> Outputs:
    workload = make_inference(spec, data)
    workload.setup()
    return workload.evaluate()


def main(job_path: str) -> None:
    """Quantise an export, and store the scores of its source next to it."""
    job = read_json(Path(job_path))
    source, folder = Path(job["artefact"]), Path(job["folder"])
    spec, data = spec_of(job), load_arrays(Path(job["data"]))
    details = quantise(spec, data, folder / ONNX_FILE)
    if (source / REFERENCE).exists():
        shutil.copyfile(source / REFERENCE, folder / REFERENCE)
    else:
        # A user's ONNX file has no source but itself.
        np.save(folder / REFERENCE, _outputs(spec, data), allow_pickle=False)
    record = {
        **read_json(source / RECORD),
        **details,
        "precision": job["options"]["precision"],
        "source_sha256": sha256_of(source / ONNX_FILE),
        "size_b": (folder / ONNX_FILE).stat().st_size,
        "model_sha256": sha256_of(folder / ONNX_FILE),
    }
    write_json(folder / RECORD, record)


if __name__ == "__main__":
    main(sys.argv[1])
