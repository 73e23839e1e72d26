"""Detections that would be right, were their numbers meant otherwise: what a precision near 0 may come from.

Frameworks and zoos differ in where classes begin and in how boxes are written; a detector whose answers are meant in
another way finds nothing, and no number says why.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.objects import Objects

_IMAGES, _BEST = 500, 20
"""Images that are looked at, the first ones, and detections of each, those of the highest scores."""

_OVERLAP = 0.5
_TIMES, _SHARE, _FEWEST = 3, 0.1, 3
"""How many times as many, of which share of all objects, and how many at least have to be right in another reading."""

_Found = NDArray[Any]
_Reading = Callable[[_Found, tuple[int, int]], _Found]


def _shifted(by: int) -> _Reading:
    return lambda found, _: np.column_stack([found[:, :5], found[:, 5] + by])


def _of_shares(found: _Found, size: tuple[int, int]) -> _Found:
    height, width = size
    return np.column_stack([found[:, :4] * [width, height, width, height], found[:, 4:]])


READINGS: Mapping[str, _Reading] = {
    "were each class one lower (that of the first category is 0, and the background has none)": _shifted(-1),
    "were each class one higher (that of the first category is 0)": _shifted(1),
    "were boxes shares of the image (allowed: pixels)": _of_shares,
    "were boxes top, left, bottom, right (allowed: left, top, right, bottom)": lambda found, _: found[
        :, [1, 0, 3, 2, 4, 5]
    ],
}
"""What detections may be meant as, in words, and how they are then written as framewatt takes them."""


def misread(outputs: NDArray[Any], objects: Objects) -> str | None:
    """In which other reading far more detections are right; None where in none.

    Args:
        outputs: shape (n, most, 6 or more), see tasks.detection; -1 where there is no detection.
        objects: of the n images.
    """
    plain, others, total = 0, dict.fromkeys(READINGS, 0), 0
    for image, of_image in enumerate(outputs[:_IMAGES, :, :6].astype(float)):
        numbers = np.arange(*objects.starts[image : image + 2])
        numbers = numbers[~objects.crowd[numbers]]
        found = of_image[of_image[:, 4] >= 0]
        found = found[np.argsort(-found[:, 4], kind="stable")[:_BEST]]
        total += len(numbers)
        if not len(numbers) or not len(found):
            continue
        boxes, classes = objects.boxes[numbers].astype(float), objects.classes[numbers]
        plain += _right(found, boxes, classes)
        for name, read in READINGS.items():
            others[name] += _right(read(found, objects.size), boxes, classes)
    name = max(others, key=others.__getitem__)
    if others[name] < max(_TIMES * plain, _SHARE * total, _FEWEST):
        return None
    return f"of {total} objects {plain} are found, and {others[name]} would be, {name}"


def _right(found: _Found, boxes: NDArray[Any], classes: NDArray[np.int64]) -> int:
    """How many objects a detection of their class lies on."""
    left_top = np.maximum(found[:, None, :2], boxes[None, :, :2])
    right_bottom = np.minimum(found[:, None, 2:4], boxes[None, :, 2:])
    common = np.prod((right_bottom - left_top).clip(min=0), axis=2)
    areas = [np.prod((one[:, 2:4] - one[:, :2]).clip(min=0), axis=1) for one in (found, boxes)]
    joined = areas[0][:, None] + areas[1][None] - common
    lies = (common >= _OVERLAP * joined) & (common > 0) & (found[:, None, 5] == classes[None])
    return int(lies.any(axis=0).sum())
