"""RetinaNet in TensorFlow: own code, the same model as torchvision's. KerasHub's has another padding and beginning."""

import math
from typing import Any

import keras
import tensorflow as tf

from framewatt.datasets.ragged import IGNORED
from framewatt.workloads.contract import Facts
from framewatt.workloads.detector import DEVIATION, MEAN, check_sides
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.retinanet import (
    ALPHA,
    BACKGROUND,
    BEST,
    CODED,
    GAMMA,
    LEAST_SCORE,
    MATCHED,
    MOST,
    OVERLAP,
    PRIOR,
    Dimensions,
)
from framewatt.workloads.tensorflow.detector import (
    Detector,
    best_boxes,
    clipped,
    full,
    gathered,
    near_zero,
    normal,
    overlaps,
    shifted,
    shifts,
)
from framewatt.workloads.tensorflow.pyramid import lecun, pyramid_of, stages_of

_NOTHING = -2
"""Of an anchor that is ignored: it is neither assigned to an object nor background."""


class RetinaNet(Detector):
    """A RetinaNet with random weights.

    Args:
        dimensions: of the model.
        shape: of images: (height, width, 3).
        classes: there is none for the background.
    """

    def __init__(self, dimensions: Dimensions, shape: tuple[int, ...], classes: int) -> None:
        super().__init__(_maps(dimensions, shape, classes))
        self.height, self.width, _ = shape
        self.dimensions = dimensions
        self.classes = classes

    def call(self, images: tf.Tensor, training: bool = False) -> tf.Tensor:
        """Detections, shape (n, MOST, 6), of images (n, height, width, 3) from 0 to 1."""
        scores, deltas = self.looked_at(images, training=training)
        anchors = self._anchors()
        counts = [len(part) for part in anchors]
        boxes, shares = [], []
        for part, share, moves in zip(
            anchors, tf.split(tf.sigmoid(scores), counts, axis=1), tf.split(deltas, counts, axis=1), strict=True
        ):
            flat = tf.reshape(share, [-1, len(part) * self.classes])
            tops, places = tf.math.top_k(flat, min(BEST, len(part) * self.classes))
            which = places // self.classes
            moved = shifted(tf.gather(moves, which, batch_dims=1), tf.gather(tf.constant(part, full()), which), CODED)
            boxes.append(clipped(moved, float(self.height), float(self.width)))
            shares.append(tops[..., None] * tf.one_hot(places % self.classes, self.classes, dtype=full()))
        return self.searched(tf.concat(boxes, axis=1), tf.concat(shares, axis=1))

    def searched(self, boxes: tf.Tensor, shares: tf.Tensor, overlap: float = OVERLAP) -> tf.Tensor:
        """Return detections among boxes, of each map the best already."""
        every = boxes.shape[1]
        return best_boxes(boxes, shares, least=LEAST_SCORE, best=every, overlap=overlap, most=MOST)

    def parts_of_loss(
        self, images: tf.Tensor, boxes: tf.Tensor, classes: tf.Tensor, masks: Any = None
    ) -> dict[str, tf.Tensor]:
        """Return the loss of a batch by torchvision's parts; the mean over images, of each by its objects' anchors."""
        scores, deltas = self.looked_at(images, training=True)
        anchors = tf.concat([tf.constant(part, full()) for part in self._anchors()], axis=0)
        numbers = matched(boxes, classes, anchors)
        there = numbers >= 0
        count = tf.cast(tf.maximum(1, tf.math.count_nonzero(there, axis=1, dtype=tf.int32)), full())
        labels = tf.where(there, gathered(classes, numbers), -1)
        focal = focal_loss(scores, tf.one_hot(labels, self.classes, dtype=full()))
        of_classes = tf.reduce_sum(tf.where(numbers != _NOTHING, tf.reduce_sum(focal, axis=2), 0.0), axis=1)
        # Without an object, the target of a box is the box itself: a missing one has no logarithm.
        wanted = tf.where(there[..., None], gathered(boxes, numbers), anchors)
        off = tf.reduce_sum(tf.abs(deltas - shifts(wanted, anchors, CODED)), axis=2)
        of_boxes = tf.reduce_sum(tf.where(there, off, 0.0), axis=1)
        return {
            "classification": tf.reduce_mean(of_classes / count),
            "bbox_regression": tf.reduce_mean(of_boxes / count),
        }

    def _anchors(self) -> list[Any]:
        """Of every map, shape (places * anchors, 4)."""
        return self.dimensions.anchors(self.height, self.width)


