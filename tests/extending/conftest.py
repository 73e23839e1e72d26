"""A copy of the project in which everything is done that docs/extending.md shows."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from checkout import ROOT, Checkout
from extending_page import examples


@pytest.fixture(scope="session")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The copy. `make lock` needs a network: its locks are empty here."""
    made = Checkout(tmp_path_factory.mktemp("extended"))
    for example in (one for section in examples().values() for one in section):
        example.put_into(made.root)
        if example.path.startswith("envs/"):
            (made.root / example.path).with_name("requirements.txt").touch()
    return made


@pytest.fixture(scope="session")
def run_there(extended: Checkout) -> Callable[..., str]:
    """Runs Python in the copy, with its library, and returns what it printed; the words are its arguments."""

    def run(*words: str | Path, python: Path = Path(sys.executable)) -> str:
        environment = {**os.environ, "PYTHONPATH": str(extended.root / "src"), "OMP_NUM_THREADS": "2"}
        done = subprocess.run(
            [python, *words], cwd=extended.root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def inspect_workload() -> Path:
    """The program with which the conformance tests look at workloads."""
    return ROOT / "tests" / "conformance" / "inspect_workload.py"
