"""Detections: average precision, what a broken detector is told, and masks laid on images."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from detections_factory import perfect

from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.tasks import task_of
from framewatt.tasks.average_precision import average_precision
from framewatt.tasks.boxes import BOX, DETECTIONS, MASK, OBJECTS, paste_mask
from framewatt.tasks.contract import Step
from framewatt.tasks.quality import quality_of

SHAPES = {"module": "synthetic_shapes", "train_samples": 1, "test_samples": 30, "size": 64, "most": 4, "seed": 1}


@pytest.fixture(scope="module")
def shapes() -> Arrays:
    return make_arrays({**SHAPES, "masks": True})


@pytest.fixture(scope="module")
def boxes(shapes: Arrays) -> Arrays:
    return replace(shapes, task="detection")


def test_who_finds_everything_has_a_precision_of_1(boxes: Arrays) -> None:
    judged = task_of("detection").judge(perfect(boxes)[..., :BOX], boxes)
    assert judged.values == {"box_ap": pytest.approx(1), "box_ap50": pytest.approx(1), "box_ap75": pytest.approx(1)}
    assert judged.method is not None
    assert judged.method.startswith("pycocotools 2.")
    assert judged.facts[DETECTIONS] == judged.facts[OBJECTS] == len(boxes.y_test.boxes) / 30


def test_masks_of_28_cells_find_shapes_of_a_few_pixels_more_nearly_than_not(shapes: Arrays) -> None:
    judged = task_of("segmentation").judge(perfect(shapes), shapes)
    assert judged.values["mask_box_ap"] == pytest.approx(1)
    # Cells are not pixels: at their edges masks differ, less than an overlap of 0.75 asks for.
    assert judged.values["mask_ap75"] == pytest.approx(1)
    assert judged.values["mask_ap"] > 0.9


def scene(**changes: Any) -> Objects:
    """Two images of 20 pixels with two objects of class 0 and one of class 1."""
    boxes = np.array([[0, 0, 10, 10], [10, 10, 20, 20], [5, 5, 15, 15]], np.float32)
    fields = {
        "starts": np.array([0, 2, 3]),
        "boxes": boxes,
        "classes": np.array([0, 0, 1]),
        "crowd": np.zeros(3, bool),
        "areas": np.full(3, 100, np.float32),
        "runs": np.zeros(0, np.int64),
        "run_starts": np.zeros(0, np.int64),
        "size": (20, 20),
    }
    return Objects(**{**fields, **changes})


def found(*images: list[tuple[float, ...]]) -> np.ndarray:
    made = np.full((len(images), max(map(len, images)), BOX), -1, np.float32)
    for image, detections in enumerate(images):
        for place, one in enumerate(detections):
            made[image, place] = one
    return made


A, B, C = (0, 0, 10, 10, 0.9, 0), (10, 10, 20, 20, 0.8, 0), (5, 5, 15, 15, 0.7, 1)


@pytest.mark.parametrize(
    ("detections", "expected"),
    [
        (found([A, B], [C]), 1.0),
        # Of class 0 one of two is found: precision 1 up to a recall of 0.5, which 51 of 101 points are.
        (found([A], [C]), (51 / 101 + 1) / 2),
        # The other class finds nothing.
        (found([A, B], [(*C[:5], 0)]), 0.5),
        # A second box on the same object is a false one, and it is surer than the second object's.
        (found([A, (*A[:4], 0.85, 0), B], [C]), ((51 + 50 * 2 / 3) / 101 + 1) / 2),
        # A surer false one before all.
        (found([A, B, (0, 15, 5, 20, 0.95, 0)], [C]), (2 / 3 + 1) / 2),
    ],
)
def test_small_scenes_are_as_counted_by_hand(detections: np.ndarray, expected: float) -> None:
    assert average_precision(detections, scene(), 2, masks=False).at_50 == pytest.approx(expected, abs=1e-12)


def test_an_overlap_between_counts_for_the_thresholds_below_it() -> None:
    # 8 of 10 columns: an overlap of 0.80, which seven of ten thresholds allow, of class 1 alone.
    near = found([A, B], [(5, 5, 13, 15, 0.7, 1)])
    assert average_precision(near, scene(), 2, masks=False) == pytest.approx(((1 + 0.7) / 2, 1, 1))


def test_what_is_found_of_a_crowd_counts_neither_for_nor_against() -> None:
    crowd = scene(crowd=np.array([False, True, False]))
    assert average_precision(found([A], [C]), crowd, 2, masks=False).mean == pytest.approx(1)
    several = found([A, (10, 10, 14, 14, 0.95, 0), (12, 12, 18, 18, 0.94, 0)], [C])
    assert average_precision(several, crowd, 2, masks=False).mean == pytest.approx(1)


def test_chance_and_silence_are_told_from_finding(boxes: Arrays) -> None:
    """A hundred boxes anywhere, of any class, have a precision of some thousandths; none at all have 0, and say so."""
    draw = np.random.default_rng(0)
    corners = np.sort(draw.uniform(0, 64, (30, 100, 2, 2)), axis=2).reshape(30, 100, 4).astype(np.float32)
    others = np.stack([draw.random((30, 100)), draw.integers(3, size=(30, 100))], axis=2).astype(np.float32)
    task = task_of("detection")
    chance = task.judge(np.concatenate([corners, others], axis=2), boxes)
    assert 0 < chance.values["box_ap"] < 0.02
    assert chance.facts[DETECTIONS] == 100
    silent = task.judge(np.full((30, 1, BOX), -1, np.float32), boxes)
    assert silent.values["box_ap"] == 0
    assert silent.facts[DETECTIONS] == 0
    (flag,) = task.answer_flags(quality_of(silent))
    assert flag.startswith("nothing is found on any image, of 2.")
    assert task.answer_flags(quality_of(chance)) == []


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ((0, 0, 0), np.nan, "outputs are not numbers"),
        ((0, 0, 4), np.inf, "outputs are not numbers"),
        ((0, 0, 4), 1.5, "scores are 0.9 to 1.5; allowed: 0 to 1, or -1 for no detection"),
        ((0, 0, 4), -0.5, "scores are -0.5 to 0.9; allowed: 0 to 1, or -1 for no detection"),
        ((0, 0, 5), 3, "classes are 0 to 3; allowed: whole numbers, 0 to 2, 0 for the first category"),
        ((0, 0, 5), 0.5, "classes are 0 to 2; allowed: whole numbers, 0 to 2, 0 for the first category"),
        ((0, 0, 2), -9, "boxes end before they begin; allowed: left, top, right, bottom"),
    ],
)
def test_outputs_that_are_no_detections_have_no_precision(
    boxes: Arrays, place: tuple[int, ...], value: float, reason: str
) -> None:
    outputs = perfect(boxes)[..., :BOX].copy()
    outputs[place] = value
    judged = task_of("detection").judge(outputs, boxes)
    assert (set(judged.values.values()), judged.unknown) == ({None}, reason)


@pytest.mark.parametrize("shape", [(30, 3), (29, 4, BOX), (30, 4, BOX + 1), (30, 4, 4)])
def test_outputs_of_another_shape_have_no_precision(boxes: Arrays, shape: tuple[int, ...]) -> None:
    judged = task_of("detection").judge(np.zeros(shape, np.float32), boxes)
    assert judged.unknown is not None
    assert judged.unknown.endswith("are no detections; allowed: (30, any, 6) of floats")


def test_a_test_set_of_crowds_alone_has_no_precision(boxes: Arrays) -> None:
    objects: Any = boxes.y_test
    crowds: Any = replace(objects, crowd=np.ones(len(objects.boxes), bool))
    judged = task_of("detection").judge(perfect(boxes)[..., :BOX], replace(boxes, y_test=crowds))
    assert (judged.values["box_ap"], judged.unknown) == (None, "the test set has no objects")


def test_steps_of_other_widths_and_orders_are_one_array() -> None:
    steps = [Step(np.array([2, 0]), 2), Step(np.array([1]), 1)]
    parts = [np.zeros((2, 3, BOX), np.float32), np.ones((1, 5, BOX), np.float32)]
    whole = task_of("detection").in_order(parts, steps)
    assert whole.shape == (3, 5, BOX)
    assert (whole[1] == 1).all()
    assert (whole[[0, 2], 3:] == -1).all()
    assert (whole[[0, 2], :3] == 0).all()


@pytest.mark.parametrize(
    ("box", "there"),
    [((2, 3, 7, 6), (2, 3, 7, 6)), ((-4, -4, 3, 2), (0, 0, 3, 2)), ((8, 8, 30, 30), (8, 8, 10, 10))],
)
def test_a_full_mask_is_its_box_within_the_image(box: tuple[int, ...], there: tuple[int, ...]) -> None:
    laid = paste_mask(np.ones((MASK, MASK)), np.array(box), (10, 10))
    wanted = np.zeros((10, 10), np.uint8)
    left, top, right, bottom = there
    wanted[top:bottom, left:right] = 1
    assert np.array_equal(laid, wanted)


def test_half_a_mask_is_half_a_box_and_a_box_of_no_size_is_nothing() -> None:
    half = np.zeros((MASK, MASK))
    half[:, : MASK // 2] = 1
    laid = paste_mask(half, np.array([0, 0, 8, 8]), (8, 8))
    assert np.array_equal(laid[:, :4], np.ones((8, 4)))
    assert not laid[:, 4:].any()
    assert not paste_mask(np.ones((MASK, MASK)), np.array([3.2, 3.2, 3.2, 3.2]), (8, 8)).any()
