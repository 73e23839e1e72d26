"""Detections as numbers: their form, their masks on an image, and how two sets of them compare.

Detections of images are an array of shape (n, most, BOX), or of BOX + MASK * MASK numbers where they have masks: left,
top, right, bottom in pixels of the image, score from 0 to 1, class from 0, and the cells of the mask from 0 to 1, row
by row, within its box. Where an image has fewer than `most`, all numbers are NONE. Their order does not count.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.objects import Objects

NONE = -1
"""What rows are filled with where there is no detection."""

BOX = 6
"""Numbers of a detection before its mask: left, top, right, bottom, score, class."""

MASK = 28
"""Sides of a detection's mask: what Mask R-CNN gives (K. He et al., ICCV 2017)."""

MOST = 100
"""Detections of an image that count, those of the highest scores of each class."""

DETECTIONS, OBJECTS = "detections_per_image", "objects_per_image"
"""Their means, facts of precision in records; objects are counted without crowds."""

_THRESHOLD = 0.5
"""A pixel, or a cell of a mask, is the object's where the mask is at least this."""

OVERLAP = 0.9
"""Least overlap (intersection over union) of two boxes that are the same; of masks, of their cells."""

NEAR = 0.01
"""Pixels between the sides of two boxes that are the same: a box that was cut off at an image's edge has no area."""

SCORE = 1e-3
"""Largest difference of the scores of two detections that are the same."""

Detections = NDArray[Any]
"""Detections of an image, shape (k, BOX or more)."""


