"""RoIAlign in TensorFlow, which has no such operator: numbers of a map within boxes, between its places.

Source: K. He et al., Mask R-CNN, ICCV 2017, in torchvision's form: boxes are not shifted by half a place, and are at
least one place wide and high.
"""

import math
from collections.abc import Sequence

import tensorflow as tf

SAMPLES = 2
"""Points along each side of a cell; the cell is their mean."""

_CANONICAL_SIDE, _CANONICAL_LEVEL = 224.0, 4.0
"""A box of this side is looked at on the map of this level, which has its places 16 pixels apart."""

_ROUNDING = 1e-6


def levels_of(boxes: tf.Tensor, strides: Sequence[int]) -> tf.Tensor:
    """Return the number of the map that each box is looked at on, from 0: one of twice its side is on the next.

    Args:
        boxes: shape (k, 4), in pixels.
        strides: pixels between the places of each map, each twice the one before.
    """
    first = math.log2(strides[0])
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    level = tf.floor(_CANONICAL_LEVEL + tf.math.log(tf.sqrt(area) / _CANONICAL_SIDE) / math.log(2) + _ROUNDING)
    return tf.cast(tf.clip_by_value(level, first, first + len(strides) - 1) - first, tf.int32)


def roi_align(
    maps: Sequence[tf.Tensor], boxes: tf.Tensor, images: tf.Tensor, strides: Sequence[int], side: int
) -> tf.Tensor:
    """Return what maps have within boxes, shape (k, side, side, channels).

    Args:
        maps: of images, shape (n, height, width, channels) each.
        boxes: shape (k, 4), in pixels of the image.
        images: number of the image of each box, shape (k,), int32.
        strides: pixels between the places of each map.
        side: cells of a side.
    """
    level = levels_of(boxes, strides)
    sizes = tf.stack([tf.shape(one)[1:3] for one in maps])
    counts = tf.stack([tf.size(one) // one.shape[-1] for one in maps])
    # All maps in one list of places, so that each box gathers from its own.
    places = tf.concat([tf.reshape(one, [-1, one.shape[-1]]) for one in maps], axis=0)
    scale = tf.gather(tf.constant([1 / stride for stride in strides], boxes.dtype), level)[:, None]
    corner = boxes[:, :2] * scale
    cell = tf.maximum(boxes[:, 2:] * scale - corner, 1.0) / side
    height, width = (tf.gather(sizes[:, axis], level) for axis in (0, 1))
    begin = tf.gather(tf.cumsum(counts, exclusive=True), level) + images * height * width
    steps = (tf.range(side * SAMPLES, dtype=boxes.dtype) + 0.5) / SAMPLES
    down = _between(corner[:, 1:] + steps * cell[:, 1:], height[:, None])
    right = _between(corner[:, :1] + steps * cell[:, :1], width[:, None])
    sampled = tf.zeros((), places.dtype)
    for row, weight_down in down:
        for column, weight_right in right:
            index = begin[:, None, None] + row[:, :, None] * width[:, None, None] + column[:, None, :]
            weight = weight_down[:, :, None] * weight_right[:, None, :]
            sampled += tf.gather(places, index) * tf.cast(weight, places.dtype)[..., None]
    cells = tf.reshape(sampled, [-1, side, SAMPLES, side, SAMPLES, places.shape[-1]])
    return tf.reduce_mean(cells, axis=[2, 4])


def masks_within(masks: tf.Tensor, boxes: tf.Tensor, side: int) -> tf.Tensor:
    """Return what masks have within boxes, one of each, shape (k, side, side): as many points a cell as it has pixels.

    Args:
        masks: shape (k, height, width), in the format of boxes.
        boxes: shape (k, 4), in pixels; none is larger than the masks.
        side: cells of a side.
    """
    height, width = masks.shape[1], masks.shape[2]
    down = _shares(boxes[:, 1], boxes[:, 3], side, height)
    right = _shares(boxes[:, 0], boxes[:, 2], side, width)
    return tf.matmul(tf.matmul(down, masks), right, transpose_b=True)


def _shares(begin: tf.Tensor, end: tf.Tensor, side: int, size: int) -> tf.Tensor:
    """By how much each cell has of each place of a row, shape (k, side, size)."""
    cell = tf.maximum(end - begin, 1.0) / side
    count = tf.math.ceil(cell)
    shares = tf.zeros([tf.shape(begin)[0], side, size], begin.dtype)
    for step in range(math.ceil(size / side)):
        points = begin[:, None] + (tf.range(side, dtype=begin.dtype) + (step + 0.5) / count[:, None]) * cell[:, None]
        used = tf.cast(step < count, begin.dtype) / count
        for place, weight in _between(points, tf.fill([tf.shape(begin)[0], 1], size)):
            shares += tf.one_hot(place, size, dtype=begin.dtype) * (weight * used[:, None])[..., None]
    return shares


def _between(points: tf.Tensor, size: tf.Tensor) -> list[tuple[tf.Tensor, tf.Tensor]]:
    """The two places on both sides of a point, and their weights; those beyond the map by more than one weigh nothing.

    Args:
        points: in places of a map, shape (k, points).
        size: places of the map, shape (k, 1).
    """
    last = tf.cast(size - 1, points.dtype)
    inside = tf.cast((points >= -1) & (points <= last + 1), points.dtype)
    at = tf.clip_by_value(points, 0.0, last)
    low = tf.minimum(tf.cast(at, tf.int32), size - 1)
    high = tf.minimum(low + 1, size - 1)
    share = at - tf.cast(low, points.dtype)
    return [(low, (1 - share) * inside), (high, share * inside)]
