"""ResNet-50 as keras.applications ships it (v1: the stride sits in the first 1x1 convolution)."""

import keras

from framewatt.workloads.contract import Facts


def build(facts: Facts) -> keras.Model:
    """The model with random weights and without a softmax, for images of (height, width, channels)."""
    return keras.applications.ResNet50(
        weights=None, input_shape=facts.input_shape, classes=facts.classes, classifier_activation=None
    )


def pretrained(facts: Facts) -> keras.Model:
    """The model with Keras's weights for ImageNet, which Keras checks by MD5."""
    return keras.applications.ResNet50(weights="imagenet", input_shape=facts.input_shape, classifier_activation=None)
