"""ResNet v1.5 is one model in both frameworks: in fp64 a step gives the same loss, gradients and statistics."""

import json
from pathlib import Path

import pytest
from stages import run_program

from framewatt.study.cell import environment_of


@pytest.mark.parametrize("model", ["resnet50_v15_small", pytest.param("resnet50_v15", marks=pytest.mark.thorough)])
def test_a_step_in_fp64_is_the_same(model: str, tmp_path: Path) -> None:
    """In fp32 the large one's gradients part by 0.2 in PyTorch alone, from weights 1e-7 apart."""
    for framework in ("torch", "tensorflow"):
        script = Path(__file__).with_name("same_resnet.py")
        printed = run_program(environment_of(framework, "cpu"), script, framework, model, tmp_path / "step.npz")
    found = json.loads(printed.splitlines()[-1])
    assert found["loss"] < 1e-12
    assert found["gradients"] < 1e-9
    assert found["statistics"] < 1e-10