def paste_mask(mask: NDArray[Any], box: NDArray[Any], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return the mask of a detection on its image, interpolated between the middles of its cells at those of pixels.

    Boxes are taken as they are. torchvision rounds them to whole pixels, which costs a small object some of its
    overlap: masks of 200 drawn shapes of 8 to 40 pixels overlap these by 0.965 here, by 0.934 there.

    Args:
        mask: shape (MASK, MASK), from 0 to 1, within the box.
        box: left, top, right, bottom, in pixels; it may reach beyond the image.
        size: (height, width) of the image.

    Returns:
        Shape (height, width), 1 on the object.
    """
    left, top, right, bottom = (float(value) for value in box)
    pasted = np.zeros(size, np.uint8)
    # Only the box is computed: most are small compared with their image.
    (rows, down), (columns, across) = _weights(top, bottom, size[0]), _weights(left, right, size[1])
    pasted[rows, columns] = down @ mask.astype(float) @ across.T >= _THRESHOLD
    return pasted


def _weights(start: float, end: float, pixels: int) -> tuple[slice, NDArray[np.float64]]:
    """Return the k pixels of a row between two ends, and by how much each has of each cell, shape (k, MASK)."""
    middles = np.arange(pixels) + 0.5
    first, after = np.searchsorted(middles, start, "left"), np.searchsorted(middles, end, "right")
    cells = (middles[first:after] - start) / max(end - start, 1e-6) * MASK - 0.5
    weights: NDArray[np.float64] = np.clip(1 - np.abs(cells[:, None] - np.arange(MASK)), 0, None)
    return slice(int(first), int(max(first, after))), weights


def same_share(detections: NDArray[Any], reference: NDArray[Any]) -> float:
    """Return the share of detections that two models both have, of the larger number; NaN where neither has any.

    Args:
        detections: shape (n, most, BOX or more).
        reference: shape (n, any, as many).
    """
    both = more = 0
    for image, other in zip(detections, reference, strict=True):
        ours, theirs = image[image[:, 4] >= 0], other[other[:, 4] >= 0]
        more += max(len(ours), len(theirs))
        both += _pairs(ours, theirs)
    return both / more if more else float("nan")


def _pairs(ours: Detections, theirs: Detections) -> int:
    """Return how many detections of an image are in both sets; each is matched once, the best scores first."""
    if not len(ours) or not len(theirs):
        return 0
    alike = _same_overlaps(ours[:, :4], theirs[:, :4])
    possible = (alike >= OVERLAP) & (np.abs(ours[:, None, 4] - theirs[None, :, 4]) <= SCORE)
    possible &= ours[:, None, 5] == theirs[None, :, 5]
    if ours.shape[1] > BOX:
        possible &= _cells(ours[:, BOX:], theirs[:, BOX:]) >= OVERLAP
    alike = np.where(possible, alike, -1.0)
    count = 0
    for number in np.argsort(-theirs[:, 4], kind="stable"):
        best = int(alike[:, number].argmax())
        if alike[best, number] >= 0:
            count += 1
            alike[best] = -1.0
    return count


def _overlaps(ours: NDArray[Any], theirs: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the areas that all boxes have in common and together, shape (ours, theirs) each."""
    first, second = ours[:, None, :4].astype(float), theirs[None, :, :4].astype(float)
    sides = np.clip(np.minimum(first[..., 2:], second[..., 2:]) - np.maximum(first[..., :2], second[..., :2]), 0, None)
    common = sides.prod(axis=-1)
    whole = [(boxes[..., 2:] - boxes[..., :2]).clip(min=0).prod(axis=-1) for boxes in (first, second)]
    return common, whole[0] + whole[1] - common


def _same_overlaps(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[np.float64]:
    """Return the overlaps of all boxes, shape (ours, theirs); 1 where all sides are within NEAR, whatever the area."""
    common, joined = _overlaps(ours, theirs)
    near = (np.abs(ours[:, None].astype(float) - theirs[None].astype(float)) <= NEAR).all(axis=-1)
    return np.where(near, 1.0, common / np.where(joined > 0, joined, 1))


def _cells(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[np.float64]:
    """Return the overlaps of all masks, shape (ours, theirs); two masks without a cell are the same."""
    first, second = (ours >= _THRESHOLD).astype(float), (theirs >= _THRESHOLD).astype(float)
    common = first @ second.T
    joined = first.sum(axis=1)[:, None] + second.sum(axis=1)[None] - common
    return np.where(joined > 0, common / np.where(joined > 0, joined, 1), 1.0)


_IMAGES, _BEST = 500, 20
"""Images that are read otherwise, the first ones, and detections of each, those of the highest scores."""

_LEAST_OVERLAP = 0.5
_TIMES, _SHARE, _FEWEST = 3, 0.1, 3
"""For another reading: how many times more detections, what share of all objects, and how many at least are right."""

_Reading = Callable[[Detections, tuple[int, int]], Detections]


def _shifted(by: int) -> _Reading:
    return lambda detections, _: np.column_stack([detections[:, :5], detections[:, 5] + by])


def _from_shares(detections: Detections, size: tuple[int, int]) -> Detections:
    height, width = size
    return np.column_stack([detections[:, :4] * [width, height, width, height], detections[:, 4:]])


READINGS: Mapping[str, _Reading] = {
    "were each class one lower (that of the first category is 0, and the background has none)": _shifted(-1),
    "were each class one higher (that of the first category is 0)": _shifted(1),
    "were boxes shares of the image (allowed: pixels)": _from_shares,
    "were boxes top, left, bottom, right (allowed: left, top, right, bottom)": lambda detections, _: detections[
        :, [1, 0, 3, 2, 4, 5]
    ],
}
"""What detections may be meant as, in words that records store, and how they are written as framewatt takes them."""


def misread(outputs: NDArray[Any], objects: Objects) -> str | None:
    """Return in which other reading far more detections are right; None where in none.

    Frameworks and zoos differ in where classes start and in how boxes are written. A detector with answers that are
    meant in another way has a precision near 0, and no number shows why.

    Args:
        outputs: shape (n, most, BOX or more).
        objects: of the n images.
    """
    plain, others, total = 0, dict.fromkeys(READINGS, 0), 0
    for image, of_image in enumerate(outputs[:_IMAGES, :, :BOX].astype(float)):
        numbers = np.arange(*objects.starts[image : image + 2])
        numbers = numbers[~objects.crowd[numbers]]
        detections = of_image[of_image[:, 4] >= 0]
        detections = detections[np.argsort(-detections[:, 4], kind="stable")[:_BEST]]
        total += len(numbers)
        if not len(numbers) or not len(detections):
            continue
        boxes, classes = objects.boxes[numbers].astype(float), objects.classes[numbers]
        plain += _right(detections, boxes, classes)
        for name, read in READINGS.items():
            others[name] += _right(read(detections, objects.size), boxes, classes)
    name = max(others, key=others.__getitem__)
    if others[name] < max(_TIMES * plain, _SHARE * total, _FEWEST):
        return None
    return f"of {total} objects {plain} are found, and {others[name]} would be, {name}"


def _right(detections: Detections, boxes: NDArray[Any], classes: NDArray[np.int64]) -> int:
    """Return how many objects have a detection of their class that overlaps them."""
    common, joined = _overlaps(detections, boxes)
    match = (common >= _LEAST_OVERLAP * joined) & (common > 0) & (detections[:, None, 5] == classes[None])
    return int(match.any(axis=0).sum())
