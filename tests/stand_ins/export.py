"""Stands in for a framework's exporter: the same numbers under another name."""

import shutil
import sys
from pathlib import Path

from framewatt.prepare.exporters.contract import export

NAME = Path(__file__).stem


def write_onnx(workload, path):
    shutil.copyfile(workload.spec.artefact / "weights.pt", path)
    return {"exporter": f"stand-in of {NAME}"}


if __name__ == "__main__":
    export(sys.argv[1], NAME, write_onnx)
