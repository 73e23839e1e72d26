"""ResNet v1.5 with dimensions for a machine of two cores."""

import torch
from torchvision.models.resnet import Bottleneck

from framewatt.workloads.contract import Facts
from framewatt.workloads.resnet import SMALL
from framewatt.workloads.torch._resnet import NarrowResNet


def build(facts: Facts) -> torch.nn.Module:
    """The model with random weights; takes images of at least 32 pixels."""
    return NarrowResNet(Bottleneck, SMALL.stem, SMALL.stages, SMALL.blocks, facts.classes)
