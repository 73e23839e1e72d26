"""Annotations of COCO as objects on squares: what is stored of each, what is cut, and what is left out and counted.

Masks are drawn as COCO's tools draw them, from polygons, or from runs as numbers or as text. This is written anew,
since the environment in which data sets are made has no pycocotools; tests compare it with these tools. Source: T.-Y.
Lin et al., Microsoft COCO, ECCV 2014, and its tools: rleFrPoly, rleFrString and frPyObjects.
"""

import reprlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.coco_annotations import Annotation, Listed
from framewatt.datasets.objects import Objects, decode_mask, encode_mask
from framewatt.datasets.preprocessing import Placing

NO_BOX, NO_MASK, POLYGON = "empty_box_left_out", "empty_mask_left_out", "polygon_of_two_points_left_out"
CUT = "box_cut"
COUNTED = (NO_BOX, NO_MASK, POLYGON, CUT)
"""What is counted of annotations: those with nothing in the image, or no pixel in the square; polygons that
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
    """Return the objects of an image in its square, and how often each of COUNTED was.

    Args:
        listed: the image.
        placed: where it is in the square.
        kinds: class by id of category.
        masks: whether masks are made; where not, they are not looked at.

    Raises:
        FramewattError: an annotation is wrong.
    """
    counts: Counter[str] = Counter()
    objects = (_object(one, placed, kinds[one.category], counts, masks=masks) for one in listed.annotations)
    return [one for one in objects if one is not None], counts


def joined(images: Sequence[Sequence[Object]], size: int, *, masks: bool) -> Objects:
    """Return the objects of a split, image by image.

    Args:
        images: what is on each.
        size: pixels of their sides.
        masks: whether they have masks.
    """
    every = [one for objects in images for one in objects]
    runs = [one.runs for one in every] if masks else []
    return Objects(
        np.cumsum([0, *map(len, images)], dtype=np.int64),
        np.array([one.box for one in every], np.float32).reshape(-1, 4),
        np.array([one.kind for one in every], np.int64),
        np.array([one.crowd for one in every], np.bool_),
        np.array([one.area for one in every], np.float32),
        np.concatenate(runs) if runs else np.zeros(0, np.int64),
        np.cumsum([0, *map(len, runs)] if masks else [], dtype=np.int64),
        (size, size),
    )


def _object(annotation: Annotation, placed: Placing, kind: int, counts: Counter[str], *, masks: bool) -> Object | None:
    """Return an object in its square; None where nothing is left of it."""
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
        runs, stated = encode_mask(mask), np.float32(mask.sum())
        if not stated:
            counts[NO_MASK] += 1
            return None
    rows, columns = placed.size
    beyond = max(-left, -top, left + width - columns, top + height - rows)
    counts[CUT] += int(beyond > _LAST_DIGIT)
    return Object(box, kind, annotation.crowd, float(stated or area), runs)


def _mask(annotation: Annotation, size: tuple[int, int], counts: Counter[str]) -> NDArray[np.uint8]:
    """Return the mask of an annotation on its image."""
    try:
        mask, left_out = mask_of(annotation.content.get("segmentation"), size)
    except FramewattError as error:
        raise FramewattError(f"{annotation.place}: {error}") from error
    counts[POLYGON] += left_out
    return mask


Mask = NDArray[np.uint8]

FEWEST = 6
"""Numbers of a polygon that encloses something: three points."""

_FINE = 5
"""Steps of a pixel in which outlines are drawn."""

_LONGEST = 2 * 10**6
"""Most steps of an outline, which is 400,000 pixels long then. More would be a fault, and fill the memory."""

_FIRST, _BITS, _GOES_ON, _NEGATIVE = 48, 5, 0x20, 0x10
"""Of runs as text: the character of 0, bits of a number in each, and marks that another follows and of the sign."""

_MOST_CHARACTERS = 7
"""Of a number: 35 bits hold any run."""


def mask_of(segmentation: Any, size: tuple[int, int]) -> tuple[Mask, int]:
    """Return the mask of an annotation.

    Args:
        segmentation: of COCO: polygons, each `[x, y, x, y, …]` in pixels, or runs as `{"size": …, "counts": …}`.
        size: (height, width) of its image.

    Returns:
        Its mask, shape (height, width), 1 on the object; and the number of polygons that are left out because they have
        less than three points.

    Raises:
        FramewattError: it is neither, or does not fit the image. The error names no place.
    """
    if isinstance(segmentation, Mapping):
        return decode_mask(_runs(segmentation, size), size), 0
    if not isinstance(segmentation, list) or not segmentation:
        content = "no polygon" if segmentation == [] else f"a segmentation of type {type(segmentation).__name__}"
        raise FramewattError(f"it has {content}. Use polygons, or size and counts; else set masks: false.")
    mask, left_out = np.zeros(size, np.uint8, order="F"), 0
    for polygon in segmentation:
        points = _points(polygon, size)
        if len(points) * 2 < FEWEST:
            left_out += 1
        else:
            mask |= drawn(points, size)
    return mask, left_out


def drawn(points: NDArray[np.float64], size: tuple[int, int]) -> Mask:
    """Return the pixels of a polygon, bit for bit as rleFrPoly has them.

    Its outline is drawn in fifths of pixels. Where it crosses the middle of a column of pixels, inside begins or ends:
    going down the columns, each crossing turns outside into inside, or back.

    Args:
        points: shape (k, 2), x and y in pixels.
        size: (height, width) of the image; what is beyond is cut off.

    Returns:
        Shape (height, width), 1 inside.

    Raises:
        FramewattError: the outline is longer than any object's.
    """
    height, width = size
    across, down = _outline(points)
    before, after = across[:-1], across[1:]
    columns = (np.where(after < before, after, after - 1) + 0.5) / _FINE - 0.5
    rows = np.ceil(np.clip((np.minimum(down[:-1], down[1:]) + 0.5) / _FINE - 0.5, 0, height))
    crossing = (after != before) & (columns == np.floor(columns)) & (columns >= 0) & (columns <= width - 1)
    places = (columns[crossing] * height + rows[crossing]).astype(np.int64)
    return decode_mask(np.diff(np.sort(places), prepend=0, append=height * width), size)


def _outline(points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every step of the outline of a polygon, in fifths of pixels: columns and rows, shape (m,) each.

    Both ends of an edge are steps of it, so that corners are there twice.
    """
    corners = np.trunc(points * _FINE + 0.5).astype(np.int64)
    begin, end = corners, np.roll(corners, -1, axis=0)
    wide, high = np.abs(end - begin).T
    steps = np.maximum(wide, high)
    total = int(steps.sum()) + len(steps)
    if total > _LONGEST:
        raise FramewattError(
            f"it has a polygon with an outline of {total // _FINE} pixels. Use {_LONGEST // _FINE} at most."
        )
    flat = wide >= high
    # From left to right, or from top to bottom: rounding goes the same way whichever way an edge is written.
    back = np.where(flat, begin[:, 0] > end[:, 0], begin[:, 1] > end[:, 1])[:, None]
    begin, end = np.where(back, end, begin), np.where(back, begin, end)
    slope = np.where(flat, (end - begin)[:, 1], (end - begin)[:, 0]) / np.maximum(steps, 1)
    edge = np.repeat(np.arange(len(steps)), steps + 1)
    taken = np.arange(total) - np.repeat(np.cumsum(steps + 1) - steps - 1, steps + 1)
    taken = np.where(back[edge, 0], steps[edge] - taken, taken)
    rise = slope[edge] * taken
    sloping = np.trunc(np.where(flat[edge], begin[edge, 1], begin[edge, 0]) + rise + 0.5).astype(np.int64)
    across = np.where(flat[edge], begin[edge, 0] + taken, sloping)
    down = np.where(flat[edge], sloping, begin[edge, 1] + taken)
    return across, down


