"""MobileNetV2 (width 1.0) as keras.applications ships it: no expansion in the first block, uneven padding."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size


def build(facts: Facts, size: Size[None]) -> keras.Model:
    """Return the model with random weights and without a softmax, for images of (height, width, channels)."""
    return keras.applications.MobileNetV2(
        weights=None, input_shape=facts.input_shape, classes=facts.classes, classifier_activation=None
    )


def pretrained(facts: Facts, size: Size[None]) -> keras.Model:
    """Return the model with Keras's weights for ImageNet, which Keras checks by MD5."""
    return keras.applications.MobileNetV2(weights="imagenet", input_shape=facts.input_shape, classifier_activation=None)
