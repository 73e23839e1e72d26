"""What every detector has to do, in no framework of its own; anchors and draws that detectors share.

A detector gives detections (n, most, 6 or more, see tasks.boxes) of images, its search included. It has
`objective(images, boxes, classes, masks)`, the mean loss of a batch, where `boxes`, `classes` and, if the data set has
them, `masks` are those of datasets.objects.Targets on the device. A detector in PyTorch may have `at_once(images)`, the
same detections in a form that exporters take.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.tasks import task_of

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of each channel of ImageNet's images, from 0 to 1: what torchvision's detectors take off and divide by."""

LARGEST_GROWTH = math.log(1000 / 16)
"""Logarithm of the most that a box grows by in a step, torchvision's."""

RATIOS = (0.5, 1.0, 2.0)
"""Height to width of the anchors at each place of a pyramid's map."""


def check_learns(model: Any, data: Arrays) -> None:
    """Check that a model can learn from what is to be boxes on images.

    Args:
        model: of any framework.
        data: the data set.

    Raises:
        FramewattError: objects are to be boxes, and the model works out no loss of them.
    """
    if isinstance(data.y_train, Objects) and not hasattr(model, "objective"):
        raise FramewattError(
            f"model: {type(model).__name__} has no objective, which the task {task_of(data.task).name} needs. Give it "
            "objective(images, boxes, classes, masks), its loss."
        )


def anchors_of(
    sides: Sequence[Sequence[int]], maps: Sequence[tuple[int, int]], height: int, width: int
) -> list[NDArray[np.float32]]:
    """Return every map's anchors: left, top, right, bottom in pixels, shape (places * anchors, 4).

    A map's places are as many whole pixels apart as fit into the image; torchvision's way.

    Args:
        sides: of each map, sides of its anchors in pixels; each has all RATIOS.
        maps: rows and columns of each.
        height: of the images.
        width: of the images.
    """
    boxes = []
    for of_map, (rows, columns) in zip(sides, maps, strict=True):
        roots = np.sqrt(np.array(RATIOS, np.float32))
        tall = (roots[:, None] * np.array(of_map, np.float32)[None]).ravel()
        wide = ((1 / roots)[:, None] * np.array(of_map, np.float32)[None]).ravel()
        base = np.round(np.stack([-wide, -tall, wide, tall], axis=1) / 2)
        down, right = np.meshgrid(
            np.arange(rows) * (height // rows), np.arange(columns) * (width // columns), indexing="ij"
        )
        places = np.stack([right.ravel(), down.ravel()] * 2, axis=1).astype(np.float32)
        boxes.append((places[:, None] + base[None]).reshape(-1, 4).astype(np.float32))
    return boxes


def pyramid_sizes(height: int, width: int, first: int, count: int) -> list[tuple[int, int]]:
    """Return rows and columns of a pyramid's maps.

    Args:
        height: of the images.
        width: of the images.
        first: level of the first map; each level halves both, rounding up.
        count: of maps.
    """
    sizes = [(height, width)]
    for _ in range(first + count - 1):
        sizes.append((-(-sizes[-1][0] // 2), -(-sizes[-1][1] // 2)))
    return sizes[first:]


def check_sides(what: str, shape: tuple[int, ...]) -> None:
    """Check that every map of a pyramid is half as large as the one before.

    Args:
        what: the model, for the message.
        shape: of an image, in any layout.

    Raises:
        FramewattError: it is not.
    """
    if 3 not in shape or sorted(side % 32 for side in shape) != [0, 0, 3]:
        raise FramewattError(
            f"{what}: it does not take images of {shape}. Use images of 3 channels with sides that are multiples of 32."
        )


_FACTORS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
"""Odd numbers with mixed bits (those of xxHash)."""

_BITS = 0xFFFFFFFF


def ranks(numbers: Any, images: Any, step: Any) -> Any:
    """Ranks, by which the lowest ones are taken; integers below 2**32, as good as drawn.

    Numbers of an image and a step have different ranks, since each operation can be undone: nothing breaks ties.

    Args:
        numbers: of anchors or proposals, int64 of any framework, or of numpy.
        images: the image of each within its batch, int64, of a shape that broadcasts.
        step: how many draws there were before, int64.
    """
    mixed = (numbers * _FACTORS[0] + images * _FACTORS[1] + step * _FACTORS[2]) & _BITS
    for shift, factor in ((15, _FACTORS[1]), (13, _FACTORS[2])):
        # Without a sign, a shift is a division, in every framework.
        mixed = ((mixed ^ (mixed // 2**shift)) * factor) & _BITS
    return mixed ^ (mixed // 2**16)
