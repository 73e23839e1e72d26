"""SSD in TensorFlow: no library has it, so this is own code, the same model as torchvision's."""

import math
from typing import Any

import keras
import tensorflow as tf

from framewatt.datasets.ragged import IGNORED
from framewatt.workloads.contract import Facts
from framewatt.workloads.detector import MEAN
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.retinanet import FULL as RETINANET
from framewatt.workloads.families.ssd import (
    AS_PUBLISHED,
    BEST,
    CODED,
    LEAST_SCORE,
    MATCHED,
    MOST,
    NEGATIVES,
    OVERLAP,
    PADDED,
    PADDED_OVERLAP,
    SCALE,
    Dimensions,
    Grid,
    ResNetDimensions,
)
from framewatt.workloads.tensorflow.detector import (
    Detector,
    best_boxes,
    clipped,
    full,
    gathered,
    normal,
    overlaps,
    shifted,
    shifts,
)
from framewatt.workloads.tensorflow.retinanet import RetinaNet


class SSD(Detector):
    """An SSD with random weights.

    Args:
        dimensions: of the model.
        classes: without the background.
    """

    def __init__(self, dimensions: Dimensions, classes: int) -> None:
        super().__init__(_maps(dimensions, classes + 1))
        self.dimensions = dimensions

    def call(self, images: tf.Tensor, training: bool = False) -> tf.Tensor:
        """Detections, shape (n, MOST, 6), of images (n, size, size, 3) from 0 to 1."""
        scores, deltas = self.looked_at(images, training=training)
        size = float(self.dimensions.size)
        boxes = clipped(shifted(deltas, self._default_boxes(), CODED), size, size)
        shares = tf.nn.softmax(scores)[..., 1:]
        return best_boxes(boxes, shares, least=LEAST_SCORE, best=BEST, overlap=OVERLAP, most=MOST)

    def parts_of_loss(
        self, images: tf.Tensor, boxes: tf.Tensor, classes: tf.Tensor, masks: Any = None
    ) -> dict[str, tf.Tensor]:
        """Return the loss of a batch by torchvision's parts, see workloads.detector; masks are not looked at."""
        scores, deltas = self.looked_at(images, training=True)
        anchors = self._default_boxes()
        numbers = matched(boxes, classes, anchors)
        there = numbers >= 0
        labels = tf.where(there, gathered(classes, numbers) + 1, 0)
        # Without an object, the target of a box is the box itself: a missing one has no logarithm.
        wanted = tf.where(there[..., None], gathered(boxes, numbers), anchors)
        off = tf.abs(deltas - shifts(wanted, anchors, CODED))
        smooth = tf.reduce_sum(tf.where(off < 1, 0.5 * off**2, off - 0.5), axis=-1)
        of_boxes = tf.reduce_sum(tf.where(there, smooth, 0.0))
        entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores)
        of_classes = tf.reduce_sum(tf.where(there | _hardest(entropy, there), entropy, 0.0))
        count = tf.cast(tf.maximum(1, tf.math.count_nonzero(there, dtype=tf.int32)), full())
        return {"bbox_regression": of_boxes / count, "classification": of_classes / count}

    def _default_boxes(self) -> tf.Tensor:
        return tf.constant(self.dimensions.default_boxes(), full())


def matched(boxes: tf.Tensor, classes: tf.Tensor, anchors: tf.Tensor) -> tf.Tensor:
    """Return the number of the object that each anchor is assigned to, or -1, shape (n, anchors), int32.

    An anchor is assigned to the object that it overlaps most, by MATCHED or more. The best anchor of each object is
    assigned to it in any case; where it is the best one of several, for the last of them.

    Args:
        boxes: shape (n, most, 4).
        classes: shape (n, most), IGNORED where there is no object.
        anchors: shape (anchors, 4).
    """
    real = tf.not_equal(classes, IGNORED)
    common = tf.where(real[..., None], overlaps(boxes, anchors), -1.0)
    numbers = tf.where(tf.reduce_max(common, axis=1) >= MATCHED, tf.argmax(common, axis=1, output_type=tf.int32), -1)
    best = tf.where(real, tf.argmax(common, axis=2, output_type=tf.int32), -1)
    order = tf.range(tf.shape(boxes)[1])
    is_best = tf.equal(best[..., None], tf.range(tf.shape(anchors)[0]))
    last = tf.reduce_max(tf.where(is_best, order[None, :, None], -1), axis=1)
    return tf.where(last >= 0, last, numbers)


def _hardest(entropy: tf.Tensor, there: tf.Tensor) -> tf.Tensor:
    """Return which of the boxes without an object err most, NEGATIVES for each one with an object of an image."""
    count = NEGATIVES * tf.math.count_nonzero(there, axis=1, keepdims=True, dtype=tf.int32)
    least = tf.constant(-math.inf, entropy.dtype)
    order = tf.argsort(tf.where(there, least, entropy), direction="DESCENDING")
    return tf.argsort(order) < count


class _Scaled(keras.layers.Layer):
    """Places of length 1, times a learnt factor of each channel."""

    def build(self, shape: tuple[int | None, ...]) -> None:
        start = keras.initializers.Constant(SCALE)
        self.factors = self.add_weight(name="scale_weight", shape=shape[-1:], initializer=start)

    def call(self, values: tf.Tensor) -> tf.Tensor:
        length = tf.sqrt(tf.reduce_sum(values**2, axis=-1, keepdims=True))
        return values / tf.maximum(length, tf.cast(1e-12, values.dtype)) * self.factors


