"""Circles, boxes and triangles on textured grounds: they can be learnt, and are like no real photograph.

Their names in config/datasets.yaml must begin with `synthetic`, so that every table and figure shows what they are.
"""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.annotated import AnnotatedImages
from framewatt.datasets.objects import Objects, encode_mask
from framewatt.datasets.options import Limits, Positive, Seed
from framewatt.datasets.record import about

CLASSES = ("circle", "box", "triangle")

_RADIUS = (0.08, 0.22)
"""Of the circle that is as large as a shape, as a share of the image's side."""

_CORNER = (4 * np.pi / 27**0.5) ** 0.5
"""From the middle of a triangle of equal sides to its corners, for one as large as a circle of radius 1; a box with
sides of up to 1 to 2 reaches less far."""

_VISIBLE = 0.5
"""Least share of a shape that stays in sight when others are drawn before it."""

_TRIES = 20
"""Places that are tried for a shape, before an image goes without it."""

_CONTRAST = 0.3
"""Least difference, in one of the colours, of a shape from its ground; colours are from 0 to 1."""

_NOISE, _STRIPES = 0.06, 0.10
"""Standard deviation and height of what every surface is textured with, shapes and grounds alike."""

Mask = NDArray[np.bool_]
Image = NDArray[np.float32]


def make(
    *,
    train_samples: Positive,
    test_samples: Positive,
    size: Annotated[int, Limits(32, 4096)],
    most: Annotated[int, Limits(1, 100)],
    masks: bool,
    seed: Seed,
) -> AnnotatedImages:
    """Images of one to some shapes, which partly hide each other; only its form shows a shape's class.

    Shapes have any colour, texture, size and turn. Of a shape that another hides, what is in sight is annotated, and at
    least half of it is in sight. Boxes are the tightest.

    Args:
        train_samples: number of training images.
        test_samples: number of test images.
        size: pixels of an image's sides.
        most: shapes of an image, at most; how many is drawn uniformly, and some find no place.
        masks: whether the task is segmentation, with a mask of each shape, or detection, with boxes alone.
        seed: of all draws.
    """
    fields: dict[str, Any] = {}
    for number, (split, count) in enumerate({"train": train_samples, "test": test_samples}.items()):
        images, objects = _split(np.random.default_rng([seed, number]), count, size, most, masks=masks)
        fields |= {f"x_{split}": images, f"y_{split}": objects}
    facts = about("drawn shapes, values from 0 to 1", synthetic=True, seed=seed, class_names=list(CLASSES))
    task = "segmentation" if masks else "detection"
    return AnnotatedImages(**fields, class_count=len(CLASSES), about=facts, task=task)


def _split(draw: np.random.Generator, count: int, size: int, most: int, *, masks: bool) -> tuple[Image, Objects]:
    """Return the images of a split, shape (count, 3, size, size), and what is on them."""
    images = np.empty((count, 3, size, size), np.float32)
    shapes: list[tuple[int, Mask]] = []
    starts = np.zeros(count + 1, np.int64)
    for number in range(count):
        images[number], of_image = _scene(draw, size, most)
        shapes += of_image
        starts[number + 1] = len(shapes)
    runs = [encode_mask(mask) for _, mask in shapes] if masks else []
    return images, Objects(
        starts,
        np.array([_box_of(mask) for _, mask in shapes], np.float32),
        np.array([kind for kind, _ in shapes], np.int64),
        np.zeros(len(shapes), np.bool_),
        np.array([mask.sum() for _, mask in shapes], np.float32),
        np.concatenate(runs) if runs else np.zeros(0, np.int64),
        np.cumsum([0, *map(len, runs)] if masks else [], dtype=np.int64),
        (size, size),
    )


def _scene(draw: np.random.Generator, size: int, most: int) -> tuple[Image, list[tuple[int, Mask]]]:
    """Return an image, shape (3, size, size), and the class of each shape on it with what of it is in sight."""
    ground = draw.random(3)
    image = _surface(draw, ground, size)
    whole: list[int] = []
    shapes: list[tuple[int, Mask]] = []
    for _ in range(draw.integers(1, most, endpoint=True)):
        kind = int(draw.integers(len(CLASSES)))
        for _ in range(_TRIES):
            mask = _form(draw, kind, size)
            in_sight = [before & ~mask for _, before in shapes]
            if all(seen.sum() >= _VISIBLE * pixels for seen, pixels in zip(in_sight, whole, strict=True)):
                break
        else:
            continue
        shapes = [(of, seen) for (of, _), seen in zip(shapes, in_sight, strict=True)] + [(kind, mask)]
        whole.append(int(mask.sum()))
        image = np.where(mask, _surface(draw, _other(draw, ground), size), image)
    return image, shapes


def _form(draw: np.random.Generator, kind: int, size: int) -> Mask:
    """Return the pixels of a shape of a class, all within the image.

    How large it is and where it may lie does not depend on its class, or a detector could guess the class from there.
    """
    radius = draw.uniform(*_RADIUS) * size
    corner = _CORNER * radius
    centre = draw.uniform(corner, size - corner, 2)
    angle = draw.uniform(0, 2 * np.pi)
    # From the middles of pixels to the centre, in the shape's own axes.
    down, right = np.meshgrid(np.arange(size) + 0.5 - centre[0], np.arange(size) + 0.5 - centre[1], indexing="ij")
    along, across = np.cos(angle) * right + np.sin(angle) * down, np.cos(angle) * down - np.sin(angle) * right
    if CLASSES[kind] == "circle":
        pixels: Mask = along**2 + across**2 <= radius**2
    elif CLASSES[kind] == "box":
        shorter = draw.uniform(0.5, 1)
        longer = radius * np.sqrt(np.pi / shorter) / 2
        pixels = (np.abs(along) <= longer) & (np.abs(across) <= shorter * longer)
    else:
        # Each side of a triangle of equal sides is half as far from its centre as its corners are.
        sides = (np.cos(turn) * along + np.sin(turn) * across for turn in (0, 2 * np.pi / 3, 4 * np.pi / 3))
        pixels = np.all([side <= corner / 2 for side in sides], axis=0)
    return pixels


def _surface(draw: np.random.Generator, colour: NDArray[np.float64], size: int) -> Image:
    """Return a textured surface, shape (3, size, size), from 0 to 1: stripes of any width and direction, and noise."""
    angle, period = draw.uniform(0, np.pi), draw.uniform(4, 16)
    down, right = np.ogrid[:size, :size]
    stripes = np.sin(2 * np.pi * (np.cos(angle) * right + np.sin(angle) * down) / period + draw.uniform(0, 2 * np.pi))
    values = colour[:, None, None] + _STRIPES * stripes + draw.normal(0, _NOISE, (3, size, size))
    textured: Image = values.clip(0, 1).astype(np.float32)
    return textured


def _other(draw: np.random.Generator, ground: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a colour that can be distinguished from another."""
    while True:
        colour = draw.random(3)
        if np.abs(colour - ground).max() >= _CONTRAST:
            return colour


def _box_of(mask: Any) -> tuple[int, int, int, int]:
    """Return the tightest box around the pixels of a mask: left, top, right, bottom."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
