"""Stands in for quantisation: the export as it was."""

import shutil
import sys
from pathlib import Path

from framewatt.base.files import read_json, sha256_of, write_json
from framewatt.prepare.exporters.contract import RECORD, REFERENCE
from framewatt.workloads.contract import ONNX_FILE

job = read_json(Path(sys.argv[1]))
source, folder = Path(job["artefact"]), Path(job["folder"])
for name in (ONNX_FILE, REFERENCE):
    shutil.copyfile(source / name, folder / name)
record = {
    **read_json(source / RECORD),
    **{"exporter": "stand-in", "calibration": None, "precision": job["options"]["precision"]},
    **{"source_sha256": sha256_of(source / ONNX_FILE), "model_sha256": sha256_of(folder / ONNX_FILE)},
}
write_json(folder / RECORD, record)
