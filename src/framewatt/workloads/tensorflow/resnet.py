"""ResNets as keras.applications ships them (v1: the stride of a block is in its first 1x1 convolution)."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size


def build(facts: Facts, size: Size[int]) -> keras.Model:
    """Return the model with random weights and without a softmax, for images of (height, width, channels)."""
    make = getattr(keras.applications, f"ResNet{size.dimensions}")
    return make(weights=None, input_shape=facts.input_shape, classes=facts.classes, classifier_activation=None)


def pretrained(facts: Facts, size: Size[int]) -> keras.Model:
    """Return the model with Keras's weights for ImageNet, which Keras checks by MD5."""
    make = getattr(keras.applications, f"ResNet{size.dimensions}")
    return make(weights="imagenet", input_shape=facts.input_shape, classifier_activation=None)
