"""Layers of a ResNet (v1.5, as torchvision has it) and of a pyramid of its maps in Keras, with PyTorch's names."""

from typing import Any

import keras
import tensorflow as tf

from framewatt.workloads.families.resnet_v15 import EPSILON, MOMENTUM


class BatchNormalization(keras.layers.BatchNormalization):
    """Keras', with a running variance that is an unbiased estimate, as PyTorch's.

    Keras' own mixes in the variance of a batch's n values, PyTorch n / (n - 1) times it: of 32 values 3 % more. Where
    maps have few places, that changes the outputs of a trained model.
    """

    def call(self, inputs: tf.Tensor, training: bool | None = None, mask: Any = None) -> tf.Tensor:
        before = self.momentum * tf.convert_to_tensor(self.moving_variance)
        outputs = super().call(inputs, training=training, mask=mask)
        if training and self.trainable:
            values = tf.cast(tf.size(inputs) // inputs.shape[self.axis], before.dtype)
            # A single value has a variance of 0, and so has any multiple of it.
            unbiased = (self.moving_variance - before) * values / tf.maximum(values - 1, 1)
            self.moving_variance.assign(before + unbiased)
        return outputs


def normalisation(name: str) -> BatchNormalization:
    """Return the layer with PyTorch's constants.

    Args:
        name: of the layer.
    """
    return BatchNormalization(epsilon=EPSILON, momentum=MOMENTUM, name=name)


def stages_of(
    images: Any, stem: int, stages: tuple[int, ...], blocks: tuple[int, ...], widening: int, name: str
) -> list[Any]:
    """Return the maps of a ResNet's four stages.

    Args:
        images: normalised.
        stem: channels of the first convolution.
        stages: of the four stages, before a bottleneck widens them.
        blocks: of each stage.
        widening: 4 of bottlenecks, 1 of basic blocks.
        name: what the layers' names begin with.
    """
    values = _convolved(images, stem, 7, 2, f"{name}.conv1")
    values = keras.layers.ReLU()(_normalised(values, f"{name}.bn1"))
    values = keras.layers.MaxPooling2D(3, 2)(keras.layers.ZeroPadding2D(1)(values))
    maps = []
    for number, (channels, count) in enumerate(zip(stages, blocks, strict=True), 1):
        for block in range(count):
            stride = 2 if number > 1 and block == 0 else 1
            values = _block(values, channels, stride, widening, f"{name}.layer{number}.{block}")
        maps.append(values)
    return maps


def _block(values: Any, channels: int, stride: int, widening: int, name: str) -> Any:
    """Return a bottleneck with its stride in its middle convolution, or a basic block."""
    wide = channels * widening
    if widening == 1:
        parts = [(channels, 3, stride), (channels, 3, 1)]
    else:
        parts = [(channels, 1, 1), (channels, 3, stride), (wide, 1, 1)]
    output = values
    for number, (width, side, step) in enumerate(parts, 1):
        output = _normalised(_convolved(output, width, side, step, f"{name}.conv{number}"), f"{name}.bn{number}")
        if number < len(parts):
            output = keras.layers.ReLU()(output)
    if stride > 1 or values.shape[-1] != wide:
        values = _convolved(values, wide, 1, stride, f"{name}.downsample.0")
        values = _normalised(values, f"{name}.downsample.1")
    return keras.layers.ReLU()(keras.layers.Add()([output, values]))


def pyramid_of(maps: list[Any], channels: int, name: str) -> list[Any]:
    """Return a pyramid's maps, the largest first: each of `maps`, and those above it enlarged and added."""
    layers: list[Any] = []
    above = None
    for number in reversed(range(len(maps))):
        values = lecun(channels, 1, f"{name}.inner_blocks.{number}.0")(maps[number])
        if above is not None:
            values = keras.layers.Add()([values, keras.layers.UpSampling2D(2)(above)])
        above = values
        layers.insert(0, lecun(channels, 3, f"{name}.layer_blocks.{number}.0")(values))
    return layers


def lecun(channels: int, side: int, name: str, **further: Any) -> keras.layers.Layer:
    """Return a convolution that begins as those of a pyramid."""
    further = {"padding": "same", **further}
    return keras.layers.Conv2D(channels, side, kernel_initializer="lecun_uniform", name=name, **further)


def _convolved(values: Any, channels: int, side: int, stride: int, name: str) -> Any:
    """Return a convolution without a bias, padded alike on all sides."""
    if side > 1:
        values = keras.layers.ZeroPadding2D(side // 2)(values)
    start = keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal")
    layer = keras.layers.Conv2D(channels, side, stride, use_bias=False, kernel_initializer=start, name=name)
    return layer(values)


def _normalised(values: Any, name: str) -> Any:
    return normalisation(name)(values)
