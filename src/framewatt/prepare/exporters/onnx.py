"""A user's ONNX file instead of an export: copied unchanged, for check.py to check."""

import shutil
import sys
from pathlib import Path

from framewatt.base.files import read_json, sha256_of, write_json
from framewatt.prepare.exporters.contract import RECORD
from framewatt.study.runtimes import ONNX
from framewatt.workloads.contract import ONNX_FILE


def main(job_path: str) -> None:
    """Copy the file and write the record."""
    job = read_json(Path(job_path))
    model = Path(job["folder"]) / ONNX_FILE
    shutil.copyfile(job["artefact"], model)
    record = {
        "framework": ONNX,
        "exporter": "none, the file is the user's",
        "size_b": model.stat().st_size,
        "model_sha256": sha256_of(model),
    }
    write_json(Path(job["folder"]) / RECORD, record)


if __name__ == "__main__":
    main(sys.argv[1])
