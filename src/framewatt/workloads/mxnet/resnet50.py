"""ResNet-50 v1 as Gluon's model zoo ships it (the stride sits in the first 1x1 convolution)."""

from mxnet.gluon import HybridBlock
from mxnet.gluon.model_zoo import vision


def build(classes: int, input_shape: tuple[int, ...]) -> HybridBlock:
    """The model, its weights not yet initialised; Gluon infers shapes from the first batch."""
    return vision.resnet50_v1(classes=classes)


def pretrained(input_shape: tuple[int, ...]) -> HybridBlock:
    """The model with Gluon's weights for ImageNet, which Gluon checks by SHA-1."""
    return vision.resnet50_v1(pretrained=True)
