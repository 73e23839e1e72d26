"""Mask R-CNN in TensorFlow: no library that fits it has the model, so this is own code, as torchvision's."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from framewatt.datasets.ragged import IGNORED
from framewatt.tasks.boxes import MASK, NONE
from framewatt.workloads.contract import Facts
from framewatt.workloads.detector import DEVIATION, MEAN, check_sides, ranks
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.mask_rcnn import (
    ANCHORS_DRAWN,
    ANCHORS_WITH,
    ASSIGNED,
    CELLS,
    CODED,
    LEAST_SCORE,
    MASK_CELLS,
    MOST,
    NOT_PROPOSED,
    OVERLAP,
    PROPOSALS_DRAWN,
    PROPOSALS_OVERLAP,
    PROPOSALS_WITH,
    PROPOSED,
    Dimensions,
)
from framewatt.workloads.tensorflow.detector import (
    SumOfParts,
    clipped,
    full,
    gathered,
    near_zero,
    normal,
    overlaps,
    shifted,
    shifts,
)
from framewatt.workloads.tensorflow.pyramid import pyramid_of, stages_of
from framewatt.workloads.tensorflow.roi_align import masks_within, roi_align

STRIDES = (4, 8, 16, 32)
"""Pixels between the places of the maps that heads look at; proposals come from a fifth one, too."""

_AS_THEY_ARE = (1.0, 1.0, 1.0, 1.0)
_SMALLEST, _SMALLEST_BOX = 1e-3, 1e-2
"""Pixels of a side below which a proposal, and a box that was found, are left out."""

_SMOOTH = 1 / 9
"""Below it, the loss of a shift is a square."""

_NEVER = 2**32
"""Above every rank."""


def maps_of(dimensions: Dimensions, shape: tuple[int, ...]) -> keras.Model:
    """Maps and the outputs of the network of proposals, with layers by PyTorch's names."""
    images = keras.Input(shape)
    stages = stages_of(
        normal(images, MEAN, DEVIATION),
        dimensions.stem,
        dimensions.stages,
        dimensions.blocks,
        dimensions.widening,
        "backbone.body",
    )
    maps = pyramid_of(stages, dimensions.pyramid, "backbone.fpn")
    further = keras.layers.MaxPooling2D(1, 2)(maps[-1])
    anchors = dimensions.anchors_a_place
    first = near_zero(dimensions.pyramid, 3, "rpn.head.conv.0.0", activation="relu")
    last = [near_zero(anchors, 1, "rpn.head.cls_logits"), near_zero(4 * anchors, 1, "rpn.head.bbox_pred")]
    rows: tuple[list[Any], list[Any]] = ([], [])
    for values in [*maps, further]:
        hidden = first(values)
        rows[0].append(keras.layers.Reshape((-1,))(last[0](hidden)))
        rows[1].append(keras.layers.Reshape((-1, 4))(last[1](hidden)))
    return keras.Model(images, [*maps, *(keras.layers.Concatenate(axis=1)(part) for part in rows)])


def box_head_of(dimensions: Dimensions, labels: int) -> keras.Model:
    """Two dense layers, and a class and a box for each class."""
    within = keras.Input((CELLS, CELLS, dimensions.pyramid))
    # PyTorch's weights are those of channels before places.
    values = keras.layers.Flatten()(keras.layers.Permute((3, 1, 2))(within))
    for name in ("fc6", "fc7"):
        values = _dense(values, dimensions.dense, f"roi_heads.box_head.{name}", activation="relu")
    scores = _dense(values, labels, "roi_heads.box_predictor.cls_score")
    moves = _dense(values, labels * 4, "roi_heads.box_predictor.bbox_pred")
    return keras.Model(within, [scores, keras.layers.Reshape((labels, 4))(moves)])


def _dense(values: Any, units: int, name: str, **further: Any) -> Any:
    """Return a dense layer that begins as PyTorch's."""
    start = keras.initializers.VarianceScaling(1 / 3, "fan_in", "uniform")
    edge = 1 / np.sqrt(values.shape[-1])
    bias = keras.initializers.RandomUniform(-edge, edge)
    return keras.layers.Dense(units, kernel_initializer=start, bias_initializer=bias, name=name, **further)(values)


