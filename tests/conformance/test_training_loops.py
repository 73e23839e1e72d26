"""The loops of `make bench` run in every framework: framewatt's, and the plain one that it is held against."""

import os
import subprocess

import pytest
from checkout import ROOT, python_of

from framewatt.study.cell import environment_of
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.workloads import registered_models


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("framework", "model"),
    [
        (framework, model)
        for framework in FRAMEWORKS
        for model in ("resnet50", "neumf_small", "transformer_xl_small", "gnmt_small")
        if model in registered_models(framework)
    ],
)
def test_both_training_loops_have_a_rate(framework: str, model: str) -> None:
    done = subprocess.run(
        [python_of(environment_of(framework, "cpu")), "-m", "bench.training_loops", framework, model],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}", "OMP_NUM_THREADS": "1"},
        input='{"loop": "framewatt"}\n{"loop": "plain"}\n',
        capture_output=True,
        text=True,
        check=False,
    )
    rates = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("RATE ")]
    assert len(rates) == 2, done.stderr
    # Of one unit: rates in samples and in words would differ by the words of a segment.
    assert 0.2 < rates[0] / rates[1] < 20
