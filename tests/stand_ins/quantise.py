"""Stands in for quantisation: the export as it was."""

import shutil
import sys
from pathlib import Path

from framewatt.base.files import read_json, sha256_of, write_json
from framewatt.prepare.exporters.contract import MODEL, RECORD, REFERENCE

job = read_json(Path(sys.argv[1]))
source, folder = Path(job["artefact"]), Path(job["folder"])
for name in (MODEL, REFERENCE):
    shutil.copyfile(source / name, folder / name)
record = {
    **read_json(source / RECORD),
    **{"exporter": "stand-in", "calibration": None, "precision": job["options"]["precision"]},
    **{"source_sha256": sha256_of(source / MODEL), "model_sha256": sha256_of(folder / MODEL)},
}
write_json(folder / RECORD, record)