def mask_head_of(dimensions: Dimensions, labels: int) -> keras.Model:
    """Four convolutions, one that doubles the sides, and a mask for each class."""
    within = keras.Input((MASK_CELLS, MASK_CELLS, dimensions.pyramid))
    values = within
    for number in range(4):
        start = keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal")
        name = f"roi_heads.mask_head.{number}.0"
        layer = keras.layers.Conv2D(
            dimensions.masks, 3, padding="same", activation="relu", kernel_initializer=start, name=name
        )
        values = layer(values)
    for name, make in (
        ("conv5_mask", lambda **how: keras.layers.Conv2DTranspose(dimensions.masks, 2, 2, activation="relu", **how)),
        ("mask_fcn_logits", lambda **how: keras.layers.Conv2D(labels, 1, **how)),
    ):
        start = keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal")
        values = make(kernel_initializer=start, name=f"roi_heads.mask_predictor.{name}")(values)
    return keras.Model(within, values)


class MaskRCNN(SumOfParts, keras.Model):
    """A Mask R-CNN with random weights.

    Attributes:
        maps: gives of images five maps, and of each the anchors' scores (n, anchors) and shifts (n, anchors, 4).
        box_head: gives scores (k, classes + 1) and shifts (k, classes + 1, 4) of what is within k boxes.
        mask_head: gives masks (k, MASK, MASK, classes + 1) of it.

    Args:
        dimensions: of the model.
        shape: of images: (height, width, 3).
        classes: without the background.
    """

    def __init__(self, dimensions: Dimensions, shape: tuple[int, ...], classes: int) -> None:
        super().__init__()
        self.height, self.width, _ = shape
        self.dimensions, self.classes = dimensions, classes
        self.maps = maps_of(dimensions, shape)
        self.box_head = box_head_of(dimensions, classes + 1)
        self.mask_head = mask_head_of(dimensions, classes + 1)
        # Not a weight: no file of weights holds how often was drawn.
        self._draws = tf.Variable(0, trainable=False, dtype=tf.int64)
        self.built = True

    def call(self, images: tf.Tensor, training: bool = False) -> tf.Tensor:
        """Detections with masks, shape (n, MOST, 6 + MASK * MASK), of images (n, height, width, 3) from 0 to 1."""
        maps, scores, deltas = self._maps_of(images, training=training)
        proposals, there = self._proposals(scores, deltas, training=training)
        which = tf.where(there)
        rows, of_image = tf.gather_nd(proposals, which), tf.cast(which[:, 0], tf.int32)
        logits, moves = self.box_head(roi_align(maps, rows, of_image, STRIDES, CELLS), training=training)
        shares = tf.nn.softmax(tf.cast(logits, full()))[:, 1:]
        boxes = clipped(
            shifted(tf.cast(moves, full())[:, 1:], rows[:, None], CODED), float(self.height), float(self.width)
        )
        large = tf.reduce_all(boxes[..., 2:] - boxes[..., :2] >= _SMALLEST_BOX, axis=-1)
        count = tf.cast(tf.shape(proposals)[:2], tf.int64)
        whole = tf.concat([count, [self.classes]], axis=0)
        chosen = tf.image.combined_non_max_suppression(
            tf.scatter_nd(which, boxes, tf.concat([whole, [4]], axis=0)),
            tf.scatter_nd(which, tf.where(large, shares, 0.0), whole),
            MOST,
            MOST,
            OVERLAP,
            LEAST_SCORE,
            clip_boxes=False,
        )
        seen = tf.where(tf.range(MOST)[None] < chosen[3][:, None])
        rows = tf.concat([chosen[0], chosen[1][..., None], chosen[2][..., None]], axis=-1)
        rows = tf.gather_nd(rows, seen)
        masks = self._masks(maps, rows[:, :4], tf.cast(seen[:, 0], tf.int32), tf.cast(rows[:, 5], tf.int32))
        rows = tf.concat([rows, tf.reshape(tf.sigmoid(masks), [-1, MASK * MASK])], axis=1)
        none = tf.fill([tf.shape(images)[0], MOST, 6 + MASK * MASK], tf.constant(float(NONE), rows.dtype))
        return tf.tensor_scatter_nd_update(none, seen, rows)

    def parts_of_loss(
        self, images: tf.Tensor, boxes: tf.Tensor, classes: tf.Tensor, masks: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """The loss of a batch, see workloads.detector, by torchvision's parts: of proposals, classes, boxes, masks."""
        maps, scores, deltas = self._maps_of(images, training=True)
        of_proposals = self._loss_of_proposals(scores, deltas, boxes, classes)
        proposals, there = self._proposals(scores, deltas, training=True)
        real = tf.not_equal(classes, IGNORED)
        # Objects are proposals, too, so that there is something to learn from at the beginning.
        proposals = tf.stop_gradient(tf.concat([proposals, boxes], axis=1))
        there = tf.concat([there, real], axis=1)
        common = tf.where(real[:, None], overlaps(proposals, boxes), -1.0)
        numbers = tf.argmax(common, axis=2, output_type=tf.int32)
        with_one = there & (tf.reduce_max(common, axis=2) >= ASSIGNED)
        # Numbered as they are without what is not there.
        order = tf.cumsum(tf.cast(there, tf.int64), axis=1, exclusive=True)
        positive, negative = self._drawn(order, with_one, there & ~with_one, PROPOSALS_DRAWN, PROPOSALS_WITH)
        which = tf.where(positive | negative)
        rows, of_image = tf.gather_nd(proposals, which), tf.cast(which[:, 0], tf.int32)
        labels = tf.gather_nd(tf.where(positive, gathered(classes, numbers) + 1, 0), which)
        wanted = tf.gather_nd(gathered(boxes, numbers), which)
        logits, moves = self.box_head(roi_align(maps, rows, of_image, STRIDES, CELLS), training=True)
        entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.cast(logits, full()))
        moves = tf.gather(tf.cast(moves, full()), labels, batch_dims=1)
        object_there = labels > 0
        # Without an object, the target of a box is any box with an area: a missing one has no logarithm.
        any_box = tf.constant([0.0, 0.0, 1.0, 1.0], rows.dtype)
        base = tf.where(object_there[:, None], rows, any_box)
        aim = tf.where(object_there[:, None], wanted, any_box)
        off = tf.where(object_there, _smooth(moves - shifts(aim, base, CODED)), 0.0)
        of_boxes = tf.reduce_sum(off) / tf.cast(tf.size(labels), full())
        chosen = tf.where(positive)
        there_are_some = tf.shape(chosen)[0] > 0
        # Where no image has an object, one box is looked at and does not count: oneDNN has no gradient of a convolution
        # over none.
        chosen = tf.cond(there_are_some, lambda: chosen, lambda: tf.zeros([1, 2], tf.int64))
        requested = tf.stack([tf.cast(chosen[:, 0], tf.int32), tf.gather_nd(numbers, chosen)], axis=1)
        rows = tf.gather_nd(proposals, chosen)
        kinds = tf.cast(tf.maximum(tf.gather_nd(classes, requested), 0), tf.int32)
        ours = self._masks(maps, rows, requested[:, 0], kinds, training=True)
        theirs = masks_within(tf.cast(tf.gather_nd(masks, requested), full()), rows, MASK)
        of_masks = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(theirs, ours))
        of_masks = tf.where(there_are_some, of_masks, 0.0)
        self._draws.assign_add(1)
        return {
            **of_proposals,
            "loss_classifier": tf.reduce_mean(entropy),
            "loss_box_reg": of_boxes,
            "loss_mask": of_masks,
        }

    def _maps_of(self, images: tf.Tensor, *, training: bool) -> tuple[list[Any], tf.Tensor, tf.Tensor]:
        """Return the maps that heads look at; scores and shifts of all anchors, in the format of boxes."""
        *maps, scores, deltas = self.maps(images, training=training)
        return maps, tf.cast(scores, full()), tf.cast(deltas, full())

    def _anchors(self) -> list[Any]:
        return self.dimensions.anchors(self.height, self.width)

    def _proposals(self, scores: tf.Tensor, deltas: tf.Tensor, *, training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """Return boxes (n, proposals, 4), the best first, and which of them are there."""
        before, most = (
            pair[0 if training else 1] for pair in (self.dimensions.proposals_before, self.dimensions.proposals)
        )
        anchors = self._anchors()
        counts = [len(part) for part in anchors]
        boxes, shares = [], []
        for level, (part, share, moves) in enumerate(
            zip(anchors, tf.split(scores, counts, axis=1), tf.split(deltas, counts, axis=1), strict=True)
        ):
            tops, places = tf.math.top_k(share, min(before, len(part)))
            moved = shifted(
                tf.gather(moves, places, batch_dims=1), tf.gather(tf.constant(part, full()), places), _AS_THEY_ARE
            )
            moved = clipped(moved, float(self.height), float(self.width))
            large = tf.reduce_all(moved[..., 2:] - moved[..., :2] >= _SMALLEST, axis=-1)
            boxes.append(moved)
            chance = tf.where(large, tf.sigmoid(tops), 0.0)
            # Maps are what classes are elsewhere: boxes of another one hide none.
            shares.append(chance[..., None] * tf.one_hot(level, len(anchors), dtype=full()))
        chosen = tf.image.combined_non_max_suppression(
            tf.concat(boxes, axis=1)[:, :, None],
            tf.concat(shares, axis=1),
            most,
            most,
            PROPOSALS_OVERLAP,
            0.0,
            clip_boxes=False,
        )
        return tf.stop_gradient(chosen[0]), tf.range(most)[None] < chosen[3][:, None]

    def _loss_of_proposals(
        self, scores: tf.Tensor, deltas: tf.Tensor, boxes: tf.Tensor, classes: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Of scores and shifts of the anchors that are drawn."""
        anchors = tf.concat([tf.constant(part, full()) for part in self._anchors()], axis=0)
        real = tf.not_equal(classes, IGNORED)[..., None]
        common = tf.where(real, overlaps(boxes, anchors), -1.0)
        most, numbers = tf.reduce_max(common, axis=1), tf.argmax(common, axis=1, output_type=tf.int32)
        best = tf.reduce_any(real & tf.equal(common, tf.reduce_max(common, axis=2, keepdims=True)), axis=1)
        with_one = (most >= PROPOSED) | best
        order = tf.broadcast_to(tf.range(tf.shape(anchors)[0], dtype=tf.int64)[None], tf.shape(most))
        positive, negative = self._drawn(
            order, with_one, ~with_one & (most < NOT_PROPOSED), ANCHORS_DRAWN, ANCHORS_WITH
        )
        drawn = positive | negative
        count = tf.cast(tf.math.count_nonzero(drawn), full())
        wanted = tf.where(positive[..., None], gathered(boxes, numbers), anchors)
        off = tf.where(positive, _smooth(deltas - shifts(wanted, anchors, _AS_THEY_ARE)), 0.0)
        entropy = tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(positive, full()), scores)
        of_scores = tf.reduce_sum(tf.where(drawn, entropy, 0.0))
        return {"loss_objectness": of_scores / count, "loss_rpn_box_reg": tf.reduce_sum(off) / count}

    def _drawn(
        self, order: tf.Tensor, having: tf.Tensor, lacking: tf.Tensor, count: int, share: float
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Return what a step learns from, with an object and without, by the plan; each shape (n, k), bool.

        Args:
            order: number of each, shape (n, k), int64.
            having: which have an object.
            lacking: which have none.
            count: to draw of an image.
            share: of those with an object, at most.
        """
        images = tf.range(tf.shape(order, out_type=tf.int64)[0])[:, None]
        rank = ranks(order, images, self._draws)
        positive = _lowest(rank, having, tf.fill([tf.shape(order)[0], 1], int(count * share)))
        left = count - tf.math.count_nonzero(positive, axis=1, keepdims=True, dtype=tf.int32)
        return positive, _lowest(rank, lacking, left)

    def _masks(
        self, maps: list[Any], boxes: tf.Tensor, images: tf.Tensor, kinds: tf.Tensor, *, training: bool = False
    ) -> tf.Tensor:
        """Masks of the classes of boxes, shape (k, MASK, MASK), logits."""
        masks = self.mask_head(roi_align(maps, boxes, images, STRIDES, MASK_CELLS), training=training)
        by_class = tf.transpose(tf.cast(masks, full()), [0, 3, 1, 2])
        return tf.gather(by_class, kinds + 1, batch_dims=1)


def _lowest(rank: tf.Tensor, among: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """Return which of some have the lowest ranks, `count` (n, 1) of each row."""
    order = tf.argsort(tf.where(among, rank, _NEVER), axis=1, stable=True)
    return among & (tf.argsort(order, axis=1, stable=True) < count)


def _smooth(off: tf.Tensor) -> tf.Tensor:
    """Loss of shifts, shape (...,): a square near 0."""
    far = tf.abs(off)
    return tf.reduce_sum(tf.where(far < _SMOOTH, 0.5 * far**2 / _SMOOTH, far - 0.5 * _SMOOTH), axis=-1)


def build(facts: Facts, size: Size[Dimensions]) -> keras.Model:
    """Return a Mask R-CNN with random weights.

    Args:
        facts: of the data set.
        size: with its dimensions.

    Raises:
        FramewattError: the images have other sides than multiples of 32.
    """
    check_sides("Mask R-CNN", facts.input_shape)
    return MaskRCNN(size.dimensions, facts.input_shape, facts.classes)
