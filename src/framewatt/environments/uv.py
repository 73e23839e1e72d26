"""The program uv, which makes virtual environments, and their Python version."""

import os
import shutil
import sys
from pathlib import Path

from framewatt.base.errors import FramewattError

PYTHON_VERSION = "3.11"

BUILD_LOCK = Path("envs", "build", "build-requirements.txt")
"""Locked build tools, with hashes; the only ones allowed for building packages without a wheel."""


UV_ENVIRONMENT = {"VIRTUAL_ENV": "", "UV_NO_WRAP": "1"}
"""For calls of uv: no environment but the one that is named, and each message in one line, as it is quoted."""


def uv_program() -> str:
    """Return the path of uv, next to the interpreter that runs the workflow or on PATH.

    Raises:
        FramewattError: uv is not installed.
    """
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if uv is None:
        raise FramewattError("uv is not installed, neither next to this interpreter nor on PATH. Run make setup.")
    return uv
