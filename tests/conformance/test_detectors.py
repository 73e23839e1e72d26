"""Detectors from their training to their export: what they learn of drawn shapes, and what is refused."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stages import end_of, run_program, run_stages, run_until

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.tasks.contract import NOTHING

SHAPES = {"module": "synthetic_shapes", "most": 3, "masks": False, "seed": 0}
CHANCE = 0.02
"""More than the AP of a hundred random boxes an image, see tests/tasks/test_detection.py."""


def ap_of(quality: dict[str, Any]) -> float:
    found: float = quality["box_ap"]["value"]
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("framework", ["torch", "tensorflow"])
def test_shapes_are_found_far_better_than_by_chance_and_as_well_by_the_export(framework: str, tmp_path: Path) -> None:
    save_arrays(tmp_path / "data.npz", make_arrays({**SHAPES, "train_samples": 800, "test_samples": 80, "size": 128}))
    training = {"epochs": 8, "learning_rate": 0.001, "momentum": 0.9}
    model = {"model": "ssd_small", "weights": "trained", "training": training, "batch_size": 8}
    weights, check = run_stages(framework, model | {"options": {"optimizer": "adam"}}, tmp_path)
    found = [epoch["quality"] for epoch in weights["epochs"]]
    assert ap_of(found[-1]) > 5 * CHANCE
    assert ap_of(found[0]) < CHANCE
    assert (check["status"], check["reason"]) == ("ok", None)
    assert check["equal_answers_share"] >= 0.99
    assert ap_of(check["quality"]) == pytest.approx(ap_of(check["source_quality"]), abs=1e-3)
    assert ap_of(check["source_quality"]) == pytest.approx(ap_of(found[-1]), abs=1e-3)


# The export of boxes from TensorFlow is tested with a Mask R-CNN, too.
@pytest.mark.parametrize("framework", ["torch", pytest.param("tensorflow", marks=pytest.mark.thorough)])
def test_the_export_of_a_retinanet_finds_the_same(framework: str, tmp_path: Path) -> None:
    save_arrays(tmp_path / "data.npz", make_arrays({**SHAPES, "train_samples": 160, "test_samples": 40, "size": 128}))
    training = {"epochs": 2, "learning_rate": 0.001, "momentum": 0.9}
    model = {"model": "retinanet_small", "weights": "trained", "training": training, "batch_size": 8}
    weights, check = run_stages(framework, model | {"options": {"optimizer": "adam"}}, tmp_path)
    assert weights["epochs"][-1]["quality"]["box_ap"]["detections_per_image"] > 10, "there is something to compare"
    assert (check["status"], check["reason"]) == ("ok", None)
    assert check["equal_answers_share"] >= 0.99


def test_an_export_that_finds_nothing_is_not_called_equal(tmp_path: Path) -> None:
    save_arrays(tmp_path / "data.npz", make_arrays({**SHAPES, "train_samples": 8, "test_samples": 8, "size": 128}))
    _, check = run_stages("torch", {"model": "retinanet_small", "weights": "seeded"}, tmp_path)
    assert (check["status"], check["reason"], check["equal_answers_share"]) == ("deviates", NOTHING, None)


@pytest.mark.parametrize("framework", ["torch", "tensorflow"])
def test_a_mask_rcnn_learns_where_no_image_has_an_object(framework: str, tmp_path: Path) -> None:
    """As of batches of one photograph some do. oneDNN has no gradient of a convolution over no box."""
    data = make_arrays({**SHAPES, "masks": True, "train_samples": 8, "test_samples": 8, "size": 128})
    objects: Any = data.y_train
    none = {name: values[:0] for name, values in objects.arrays().items()}
    starts = {"starts": np.zeros(len(objects) + 1, np.int64), "run_starts": np.zeros(1, np.int64)}
    save_arrays(tmp_path / "data.npz", replace(data, y_train=replace(objects, **none | starts)))
    run_until("train", framework, {"model": "mask_rcnn_small", "weights": "trained"}, tmp_path)
    (epoch,) = json.loads((tmp_path / "train" / "train.json").read_text())["epochs"]
    assert 0 < epoch["loss_mean"] < 10


REFUSED: dict[str, tuple[str, dict[str, Any], int, str]] = {
    "images of another size": (
        "torch",
        {},
        64,
        "SSD: it does not take images of (3, 64, 64). Use 3 channels of 128 x 128",
    ),
    "the same in TensorFlow": (
        "tensorflow",
        {},
        64,
        "SSD: it does not take images of (64, 64, 3). Use 3 channels of 128",
    ),
    "a search by XLA": (
        "tensorflow",
        {"compile": "compiled"},
        128,
        "compile: the steps of the detector ssd_small depend on",
    ),
    "steps that depend on objects": (
        "torch",
        {"compile": "compiled"},
        128,
        "compile: the steps of the detector ssd_small depend on",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused_in_a_line(what: str, tmp_path: Path) -> None:
    framework, options, size, told = REFUSED[what]
    save_arrays(tmp_path / "data.npz", make_arrays({**SHAPES, "train_samples": 8, "test_samples": 4, "size": size}))
    with pytest.raises(AssertionError, match=re.escape(told)):
        run_until("train", framework, {"model": "ssd_small", "weights": "trained", "options": options}, tmp_path)


OWN = {
    "torch": ("import torch\n\ndef make():\n    return torch.nn.Flatten()\n", "Flatten has no objective"),
    "tensorflow": (
        "import keras\n\ndef make():\n    return keras.Sequential([keras.layers.Flatten()])\n",
        "Sequential has no objective",
    ),
    "mxnet": (
        "from mxnet import gluon\n\ndef make():\n    return gluon.nn.Dense(2)\n",
        "training in MXNet: it has no loss of the task detection. Use a task of: classification, tagging, recomm",
    ),
}


@pytest.mark.parametrize("framework", OWN)
def test_ones_own_model_without_a_loss_of_boxes_is_refused_in_a_line(framework: str, tmp_path: Path) -> None:
    code, told = OWN[framework]
    (tmp_path / "mine.py").write_text(code)
    save_arrays(tmp_path / "data.npz", make_arrays({**SHAPES, "train_samples": 8, "test_samples": 4, "size": 128}))
    own = {"factory": "mine:make", "folder": str(tmp_path)}
    with pytest.raises(AssertionError, match=re.escape(told)):
        run_until("train", framework, {"model": "mine", "weights": "trained", "own": own}, tmp_path)


def test_calibrating_the_integers_of_a_detector_is_refused_in_a_line(tmp_path: Path) -> None:
    save_arrays(tmp_path / "data.npz", make_arrays({**SHAPES, "train_samples": 8, "test_samples": 4, "size": 128}))
    code = (
        "import sys; from pathlib import Path; from framewatt.datasets.storing import load_arrays; "
        "from framewatt.prepare.exporters.quantise import calibration_samples; "
        "calibration_samples(load_arrays(Path(sys.argv[1])), 0)"
    )
    (tmp_path / "program.py").write_text(code)
    ended = end_of("onnxruntime/cpu", tmp_path / "program.py", tmp_path / "data.npz")
    assert ended.code != 0
    assert "precision: int8_static does not take detectors. Use int8_dynamic" in ended.err


def test_nothing_is_found_beside_an_image_that_is_padded() -> None:
    """Of `ssd_as_published` in TensorFlow, which pads 300 pixels to 320."""
    printed = run_program("tensorflow/cpu", Path(__file__).with_name("inspect_padding.py"))
    found = json.loads(printed.splitlines()[-1])
    assert (found["beside"], found["across"], found["within"]) == ([], [[280, 280, 300, 300]], [[10, 10, 40, 40]])
    assert (found["overlap_0.55"], found["overlap_0.65"]) == (2, 1)
    assert found["detections"] > 100
    assert 0 <= found["lowest"] < found["highest"] <= 300
    assert found["smallest"] > 0
    assert found["looked_at"] == [2, 320, 320, 3]
    assert found["added"] < 1e-6
    assert found["image_changed"] < 1e-6


@pytest.mark.parametrize("framework", ["torch", "tensorflow"])
def test_the_published_ssds_take_images_of_300_pixels_alone(framework: str, tmp_path: Path) -> None:
    save_arrays(tmp_path / "data.npz", make_arrays({**SHAPES, "train_samples": 8, "test_samples": 4, "size": 320}))
    with pytest.raises(AssertionError, match="Use 3 channels of 300 x 300 pixels"):
        run_until("train", framework, {"model": "ssd_as_published", "weights": "trained"}, tmp_path)
