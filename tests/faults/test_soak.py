"""The short form of `make soak FAULTS=…`: one life of a study, struck by a fault in each of three calls."""

import json
import os
import subprocess
import sys

import pytest
from checkout import ROOT
from hardware.namespaces import namespaces_allowed

pytestmark = [
    # A full disk and a folder that goes away are mounts in a namespace of its own. Some containers allow none: without
    # it the faults would strike the machine itself. The summary counts the test as skipped then.
    pytest.mark.skipif(not namespaces_allowed(), reason="this machine lets nobody make namespaces"),
    pytest.mark.thorough,  # Each fault by itself has a test in the other files here.
]


def test_a_study_struck_by_fault_after_fault_comes_out_as_an_undisturbed_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "soak.short"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["problems"] == [], done.stdout
    # Each struck where it was to: else nothing was tried.
    assert told["struck"] == ["snakemake killed", "folder away", "disk full"]
