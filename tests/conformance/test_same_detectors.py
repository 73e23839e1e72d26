"""Detectors are one model in both frameworks: in fp64 all that they say, learn from and find is the same.

In fp32 the parity sheet cannot tell the large ones' rounding from a difference.
"""

import json
from pathlib import Path

import pytest
from checkout import ROOT
from stages import run_program

from framewatt.study.cell import environment_of

TENSORS = {
    "ssd_small": (49, 445_712),
    "retinanet_small": (72, 840_399),
    "mask_rcnn_small": (78, 981_783),
    "ssd300": (71, 24_013_232),
    "retinanet": (195, 32_242_559),
    "mask_rcnn": (201, 43_986_279),
}
"""Model -> tensors that a step trains, and their numbers."""
USUAL = "mask_rcnn_small"
ROUNDING, OF_GRADIENTS, LATER = 1e-11, 1e-9, {"mask_rcnn": 1e-6}
"""Some thousand times that of fp64; one number in fp32 among them gives 1e-8. The whole Mask R-CNN makes a hundred
times as much of it in a step, on the one small image that it has here; a wrong momentum of its statistics is 1e-2."""


@pytest.mark.parametrize(
    "model", [pytest.param(model, marks=() if model == USUAL else pytest.mark.thorough) for model in TENSORS]
)
def test_a_detector_in_fp64_is_the_same(model: str, tmp_path: Path) -> None:
    """Three steps from the same drawn weights, of the real channels."""
    for framework in ("torch", "tensorflow"):
        script = ROOT / "tests/conformance/same_detector.py"
        printed = run_program(environment_of(framework, "cpu"), script, framework, model, tmp_path / "steps.npz")
    found = json.loads(printed.splitlines()[-1])
    assert (found["tensors"], found["parameters"]) == TENSORS[model]
    assert found["moved"] > 1e-5, "steps change something"
    assert found["detections"][0] > 5, "there is something to compare"
    # torchvision works its default boxes out in fp32.
    assert (found["own_anchors"] or 0) < 1e-4
    parts = 5 if model.startswith("mask") else 2
    assert len(found["losses"]) == 3 * parts
    first = {name: value for name, value in found["losses"].items() if name.startswith("loss/0/")}
    assert {name: value for name, value in first.items() if value > ROUNDING} == {}
    assert found["heads"] < ROUNDING
    assert found["gradients"] < OF_GRADIENTS
    later = {"weights": found["weights"], "statistics": found["statistics"] or 0, **found["losses"]}
    assert {name: value for name, value in later.items() if value > LATER.get(model, ROUNDING)} == {}
    # An SSD normalises no batches.
    assert (found["statistics"] is None) == model.startswith("ssd")
    # By some weights nothing is found after the steps.
    shares = [share for share, count in zip(found["same_share"], found["detections"], strict=True) if count]
    assert min(shares) >= 0.99
    assert found["found"][0] < 1e-7, "sides in pixels, scores and masks of 99 %"
