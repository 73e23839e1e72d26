"""The loops of `make bench` run in every framework: framewatt's, and the plain one that it is held against."""

import json
import os
import subprocess

import pytest
from checkout import ROOT, run_snakemake

from framewatt.study import environment_of
from framewatt.workloads import FRAMEWORKS


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_both_training_loops_have_a_rate(framework: str) -> None:
    record = f"resources/environments/locked/{environment_of(framework, 'cpu')}/environment.json"
    answer = run_snakemake(ROOT, record)
    assert answer.code == 0, answer.text
    done = subprocess.run(
        [ROOT / json.loads((ROOT / record).read_text())["python"], "-m", "bench.training_loops", framework],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}", "OMP_NUM_THREADS": "1"},
        input='{"loop": "framewatt"}\n{"loop": "plain"}\n',
        capture_output=True,
        text=True,
        check=False,
    )
    rates = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("RATE ")]
    assert len(rates) == 2, done.stderr
    assert min(rates) > 0
