"""ResNet v1.5 with dimensions for a machine of two cores."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.resnet import SMALL
from framewatt.workloads.tensorflow._classifier import build_resnet


def build(facts: Facts) -> keras.Model:
    """The model with random weights and without a softmax, for images of at least 32 pixels."""
    return build_resnet(SMALL, facts)