def _points(polygon: Any, size: tuple[int, int]) -> NDArray[np.float64]:
    """Return the points of a polygon, shape (k, 2)."""
    if not isinstance(polygon, list) or not set(map(type, polygon)) <= {int, float} or len(polygon) % 2:
        raise FramewattError("it has a polygon that is no list of pairs of numbers. Use [x, y, x, y, …].")
    # An image's side beyond its edges is more than any outline needs, and farther ones would take long to draw.
    reach = float(max(size))
    wrong = next((value for value in polygon if not -reach <= value <= 2 * reach), None)
    if wrong is not None:
        allowed = f"pixels of the image of {size[1]}x{size[0]}, or as far beyond"
        raise FramewattError(f"it has {reprlib.repr(wrong)} in a polygon. Use {allowed}.")
    return np.array(polygon, np.float64).reshape(-1, 2)


def _runs(segmentation: Mapping[Any, Any], size: tuple[int, int]) -> NDArray[np.int64]:
    """Return the runs of a mask that fills its image."""
    stated, counts, pixels = segmentation.get("size"), segmentation.get("counts"), size[0] * size[1]
    if stated != list(size) or not set(map(type, stated)) <= {int}:
        raise FramewattError(f"it has runs of size {reprlib.repr(stated)}. Use {list(size)}, its height and width.")
    if isinstance(counts, str):
        counts = numbers_of(counts)
    if not isinstance(counts, list) or not set(map(type, counts)) <= {int}:
        raise FramewattError("it has counts that are no list of whole numbers, nor text. Use lengths of runs.")
    if (wrong := next((count for count in counts if not 0 <= count <= pixels), None)) is not None:
        raise FramewattError(f"it has a run of {reprlib.repr(wrong)} pixels. Use 0 to {pixels}.")
    if (total := sum(counts)) != pixels:
        raise FramewattError(f"it has runs of {total} pixels in all. Use {size[0]} x {size[1]} = {pixels}.")
    return np.array(counts, np.int64)


def numbers_of(text: str) -> list[int]:
    """Runs from the text in which COCO's tools compress them; it is not looked at whether they are 0 or more.

    Each number is in groups of five bits, the lowest first, and from the fourth on less that of the second one before.

    Args:
        text: characters from `0` to `o`.

    Raises:
        FramewattError: another character, or the last number has no end. The error names no place.
    """
    numbers: list[int] = []
    value = place = 0
    for character in text:
        group = ord(character) - _FIRST
        if not 0 <= group < 2 * _GOES_ON or place == _MOST_CHARACTERS:
            raise FramewattError(f"it has {character!r} in compressed counts. Use what COCO's tools write.")
        value |= (group & (_GOES_ON - 1)) << _BITS * place
        place += 1
        if group & _GOES_ON:
            continue
        if group & _NEGATIVE:
            value -= 1 << _BITS * place
        numbers.append(value + (numbers[-2] if len(numbers) > 2 else 0))
        value = place = 0
    if place:
        raise FramewattError("it has compressed counts that end within a number. Use whole ones.")
    return numbers
