"""ResNet-50 v1.5, the same model as torchvision's; `resnet50` is keras.applications', and another one."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.resnet import FULL
from framewatt.workloads.tensorflow._classifier import build_resnet


def build(facts: Facts) -> keras.Model:
    """The model with random weights and without a softmax, for images of at least 32 pixels."""
    return build_resnet(FULL, facts)
