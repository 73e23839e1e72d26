"""ResNet-101 as keras.applications ships it (v1: the stride sits in the first 1x1 convolution)."""

import keras


def build(classes: int, input_shape: tuple[int, ...]) -> keras.Model:
    """The model with random weights and without a softmax, for images of (height, width, channels)."""
    return keras.applications.ResNet101(
        weights=None, input_shape=input_shape, classes=classes, classifier_activation=None
    )


def pretrained(input_shape: tuple[int, ...]) -> keras.Model:
    """The model with Keras's weights for ImageNet, which Keras checks by MD5."""
    return keras.applications.ResNet101(weights="imagenet", input_shape=input_shape, classifier_activation=None)
