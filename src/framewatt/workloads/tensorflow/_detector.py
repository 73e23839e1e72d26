"""What detectors in Keras share: the two heads that look at every anchor, and how their convolutions begin."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from framewatt.workloads.tensorflow._boxes import full


class SumOfParts:
    """What learns by the sum of the parts of its loss, `parts_of_loss`, which have torchvision's names."""

    def objective(self, images: tf.Tensor, boxes: tf.Tensor, classes: tf.Tensor, masks: Any = None) -> tf.Tensor:
        """The loss of a batch, see workloads.detector."""
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
        """Scores and shifts, in the format of boxes."""
        scores, found = self.maps(images, training=training)
        return tf.cast(scores, full()), tf.cast(found, full())


def normal(images: Any, mean: Sequence[float], deviation: Sequence[float]) -> Any:
    """Images (n, height, width, 3) without each channel's mean, divided by its deviation, in the format of boxes."""
    # Lists would be rounded to fp32 first.
    scale = 1 / np.array(deviation)
    offset = -np.array(mean) * scale
    return keras.layers.Rescaling(scale, offset, dtype=full())(images)


def near_zero(channels: int, side: int, name: str, **further: Any) -> keras.layers.Layer:
    """A convolution that begins as torchvision's heads over a pyramid do."""
    start = keras.initializers.RandomNormal(stddev=0.01)
    return keras.layers.Conv2D(channels, side, padding="same", kernel_initializer=start, name=name, **further)
