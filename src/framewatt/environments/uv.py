"""The program uv, which makes virtual environments, and the Python that they have."""

import os
import shutil
import sys
from pathlib import Path

from framewatt.base.errors import FramewattError

PYTHON_VERSION = "3.11"

BUILD_LOCK = Path("envs", "build", "build-requirements.txt")
"""With hashes: what builds packages that have no wheel, and nothing else may."""


UV_ENVIRONMENT = {"VIRTUAL_ENV": "", "UV_NO_WRAP": "1"}
"""For calls of uv: no environment but the one that is named, and each message in one line, as it is quoted."""


def uv_program() -> str:
    """Path of uv, which lies beside the interpreter that runs the workflow, or on PATH.

    Raises:
        FramewattError: it is not there.
    """
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if uv is None:
        raise FramewattError("the program uv is not there; run make setup")
    return uv
