"""Programs that run in namespaces of their own, where a scripted machine is put over the real one."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

_UNSHARE = ("unshare", "--map-root-user", "--mount", "--mount-proc", "--pid", "--fork")
"""A process namespace, too, so that nothing outlives what ran in it."""


def namespaces_allowed() -> bool:
    """Whether this machine lets a user make namespaces."""
    return subprocess.run((*_UNSHARE, "true"), capture_output=True, check=False).returncode == 0


def run_apart(module: str, *words: str, timeout_s: float) -> dict:
    """Run a module of the tests in namespaces of its own; the JSON object that it prints as its last line.

    It has the first priority, where that can be had: what plays counters is held up by no other program, as real ones
    are not.

    Args:
        module: name of the module.
        words: its arguments.
        timeout_s: after so many seconds it is ended.
    """
    done = subprocess.run(
        ["nice", "-n", "-20", *_UNSHARE, "--kill-child", sys.executable, "-m", module, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))
