"""Detections that are meant otherwise than they are judged: the next thing that a user's own detector does."""

from typing import Any

import numpy as np
import pytest

from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.runs.worker import without_quality
from framewatt.tasks.boxes import misread
from framewatt.tasks.detection import Detection
from framewatt.tasks.quality import hints_of, quality_of

SHAPES = {"module": "synthetic_shapes", "train_samples": 1, "test_samples": 40, "size": 64, "most": 4, "seed": 0}
DATA: Arrays = make_arrays({**SHAPES, "masks": False})


def perfect(objects: Objects) -> np.ndarray:
    """Every object with its box and class, at a score of 0.9."""
    most = int(np.diff(objects.starts).max())
    made = np.full((len(objects), most, 6), -1, np.float32)
    for image in range(len(objects)):
        numbers = np.arange(*objects.starts[image : image + 2])
        made[image, : len(numbers), :4] = objects.boxes[numbers]
        made[image, : len(numbers), 4], made[image, : len(numbers), 5] = 0.9, objects.classes[numbers]
    return made


def changed(**columns: Any) -> np.ndarray:
    """The same, written in another way: `boxes` and `classes` are functions of what was there."""
    found = perfect(DATA.y_test)
    there = found[..., 4] >= 0
    rows = found[there]
    rows[:, :4] = columns.get("boxes", lambda boxes: boxes)(rows[:, :4])
    rows[:, 5] = columns.get("classes", lambda classes: classes)(rows[:, 5])
    found[there] = rows
    return found


OF_FEW = {"classes": lambda kinds: np.where(kinds == 0, 1, np.where(kinds == 1, 2, 0))}
"""Classes that begin at 1, the last of which nothing tells from a class that there is."""


@pytest.mark.parametrize(
    ("columns", "hint"),
    [
        (OF_FEW, "were each class one lower (that of the first category is 0, and the background has none)"),
        ({"classes": lambda kinds: (kinds - 1) % 3}, "were each class one higher"),
        ({"boxes": lambda boxes: boxes / 64}, "were boxes shares of the image (allowed: pixels)"),
        ({"boxes": lambda boxes: boxes[:, [1, 0, 3, 2]]}, "were boxes top, left, bottom, right"),
    ],
)
def test_answers_that_are_meant_otherwise_are_told_beside_their_low_precision(columns: dict, hint: str) -> None:
    judged = Detection().judge(changed(**columns), DATA)
    assert judged.values["box_ap"] < 0.5
    (told,) = hints_of(quality_of(judged))
    assert told.startswith(f"of {len(DATA.y_test.boxes)} objects ")
    assert hint in told


def test_classes_from_1_that_reach_beyond_the_last_have_no_precision_and_the_reason_says_where_they_begin() -> None:
    judged = Detection().judge(changed(classes=lambda kinds: kinds + 1), DATA)
    assert judged.unknown == "classes are 1 to 3; allowed: whole numbers, 0 to 2, 0 for the first category"
    assert set(judged.values.values()) == {None}


@pytest.mark.parametrize("seed", range(5))
def test_who_finds_little_is_not_told_of_mistakes_that_were_not_made(seed: int) -> None:
    random = np.random.default_rng(seed)
    corners = random.uniform(0, 64, (40, 30, 2, 2)).astype(np.float32)
    boxes = np.concatenate([corners.min(axis=2), corners.max(axis=2)], axis=2)
    chance = np.concatenate([boxes, random.random((40, 30, 1)), random.integers(3, size=(40, 30, 1))], axis=2)
    assert misread(chance, DATA.y_test) is None
    one_class = np.concatenate([boxes, random.random((40, 30, 1)), np.full((40, 30, 1), 2)], axis=2)
    assert misread(one_class, DATA.y_test) is None


def test_who_finds_all_or_nothing_is_told_of_none() -> None:
    assert misread(perfect(DATA.y_test), DATA.y_test) is None
    assert misread(np.full((40, 5, 6), -1, np.float32), DATA.y_test) is None
    assert misread(np.zeros((40, 0, 6), np.float32), DATA.y_test) is None


def test_random_weights_are_meant_as_nothing() -> None:
    quality = quality_of(Detection().judge(changed(**OF_FEW), DATA))
    assert hints_of(without_quality({"quality": quality, "right": None}, "weights are random")["quality"]) == []
