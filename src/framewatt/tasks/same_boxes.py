"""Whether two detectors found the same: each detection of one is looked for among those of the other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

OVERLAP = 0.9
"""Least overlap (intersection over union) of a box with its like; of masks, of their cells."""

NEAR = 0.01
"""Pixels between the sides of two boxes that are the same: one that was cut off at an image's edge has no area."""

SCORE = 1e-3
"""Largest difference of the scores of both."""

_HALF = 0.5
"""A cell is the object's where the mask is at least this."""


def same_share(found: NDArray[Any], reference: NDArray[Any]) -> float:
    """Share of detections that both have, of the more of both; NaN where neither has any.

    Args:
        found: shape (n, most, 6 or more): left, top, right, bottom, score, class, and the cells of a mask where there
            is one; a score of -1 where there is no detection.
        reference: shape (n, any, as many).
    """
    both = more = 0
    for image, other in zip(found, reference, strict=True):
        ours, theirs = image[image[:, 4] >= 0], other[other[:, 4] >= 0]
        more += max(len(ours), len(theirs))
        both += _pairs(ours, theirs)
    return both / more if more else float("nan")


def _pairs(ours: NDArray[Any], theirs: NDArray[Any]) -> int:
    """How many detections of an image have their like; each is one's like once, the best scores first."""
    if not len(ours) or not len(theirs):
        return 0
    alike = _overlaps(ours[:, :4], theirs[:, :4])
    possible = (alike >= OVERLAP) & (np.abs(ours[:, None, 4] - theirs[None, :, 4]) <= SCORE)
    possible &= ours[:, None, 5] == theirs[None, :, 5]
    if ours.shape[1] > 6:
        possible &= _cells(ours[:, 6:], theirs[:, 6:]) >= OVERLAP
    alike = np.where(possible, alike, -1.0)
    count = 0
    for number in np.argsort(-theirs[:, 4], kind="stable"):
        best = int(alike[:, number].argmax())
        if alike[best, number] >= 0:
            count += 1
            alike[best] = -1.0
    return count


def _overlaps(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[np.float64]:
    """Overlaps of all boxes, shape (ours, theirs); 1 where all sides are within NEAR, whatever the area."""
    first, second = ours[:, None].astype(float), theirs[None].astype(float)
    sides = np.clip(np.minimum(first[..., 2:], second[..., 2:]) - np.maximum(first[..., :2], second[..., :2]), 0, None)
    common = sides.prod(axis=-1)
    whole = [(boxes[..., 2:] - boxes[..., :2]).prod(axis=-1) for boxes in (first, second)]
    joined = whole[0] + whole[1] - common
    near = (np.abs(first - second) <= NEAR).all(axis=-1)
    return np.where(near, 1.0, common / np.where(joined > 0, joined, 1))


def _cells(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[np.float64]:
    """Overlaps of all masks, shape (ours, theirs); two without a cell are the same."""
    first, second = (ours >= _HALF).astype(float), (theirs >= _HALF).astype(float)
    common = first @ second.T
    joined = first.sum(axis=1)[:, None] + second.sum(axis=1)[None] - common
    return np.where(joined > 0, common / np.where(joined > 0, joined, 1), 1.0)
