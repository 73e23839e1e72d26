"""MobileNetV2 (width 1.0) as Gluon's model zoo ships it: the first block has an expansion, the head no bias."""

from mxnet.gluon import HybridBlock
from mxnet.gluon.model_zoo import vision

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size


def build(facts: Facts, size: Size[None]) -> HybridBlock:
    """Return the model, its weights not yet initialised; Gluon infers shapes from the first batch."""
    return vision.mobilenet_v2_1_0(classes=facts.classes)


def pretrained(facts: Facts, size: Size[None]) -> HybridBlock:
    """Return the model with Gluon's weights for ImageNet, which Gluon checks by SHA-1."""
    return vision.mobilenet_v2_1_0(pretrained=True)
