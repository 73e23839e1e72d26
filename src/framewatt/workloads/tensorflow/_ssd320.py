"""SSD320 as georgiou2022 ran it in TensorFlow: a RetinaNet, on images of 300 pixels that are padded to 320."""

from typing import Any

import tensorflow as tf

from framewatt.workloads.contract import Facts
from framewatt.workloads.detector import MEAN
from framewatt.workloads.retinanet import FULL
from framewatt.workloads.ssd_as_published import DIMENSIONS, OVERLAP, PADDED
from framewatt.workloads.tensorflow._boxes import clipped
from framewatt.workloads.tensorflow._retinanet import RetinaNet


class PaddedRetinaNet(RetinaNet):
    """A RetinaNet that pads images on the right and below, and finds nothing there.

    Args:
        classes: there is none for the background.
    """

    def __init__(self, classes: int) -> None:
        super().__init__(FULL, (PADDED, PADDED, 3), classes)

    def looked_at(self, images: tf.Tensor, *, training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """Scores and shifts of padded images: with the mean of each channel, which is 0 once they are normalised."""
        more = PADDED - DIMENSIONS.size
        mean = tf.constant(MEAN, images.dtype)
        padded = tf.pad(images - mean, [[0, 0], [0, more], [0, more], [0, 0]]) + mean
        return super().looked_at(padded, training=training)

    def searched(self, boxes: tf.Tensor, shares: tf.Tensor, overlap: float = OVERLAP) -> tf.Tensor:
        """Detections among boxes, within the image that was there; what lies beside it has no area left."""
        boxes = clipped(boxes, float(DIMENSIONS.size), float(DIMENSIONS.size))
        there = tf.reduce_all(boxes[..., 2:] > boxes[..., :2], axis=-1, keepdims=True)
        return super().searched(boxes, tf.where(there, shares, 0.0), overlap)


def build_ssd320(facts: Facts) -> Any:
    """The model with random weights.

    Args:
        facts: of the data set.

    Raises:
        FramewattError: the images are of another size.
    """
    DIMENSIONS.check(facts.input_shape)
    return PaddedRetinaNet(facts.classes)
