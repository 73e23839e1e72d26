"""How much memory a process holds after each step of some code: what is mapped counts once it was looked at."""

import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="no /proc: nothing tells a process's memory"
)

_SCRIPT = """
import sys
from pathlib import Path

from framewatt.datasets.storing import load_arrays
from framewatt.tasks import task_of

def resident_mb():
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssFile:"))) / 1024

path, *steps = sys.argv[1:]
known = {"load_arrays": load_arrays, "task_of": task_of, "path": Path(path)}
before = resident_mb()
for step in steps:
    exec(step, known)
    print(resident_mb() - before)
"""


def resident_mb(path: Path, *steps: str) -> list[float]:
    """Resident memory in MiB above that of before, after each step, in a process of its own.

    Args:
        path: of a data set.
        steps: Python statements, one after another, which know `path`, `load_arrays` and `task_of`.
    """
    answer = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(path), *steps],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(line) for line in answer.stdout.split()]
