"""Outputs of models that give several, or none with a row per sample: taken where nothing is judged, else refused."""

from typing import Any

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Images, Samples
from framewatt.tasks import task_of
from framewatt.workloads.outputs import in_order, single_output

IMAGES = np.zeros((5, 3, 4, 4), np.float32)
LABELLED = Images(IMAGES, np.arange(5), IMAGES, np.arange(5))
UNJUDGED = Samples(
    *(IMAGES[:0], np.zeros(0, int), IMAGES, np.zeros(0, int)), main="images", unlabelled="the study names no metric"
)
TASK = task_of("classification")
STEPS = list(TASK.plan("test", UNJUDGED, 2))


def of(rows: int) -> Any:
    """What a detector in some library returns of a batch."""
    boxes = np.full((rows, 3, 4), rows, np.float32)
    return {"boxes": boxes, "found": [np.int64(rows), None, "a word"], "scores": (boxes[..., 0],)}


def test_arrays_are_taken_out_of_whatever_holds_them() -> None:
    found = single_output(of(2), UNJUDGED)
    assert [one.shape for one in found] == [(2, 3, 4), (), (2, 3)]
    assert single_output({"logits": IMAGES}, LABELLED) is IMAGES
    assert single_output(IMAGES, LABELLED) is IMAGES


def test_of_several_outputs_none_is_taken_for_the_answers() -> None:
    with pytest.raises(FramewattError, match="model: it has 3 outputs, and classification needs one tensor of answers"):
        single_output(of(2), LABELLED)


def test_numbers_of_outputs_without_rows_follow_each_other() -> None:
    found = in_order(TASK, UNJUDGED, [of(2), of(2), of(1)], STEPS)
    assert found.shape == (5 * (12 + 3) + 3,)
    assert TASK.judge(found, UNJUDGED).unknown == "the study names no metric"


@pytest.mark.parametrize(
    ("outputs", "shape"),
    [
        ([np.zeros((2, 7)), np.zeros((2, 7)), np.zeros((1, 7))], (5, 7)),
        ([np.zeros((2, 7)), np.zeros((2, 4)), np.zeros((1, 7))], (29,)),
        ([np.zeros((9, 6)), np.zeros((0, 6)), np.zeros((2, 6))], (66,)),
        ([np.float32(1)] * 3, (3,)),
        ([(), (), ()], (0,)),
    ],
)
def test_what_is_not_judged_may_have_any_shape(outputs: list[Any], shape: tuple[int, ...]) -> None:
    assert in_order(TASK, UNJUDGED, outputs, STEPS).shape == shape
