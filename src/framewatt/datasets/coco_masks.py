"""Masks of COCO's annotations, as its tools draw them: from polygons, or from runs as numbers or as text.

Written anew, since the environment in which data sets are made has no pycocotools; tests hold it to these tools.

Source: T.-Y. Lin et al., Microsoft COCO, ECCV 2014, and its tools: rleFrPoly, rleFrString and frPyObjects.
"""

import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.masks import decode

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
    """The mask of an annotation.

    Args:
        segmentation: of COCO: polygons, each `[x, y, x, y, …]` in pixels, or runs as `{"size": …, "counts": …}`.
        size: (height, width) of its image.

    Returns:
        Its mask, shape (height, width), 1 on the object; and how many polygons are left out, since they have less than
        three points.

    Raises:
        FramewattError: it is neither, or does not fit the image. It says no place.
    """
    if isinstance(segmentation, Mapping):
        return decode(_runs(segmentation, size), size), 0
    if not isinstance(segmentation, list) or not segmentation:
        found = "no polygon" if segmentation == [] else f"a segmentation of type {type(segmentation).__name__}"
        raise FramewattError(f"found {found}; allowed: polygons, or size and counts; else set masks: false")
    mask, left_out = np.zeros(size, np.uint8, order="F"), 0
    for polygon in segmentation:
        points = _points(polygon, size)
        if len(points) * 2 < FEWEST:
            left_out += 1
        else:
            mask |= drawn(points, size)
    return mask, left_out


def drawn(points: NDArray[np.float64], size: tuple[int, int]) -> Mask:
    """The pixels of a polygon, bit for bit as rleFrPoly has them.

    Its outline is drawn in fifths of pixels. Where it crosses the middle of a column of pixels, inside begins or ends:
    going down the columns, each crossing turns outside into inside, or back.

    Args:
        points: shape (k, 2), x and y in pixels.
        size: (height, width) of the image; what lies beyond is cut off.

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
    return decode(np.diff(np.sort(places), prepend=0, append=height * width), size)


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
            f"found a polygon with an outline of {total // _FINE} pixels; allowed: {_LONGEST // _FINE} at most"
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
    """The points of a polygon, shape (k, 2)."""
    if not isinstance(polygon, list) or not set(map(type, polygon)) <= {int, float} or len(polygon) % 2:
        raise FramewattError("found a polygon that is no list of pairs of numbers; allowed: [x, y, x, y, …]")
    # An image's side beyond its edges is more than any outline needs, and farther ones would take long to draw.
    reach = float(max(size))
    wrong = next((value for value in polygon if not -reach <= value <= 2 * reach), None)
    if wrong is not None:
        allowed = f"pixels of the image of {size[1]}x{size[0]}, or as far beyond"
        raise FramewattError(f"found {reprlib.repr(wrong)} in a polygon; allowed: {allowed}")
    return np.array(polygon, np.float64).reshape(-1, 2)


def _runs(segmentation: Mapping[Any, Any], size: tuple[int, int]) -> NDArray[np.int64]:
    """The runs of a mask that fills its image."""
    found, counts, pixels = segmentation.get("size"), segmentation.get("counts"), size[0] * size[1]
    if found != list(size) or not set(map(type, found)) <= {int}:
        raise FramewattError(f"found runs of size {reprlib.repr(found)}; allowed: {list(size)}, its height and width")
    if isinstance(counts, str):
        counts = numbers_of(counts)
    if not isinstance(counts, list) or not set(map(type, counts)) <= {int}:
        raise FramewattError("found counts that are no list of whole numbers, nor text; allowed: lengths of runs")
    if (wrong := next((count for count in counts if not 0 <= count <= pixels), None)) is not None:
        raise FramewattError(f"found a run of {reprlib.repr(wrong)} pixels; allowed: 0 to {pixels}")
    if (total := sum(counts)) != pixels:
        raise FramewattError(f"found runs of {total} pixels in all; allowed: {size[0]} x {size[1]} = {pixels}")
    return np.array(counts, np.int64)


def numbers_of(text: str) -> list[int]:
    """Runs from the text in which COCO's tools compress them; it is not looked at whether they are 0 or more.

    Each number is in groups of five bits, the lowest first, and from the fourth on less that of the second one before.

    Args:
        text: characters from `0` to `o`.

    Raises:
        FramewattError: another character, or the last number has no end. It says no place.
    """
    numbers: list[int] = []
    value = place = 0
    for character in text:
        group = ord(character) - _FIRST
        if not 0 <= group < 2 * _GOES_ON or place == _MOST_CHARACTERS:
            raise FramewattError(f"found {character!r} in compressed counts; allowed: what COCO's tools write")
        value |= (group & (_GOES_ON - 1)) << _BITS * place
        place += 1
        if group & _GOES_ON:
            continue
        if group & _NEGATIVE:
            value -= 1 << _BITS * place
        numbers.append(value + (numbers[-2] if len(numbers) > 2 else 0))
        value = place = 0
    if place:
        raise FramewattError("found compressed counts that end within a number; allowed: whole ones")
    return numbers
