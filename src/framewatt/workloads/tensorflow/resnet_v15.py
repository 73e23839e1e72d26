"""ResNet v1.5 of KerasHub, made the same model as torchvision's.

Its convolutions, their strides and their padding are. What it begins with and how it keeps the variance of batches are
not, so its layers are made anew, with PyTorch's initial weights and normalisation, under PyTorch's names.
"""

import math
import re
from typing import Any

import keras
import keras_hub

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.resnet_v15 import Dimensions
from framewatt.workloads.tensorflow.pyramid import normalisation

_STRIDES = (1, 2, 2, 2)


def build(facts: Facts, size: Size[Dimensions]) -> keras.Model:
    """Return the model with random weights and without a softmax, for images of at least 32 pixels."""
    dimensions = size.dimensions
    theirs = keras_hub.models.ResNetBackbone(
        [dimensions.stem],
        [7],
        list(dimensions.stages),
        list(dimensions.blocks),
        list(_STRIDES),
        block_type="bottleneck_block",
        image_shape=facts.input_shape,
    )
    # The class's own configuration builds its own layers again.
    body = keras.models.clone_model(keras.Model(theirs.input, theirs.output), clone_function=_as_torch)
    means = keras.layers.GlobalAveragePooling2D()(body.output)
    return keras.Model(body.input, _linear(facts.classes, means.shape[-1])(means))


def _as_torch(layer: keras.layers.Layer) -> Any:
    """Return a layer of KerasHub's as torchvision has it."""
    name = torch_name(layer.name)
    if isinstance(layer, keras.layers.BatchNormalization):
        return normalisation(name)
    further: dict[str, Any] = {"name": name}
    if isinstance(layer, keras.layers.Conv2D):
        further["kernel_initializer"] = keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal")
    return type(layer).from_config(layer.get_config() | further)


def torch_name(name: str) -> str:
    """Return the name of a layer in torchvision's ResNet: `layer1.0.conv2` for `stack0_block0_2_conv`.

    Args:
        name: KerasHub's; that of a layer without weights is kept.
    """
    if re.fullmatch(r"conv1_(conv|bn)", name):
        return name.partition("_")[2] + "1"
    match = re.fullmatch(r"stack(\d)_block(\d+)_(\d)_(conv|bn)", name)
    if match is None:
        return name
    stack, block, place, kind = match.groups()
    part = f"downsample.{int(kind == 'bn')}" if place == "0" else f"{kind}{place}"
    return f"layer{int(stack) + 1}.{block}.{part}"


def _linear(classes: int, channels: int) -> keras.layers.Layer:
    """Return the last layer, which begins as PyTorch's Linear does."""
    most = 1 / math.sqrt(channels)
    return keras.layers.Dense(
        classes,
        kernel_initializer=keras.initializers.RandomUniform(-most, most),
        bias_initializer=keras.initializers.RandomUniform(-most, most),
        name="fc",
    )
