"""The loops of `make bench` run in every framework: framewatt's, and the plain one that it is held against."""

import os
import subprocess

import pytest
from bench.training_cases import CASES
from checkout import ROOT, python_of

from framewatt.study.cell import environment_of
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.workloads import registered_models

DETECTORS = ("ssd_small", "retinanet_small", "mask_rcnn_small")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("framework", "model"),
    [(framework, model) for framework in FRAMEWORKS for model in CASES if model in registered_models(framework)],
)
def test_both_training_loops_train_the_same_model(framework: str, model: str) -> None:
    """10 to 20 s each, alone on two cores."""
    done = subprocess.run(
        [python_of(environment_of(framework, "cpu")), "-m", "bench.training_loops", framework, model],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}", "OMP_NUM_THREADS": "1"},
        input='{"loop": "framewatt"}\n{"loop": "plain"}\n',
        capture_output=True,
        text=True,
        check=False,
    )
    answers = [line.split() for line in done.stdout.splitlines() if line.startswith("RATE ")]
    assert len(answers) == 2, done.stderr
    ours, theirs = (dict(zip(words[::2], map(float, words[1::2]), strict=True)) for words in answers)
    # Of one unit: rates in samples and in words would differ by the words of a segment.
    assert 0.2 < ours["RATE"] / theirs["RATE"] < 20
    assert ours["PARAMETERS"] == theirs["PARAMETERS"] > 0
    # Detectors begin with the same weights and take the same batches in the same order: another matching of objects,
    # rate or momentum would be seen. Only torchvision's Mask R-CNN draws otherwise. Other models begin by other draws.
    assert ours["LOSS"] == pytest.approx(theirs["LOSS"], rel=0.01 if model in DETECTORS else 0.2)
