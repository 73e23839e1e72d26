"""ResNet v1.5 is one model in both frameworks: in fp64 a step gives the same loss, gradients and statistics."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from checkout import ROOT, python_of

from framewatt.study.cell import environment_of


@pytest.mark.parametrize("model", ["resnet50_v15_small", pytest.param("resnet50_v15", marks=pytest.mark.thorough)])
def test_a_step_in_fp64_is_the_same(model: str, tmp_path: Path) -> None:
    """In fp32 the large one's gradients part by 0.2 in PyTorch alone, from weights 1e-7 apart."""
    for framework in ("torch", "tensorflow"):
        done = subprocess.run(
            [
                python_of(environment_of(framework, "cpu")),
                ROOT / "tests/conformance/same_resnet.py",
                *(framework, model, tmp_path / "step.npz"),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["loss"] < 1e-12
    assert found["gradients"] < 1e-9
    assert found["statistics"] < 1e-10