def matched(boxes: tf.Tensor, classes: tf.Tensor, anchors: tf.Tensor) -> tf.Tensor:
    """Return the object that each anchor is assigned to, -1 for none, -2 if ignored, shape (n, anchors), int32.

    An anchor is assigned to the object that it overlaps most: by MATCHED or more, or if none overlaps an object
    more than it does. With less than BACKGROUND it is background.

    Args:
        boxes: shape (n, most, 4).
        classes: shape (n, most), IGNORED where there is no object.
        anchors: shape (anchors, 4).
    """
    real = tf.not_equal(classes, IGNORED)[..., None]
    common = tf.where(real, overlaps(boxes, anchors), -1.0)
    most, which = tf.reduce_max(common, axis=1), tf.argmax(common, axis=1, output_type=tf.int32)
    best = tf.reduce_any(real & tf.equal(common, tf.reduce_max(common, axis=2, keepdims=True)), axis=1)
    without = tf.where(most < BACKGROUND, -1, _NOTHING)
    return tf.where((most >= MATCHED) | best, which, without)


def focal_loss(scores: tf.Tensor, wanted: tf.Tensor) -> tf.Tensor:
    """Cross-entropy of each class, which counts less the nearer a score is to what is wanted.

    Args:
        scores: logits.
        wanted: 1 of the object's class, else 0.
    """
    shares = tf.sigmoid(scores)
    entropy = tf.nn.sigmoid_cross_entropy_with_logits(wanted, scores)
    right = shares * wanted + (1 - shares) * (1 - wanted)
    return (ALPHA * wanted + (1 - ALPHA) * (1 - wanted)) * entropy * (1 - right) ** GAMMA


def _maps(dimensions: Dimensions, shape: tuple[int, ...], classes: int) -> keras.Model:
    """Return the convolutions, with layers by PyTorch's names."""
    images = keras.Input(shape)
    stages = stages_of(
        normal(images, MEAN, DEVIATION),
        dimensions.stem,
        dimensions.stages,
        dimensions.blocks,
        dimensions.widening,
        "backbone.body",
    )
    maps = pyramid_of(stages[1:], dimensions.pyramid, "backbone.fpn")
    for name in ("p6", "p7"):
        before = keras.layers.ReLU()(maps[-1]) if name == "p7" else maps[-1]
        further = lecun(dimensions.pyramid, 3, f"backbone.fpn.extra_blocks.{name}", strides=2, padding="valid")
        maps.append(further(keras.layers.ZeroPadding2D(1)(before)))
    return keras.Model(
        images,
        [
            _head(maps, dimensions, classes, "classification_head", "cls_logits"),
            _head(maps, dimensions, 4, "regression_head", "bbox_reg"),
        ],
    )


def _head(maps: list[Any], dimensions: Dimensions, numbers: int, name: str, last: str) -> Any:
    """Return numbers of each anchor, shape (n, anchors, numbers); all maps share the layers."""
    layers = [near_zero(dimensions.pyramid, 3, f"head.{name}.conv.{place}.0", activation="relu") for place in range(4)]
    bias = -math.log((1 - PRIOR) / PRIOR) if last == "cls_logits" else 0.0
    start = keras.initializers.Constant(bias)
    layers.append(near_zero(dimensions.anchors_a_place * numbers, 3, f"head.{name}.{last}", bias_initializer=start))
    rows = []
    for values in maps:
        for layer in layers:
            values = layer(values)  # noqa: PLW2901  # goes through all layers
        rows.append(keras.layers.Reshape((-1, numbers))(values))
    return keras.layers.Concatenate(axis=1)(rows)


def build(facts: Facts, size: Size[Dimensions]) -> keras.Model:
    """Return a RetinaNet with random weights.

    Args:
        facts: of the data set.
        size: with its dimensions.

    Raises:
        FramewattError: the images have other sides than multiples of 32.
    """
    check_sides("RetinaNet", facts.input_shape)
    return RetinaNet(size.dimensions, facts.input_shape, facts.classes)
