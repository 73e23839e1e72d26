"""Annotations of COCO as objects on squares: what is kept of each, what is cut, and what is left out and counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.coco_annotations import Annotation, Listed
from framewatt.datasets.coco_masks import mask_of
from framewatt.datasets.masks import encode
from framewatt.datasets.objects import Objects
from framewatt.datasets.squares import Placing

NO_BOX, NO_MASK, POLYGON = "empty_box_left_out", "empty_mask_left_out", "polygon_of_two_points_left_out"
CUT = "box_cut"
COUNTED = (NO_BOX, NO_MASK, POLYGON, CUT)
"""What is counted of annotations: those of which nothing is in the image, or no pixel in the square; polygons that
enclose nothing; boxes that end at their image's edge, since they reached beyond."""

_LAST_DIGIT = 0.01
"""Pixels by which a box may reach beyond its image for COCO's rounding alone."""


class Object(NamedTuple):
    """What is kept of an annotation, see Objects."""

    box: NDArray[np.float32]
    kind: int
    crowd: bool
    area: float
    runs: NDArray[np.int64]


def on_image(
    listed: Listed, placed: Placing, kinds: Mapping[int, int], *, masks: bool
) -> tuple[list[Object], Counter[str]]:
    """The objects of an image in its square, and how often each of COUNTED was.

    Args:
        listed: the image.
        placed: where it is in the square.
        kinds: class by id of category.
        masks: whether masks are made; where not, they are not looked at.

    Raises:
        FramewattError: an annotation is wrong.
    """
    counts: Counter[str] = Counter()
    found = (_object(one, placed, kinds[one.category], counts, masks=masks) for one in listed.annotations)
    return [one for one in found if one is not None], counts


def joined(images: Sequence[Sequence[Object]], size: int, *, masks: bool) -> Objects:
    """The objects of a split, image by image.

    Args:
        images: what is on each.
        size: pixels of their sides.
        masks: whether they have masks.
    """
    found = [one for objects in images for one in objects]
    runs = [one.runs for one in found] if masks else []
    return Objects(
        np.cumsum([0, *map(len, images)], dtype=np.int64),
        np.array([one.box for one in found], np.float32).reshape(-1, 4),
        np.array([one.kind for one in found], np.int64),
        np.array([one.crowd for one in found], np.bool_),
        np.array([one.area for one in found], np.float32),
        np.concatenate(runs) if runs else np.zeros(0, np.int64),
        np.cumsum([0, *map(len, runs)] if masks else [], dtype=np.int64),
        (size, size),
    )


def _object(annotation: Annotation, placed: Placing, kind: int, counts: Counter[str], *, masks: bool) -> Object | None:
    """An object in its square; None where nothing is left of it."""
    left, top, width, height = annotation.box
    box = placed.box(left, top, width, height)
    sides = box[2:] - box[:2]
    # Of a box that is nearly empty, the area may be too small for a float.
    area, stated = np.float32(sides[0] * sides[1]), np.float32((annotation.area or 0) * placed.scale)
    if sides.min() <= 0 or not area:
        counts[NO_BOX] += 1
        return None
    runs = np.zeros(0, np.int64)
    if masks:
        mask = placed.mask(_mask(annotation, placed.size, counts))
        runs, stated = encode(mask), np.float32(mask.sum())
        if not stated:
            counts[NO_MASK] += 1
            return None
    rows, columns = placed.size
    beyond = max(-left, -top, left + width - columns, top + height - rows)
    counts[CUT] += int(beyond > _LAST_DIGIT)
    return Object(box, kind, annotation.crowd, float(stated or area), runs)


def _mask(annotation: Annotation, size: tuple[int, int], counts: Counter[str]) -> NDArray[np.uint8]:
    """The mask of an annotation on its image."""
    try:
        mask, left_out = mask_of(annotation.content.get("segmentation"), size)
    except FramewattError as error:
        raise FramewattError(f"{annotation.place}: {error}") from error
    counts[POLYGON] += left_out
    return mask
