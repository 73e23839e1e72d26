"""What detectors in Keras share: the two heads that look at every anchor, and how their convolutions begin."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf


class Detector(keras.Model):
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
        """Scores and shifts, in fp32: boxes need more digits than half formats have."""
        scores, found = self.maps(images, training=training)
        return tf.cast(scores, tf.float32), tf.cast(found, tf.float32)


def normal(images: Any, mean: Sequence[float], deviation: Sequence[float]) -> Any:
    """Images (n, height, width, 3) without the mean of each channel, divided by its deviation, in fp32."""
    scale = [1 / one for one in deviation]
    offset = [-one * factor for one, factor in zip(mean, scale, strict=True)]
    return keras.layers.Rescaling(scale, offset, dtype="float32")(images)


def near_zero(channels: int, side: int, name: str, **further: Any) -> keras.layers.Layer:
    """A convolution that begins as torchvision's heads over a pyramid do."""
    start = keras.initializers.RandomNormal(stddev=0.01)
    return keras.layers.Conv2D(channels, side, padding="same", kernel_initializer=start, name=name, **further)
