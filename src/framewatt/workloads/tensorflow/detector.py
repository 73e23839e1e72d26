"""What detectors in Keras share: the two heads that look at every anchor, and how their convolutions begin."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from framewatt.tasks.boxes import NONE
from framewatt.workloads.detector import LARGEST_GROWTH


class SumOfParts:
    """What learns by the sum of the parts of its loss, `parts_of_loss`, which have torchvision's names."""

    def objective(self, images: tf.Tensor, boxes: tf.Tensor, classes: tf.Tensor, masks: Any = None) -> tf.Tensor:
        """Return the loss of a batch, see workloads.detector."""
        parts: dict[str, tf.Tensor] = self.parts_of_loss(images, boxes, classes, masks)  # type: ignore[attr-defined]  # of those that inherit it
        return tf.add_n(list(parts.values()))


class Detector(SumOfParts, keras.Model):
    """A detector of anchors, built when it is made.

    Attributes:
        maps: gives scores (n, anchors, …) and shifts (n, anchors, 4) of images. Its layers have the names of PyTorch's.

    Args:
        maps: as above.
    """

    def __init__(self, maps: keras.Model) -> None:
        super().__init__()
        self.maps = maps
        self.built = True

    def looked_at(self, images: tf.Tensor, *, training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """Return scores and shifts, in the format of boxes."""
        scores, deltas = self.maps(images, training=training)
        return tf.cast(scores, full()), tf.cast(deltas, full())


def normal(images: Any, mean: Sequence[float], deviation: Sequence[float]) -> Any:
    """Images (n, height, width, 3) without each channel's mean, divided by its deviation, in the format of boxes."""
    # Lists would be rounded to fp32 first.
    scale = 1 / np.array(deviation)
    offset = -np.array(mean) * scale
    return keras.layers.Rescaling(scale, offset, dtype=full())(images)


def near_zero(channels: int, side: int, name: str, **further: Any) -> keras.layers.Layer:
    """Return a convolution that begins as torchvision's heads over a pyramid do."""
    start = keras.initializers.RandomNormal(stddev=0.01)
    return keras.layers.Conv2D(channels, side, padding="same", kernel_initializer=start, name=name, **further)


def full() -> str:
    """Number format of boxes and losses: Keras' own, fp32 if nobody sets another. Half formats have too few digits."""
    return str(keras.config.floatx())


def overlaps(boxes: tf.Tensor, others: tf.Tensor) -> tf.Tensor:
    """Intersection over union of all pairs, shape (n, boxes, others); 0 of two boxes without an area.

    Args:
        boxes: shape (n, boxes, 4).
        others: shape (others, 4), the same for every n, or (n, others, 4).
    """
    first, second = boxes[:, :, None], others[None, None] if others.shape.rank == 2 else others[:, None]
    sides = tf.maximum(tf.minimum(first[..., 2:], second[..., 2:]) - tf.maximum(first[..., :2], second[..., :2]), 0)
    common = sides[..., 0] * sides[..., 1]
    return tf.math.divide_no_nan(common, _areas(first) + _areas(second) - common)


def _areas(boxes: tf.Tensor) -> tf.Tensor:
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def shifts(boxes: tf.Tensor, anchors: tf.Tensor, weights: tuple[float, float, float, float]) -> tf.Tensor:
    """Return what leads from anchors to boxes, shape (..., 4): of middles, relative to sides, and logarithms of growth.

    Args:
        boxes: shape (..., 4), with an area.
        anchors: of the same shape, or one that broadcasts to it.
        weights: what the four are multiplied with.
    """
    sizes, wanted = anchors[..., 2:] - anchors[..., :2], boxes[..., 2:] - boxes[..., :2]
    middles, wanted_middles = anchors[..., :2] + 0.5 * sizes, boxes[..., :2] + 0.5 * wanted
    moved = (wanted_middles - middles) / sizes
    return tf.concat([moved, tf.math.log(wanted / sizes)], axis=-1) * tf.constant(weights, moved.dtype)


def shifted(deltas: tf.Tensor, anchors: tf.Tensor, weights: tuple[float, float, float, float]) -> tf.Tensor:
    """Boxes, shape (..., 4), from what leads to them; the inverse of `shifts` up to LARGEST_GROWTH."""
    sizes = anchors[..., 2:] - anchors[..., :2]
    deltas = deltas / tf.constant(weights, deltas.dtype)
    middles = deltas[..., :2] * sizes + anchors[..., :2] + 0.5 * sizes
    half = 0.5 * tf.exp(tf.minimum(deltas[..., 2:], LARGEST_GROWTH)) * sizes
    return tf.concat([middles - half, middles + half], axis=-1)


def clipped(boxes: tf.Tensor, height: float, width: float) -> tf.Tensor:
    """Return boxes within an image."""
    return tf.clip_by_value(boxes, 0.0, tf.constant([width, height, width, height], boxes.dtype))


def gathered(values: tf.Tensor, numbers: tf.Tensor) -> tf.Tensor:
    """Row by row, the values of some numbers; that of 0 where a number is below it."""
    return tf.gather(values, tf.maximum(numbers, 0), batch_dims=1)


def best_boxes(boxes: tf.Tensor, scores: tf.Tensor, *, least: float, best: int, overlap: float, most: int) -> tf.Tensor:
    """Return detections of each image, shape (n, most, 6), see tasks.boxes.

    Of each class by itself, the `best` boxes with a score above `least` are looked at, and those that overlap a better
    one by more than `overlap` are left out. Of what is left in all classes, the `most` best are given.

    Args:
        boxes: shape (n, boxes, 4), the same for all classes.
        scores: shape (n, boxes, classes), from 0 to 1.
        least: scores have to be above it.
        best: boxes of a class.
        overlap: from 0 to 1.
        most: detections of an image.
    """
    if best < scores.shape[1]:
        tops, numbers = tf.math.top_k(tf.transpose(scores, [0, 2, 1]), best)
        candidates = tf.transpose(tf.gather(boxes, numbers, batch_dims=1), [0, 2, 1, 3])
        tops = tf.transpose(tops, [0, 2, 1])
    else:
        candidates, tops = boxes[:, :, None], scores
    chosen = tf.image.combined_non_max_suppression(
        candidates,
        tops,
        most,
        most,
        overlap,
        least,
        clip_boxes=False,
    )
    rows = tf.concat([chosen[0], chosen[1][..., None], chosen[2][..., None]], axis=-1)
    there = tf.range(most)[None] < chosen[3][:, None]
    return tf.where(there[..., None], rows, tf.constant(float(NONE), rows.dtype))