def _maps(dimensions: Dimensions, labels: int) -> keras.Model:
    """Return the convolutions, with layers by PyTorch's names."""
    images = keras.Input((dimensions.size, dimensions.size, 3))
    values = normal(images, dimensions.mean, dimensions.deviation)
    place = 0
    for number, stage in enumerate(dimensions.stages):
        if number:
            # Only the last pooling rounds up.
            padding = "same" if number == len(dimensions.stages) - 1 else "valid"
            values = keras.layers.MaxPooling2D(2, 2, padding=padding)(values)
            place += 1
        for channels in stage:
            factor = 1.0 if place else dimensions.first_factor
            values = _vgg_convolution(channels, f"backbone.features.{place}", factor)(values)
            place += 2
    maps = [_Scaled(name="backbone")(values)]
    values = keras.layers.MaxPooling2D(2, 2)(values)
    for number, channels in enumerate(dimensions.last):
        values = _vgg_convolution(channels, f"backbone.extra.0.{1 + 2 * number}")(values)
    values = keras.layers.MaxPooling2D(3, 1, padding="same")(values)
    dense = f"backbone.extra.0.{1 + 2 * len(dimensions.last)}"
    values = _convolution(dimensions.dense, 3, f"{dense}.1", padding="same", dilation_rate=6)(values)
    values = _convolution(dimensions.dense, 1, f"{dense}.3")(values)
    maps.append(values)
    for number, (narrow, wide, stride) in enumerate(dimensions.extras, 1):
        values = _convolution(narrow, 1, f"backbone.extra.{number}.0")(values)
        if stride == 2:
            # Keras' own padding of strided convolutions is not the same on all sides.
            values = keras.layers.ZeroPadding2D(1)(values)
        values = _convolution(wide, 3, f"backbone.extra.{number}.2", strides=stride)(values)
        maps.append(values)
    return keras.Model(
        images, [_head("classification", dimensions, labels, maps), _head("regression", dimensions, 4, maps)]
    )


def _head(name: str, dimensions: Dimensions, numbers: int, maps: list[Any]) -> Any:
    """Return numbers of each default box, shape (n, boxes, numbers)."""
    rows = []
    for place, (boxes, values) in enumerate(zip(dimensions.boxes_a_place, maps, strict=True)):
        layer = f"head.{name}_head.module_list.{place}"
        convolved = _convolution(boxes * numbers, 3, layer, padding="same", activation=None)(values)
        rows.append(keras.layers.Reshape((-1, numbers))(convolved))
    return keras.layers.Concatenate(axis=1)(rows)


def _vgg_convolution(channels: int, name: str, factor: float = 1.0) -> keras.layers.Layer:
    """Return a convolution that begins as torchvision's VGG does, its weights multiplied with a factor."""
    start = keras.initializers.VarianceScaling(2.0 * factor**2, "fan_out", "untruncated_normal")
    return _convolution(channels, 3, name, padding="same", kernel_initializer=start)


def _convolution(channels: int, side: int, name: str, *, activation: str | None = "relu", **further: Any) -> Any:
    """Return a convolution that begins as Glorot's uniform, with biases of 0, which is Keras' default."""
    return keras.layers.Conv2D(channels, side, activation=activation, name=name, **further)


class PaddedRetinaNet(RetinaNet):
    """SSD320 as georgiou2022 ran it: a RetinaNet that pads images of 300 pixels to 320, and finds nothing there.

    Args:
        classes: there is none for the background.
    """

    def __init__(self, classes: int) -> None:
        super().__init__(RETINANET, (PADDED, PADDED, 3), classes)

    def looked_at(self, images: tf.Tensor, *, training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """Scores and shifts of padded images: with the mean of each channel, which is 0 once they are normalised."""
        more = PADDED - AS_PUBLISHED.size
        mean = tf.constant(MEAN, images.dtype)
        padded = tf.pad(images - mean, [[0, 0], [0, more], [0, more], [0, 0]]) + mean
        return super().looked_at(padded, training=training)

    def searched(self, boxes: tf.Tensor, shares: tf.Tensor, overlap: float = PADDED_OVERLAP) -> tf.Tensor:
        """Return detections among boxes, within the image that was there; boxes outside it have no area left."""
        boxes = clipped(boxes, float(AS_PUBLISHED.size), float(AS_PUBLISHED.size))
        there = tf.reduce_all(boxes[..., 2:] > boxes[..., :2], axis=-1, keepdims=True)
        return super().searched(boxes, tf.where(there, shares, 0.0), overlap)


def build(facts: Facts, size: Size[Grid]) -> keras.Model:
    """Return an SSD with random weights; for the published dimensions a RetinaNet.

    Args:
        facts: of the data set.
        size: with its dimensions.

    Raises:
        FramewattError: the images are of another size.
    """
    dimensions = size.dimensions
    dimensions.check(facts.input_shape)
    if isinstance(dimensions, ResNetDimensions):
        return PaddedRetinaNet(facts.classes)
    assert isinstance(dimensions, Dimensions)
    return SSD(dimensions, facts.classes)
