"""ResNets v1 as Gluon's model zoo ships them (the stride of a block is in its first 1x1 convolution)."""

from mxnet.gluon import HybridBlock
from mxnet.gluon.model_zoo import vision

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size


def build(facts: Facts, size: Size[int]) -> HybridBlock:
    """Return the model, its weights not yet initialised; Gluon infers shapes from the first batch."""
    return getattr(vision, f"resnet{size.dimensions}_v1")(classes=facts.classes)


def pretrained(facts: Facts, size: Size[int]) -> HybridBlock:
    """Return the model with Gluon's weights for ImageNet, which Gluon checks by SHA-1."""
    return getattr(vision, f"resnet{size.dimensions}_v1")(pretrained=True)
