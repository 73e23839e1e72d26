"""ResNet-152 v1 as Gluon's model zoo ships it (the stride sits in the first 1x1 convolution)."""

from mxnet.gluon import HybridBlock
from mxnet.gluon.model_zoo import vision

from framewatt.workloads.contract import Facts


def build(facts: Facts) -> HybridBlock:
    """The model, its weights not yet initialised; Gluon infers shapes from the first batch."""
    return vision.resnet152_v1(classes=facts.classes)


def pretrained(facts: Facts) -> HybridBlock:
    """The model with Gluon's weights for ImageNet, which Gluon checks by SHA-1."""
    return vision.resnet152_v1(pretrained=True)
