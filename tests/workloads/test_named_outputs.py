"""Answers made of a user's ONNX file with several outputs, however it counts classes; numpy alone."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays, Texts
from framewatt.workloads.contract import Spec
from framewatt.workloads.onnxruntime.named import NamedOutputs

SHAPES = {"module": "synthetic_shapes", "train_samples": 1, "test_samples": 2, "size": 32, "most": 2, "seed": 0}
DATA: Arrays = make_arrays({**SHAPES, "masks": False})
OF_COCO = replace(DATA, about={**DATA.about, "category_ids": [1, 13, 90]})
SCORES = Texts(np.zeros((1, 4), np.int64), np.zeros(1, int), np.zeros((1, 4), np.int64), np.zeros(1, int))
FOUND = {"boxes": "bboxes", "scores": "scores", "labels": "labels"}
NAMES = ["bboxes", "labels", "scores"]
BOXES = np.arange(16, dtype=np.float32).reshape(2, 2, 4)
SURE = np.array([[0.9, 0.5], [0.8, 0.0]], np.float32)


def answers(data: Arrays, labels: Any, classes: str = "from_0") -> np.ndarray:
    return named(data, classes=classes).answers_in([BOXES, np.array(labels), SURE])


def named(data: Arrays, names: list[str] = NAMES, **said: Any) -> NamedOutputs:
    said = {"outputs": FOUND, **said}
    return NamedOutputs(Spec("m", 2, "cpu", "cpu", 1, 1, None, {}, **said), data, names)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [([[0, 1], [2, 0]], "from_0"), ([[1, 2], [3, 0]], "from_1"), ([[1, 13], [90, 0]], "category_ids")],
)
def test_boxes_scores_and_labels_become_detections_and_a_score_of_0_is_none(labels: list, classes: str) -> None:
    found = answers(OF_COCO, labels, classes)
    assert found.dtype == np.float32
    assert found[..., :4][SURE > 0].tolist() == BOXES[SURE > 0].tolist()
    assert found[..., 4].tolist() == [[np.float32(0.9), 0.5], [np.float32(0.8), -1]]
    assert found[..., 5].tolist() == [[0, 1], [2, -1]]


def test_one_output_may_count_classes_in_its_own_way_too_and_keeps_its_padding() -> None:
    whole = np.concatenate([BOXES, SURE[..., None], np.array([[[3], [1]], [[2], [-1]]])], axis=2).astype(np.float32)
    whole[1, 1] = -1
    found = named(DATA, ["found"], outputs={}, classes="from_1").answers_in(whole)
    assert found[..., 5].tolist() == [[2, 0], [1, -1]]
    assert whole[0, 0, 5] == 3
    assert named(DATA, ["found"], outputs={}).answers_in(whole) is whole


def test_of_several_outputs_the_named_one_has_the_scores_of_classes() -> None:
    vectors, logits = np.zeros((2, 9)), np.ones((2, 3))
    picked = named(SCORES, ["vectors", "logits"], outputs={"scores": "logits"})
    assert picked.answers_in([vectors, logits]) is logits


@pytest.mark.parametrize(
    ("data", "names", "said", "message"),
    [
        (DATA, ["a", "b"], {}, r"outputs.boxes: the file has no output 'bboxes'\. Use one of: a, b"),
        (
            DATA,
            NAMES,
            {"outputs": {"scores": "scores"}},
            r"outputs: scores are not those of detection\. Name boxes, scores, l",
        ),
        (SCORES, NAMES, {}, r"outputs: boxes, scores, labels are not those of classification\. Name scores"),
        (
            SCORES,
            NAMES,
            {"outputs": {}, "classes": "from_1"},
            r"classes: classification does not take 'from_1'\. Use classes: from_0",
        ),
        (
            DATA,
            NAMES,
            {"classes": "category_ids"},
            r"the data set has no category_ids\. Use classes: from_0 or from_1",
        ),
    ],
)
def test_what_does_not_fit_the_file_or_the_task_is_one_line(
    data: Arrays, names: list, said: dict, message: str
) -> None:
    with pytest.raises(FramewattError, match=message):
        named(data, names, **said)


def test_masks_have_no_several_outputs() -> None:
    masked = make_arrays({**SHAPES, "masks": True})
    with pytest.raises(
        FramewattError, match=r"outputs: boxes, scores, labels are not those of segmentation\. Name one output"
    ):
        named(masked)


def test_outputs_that_do_not_fit_together_are_one_line() -> None:
    with pytest.raises(FramewattError, match=r"boxes have shape \(2, 4\), scores \(2,\) and labels \(2,\)\. Use"):
        named(DATA).answers_in([BOXES[0], np.zeros(2), np.zeros(2)])
    with pytest.raises(FramewattError, match=r"labels: 2 is not an id of a category \(1, 13, 90\)"):
        answers(OF_COCO, [[1, 2], [90, 0]], "category_ids")
