"""What the script that characterises meters answers where it measures nothing: by its exit code, and in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_a_machine_without_meters_reports_it_by_its_exit_code() -> None:
    if Path("/sys/class/powercap/intel-rapl:0").exists():
        pytest.skip("this machine has a meter")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PATH": "/nowhere"}
    words = [sys.executable, "-P", str(ROOT / "scripts" / "characterise.py")]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr
    assert done.stdout.splitlines()[-1] == "verdict: no meter to trust: this machine has none"
    assert "  rapl: not here: no RAPL zone under /sys/class/powercap" in done.stdout


@pytest.mark.parametrize("given", [["--repeats", "1"], ["--step-s", "0.1"]])
def test_what_cannot_be_is_refused_in_one_line(given: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = [sys.executable, "-P", str(ROOT / "scripts" / "characterise.py"), *given]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode not in (0, 3, 4)
    assert "Use " in done.stderr.splitlines()[-1]
