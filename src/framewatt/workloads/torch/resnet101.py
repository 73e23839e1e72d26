"""ResNet-101 as torchvision ships it (v1.5: the stride sits in the 3x3 convolution)."""

import torch
import torchvision

from framewatt.workloads.contract import Facts
from framewatt.workloads.torch._official import official


def build(facts: Facts) -> torch.nn.Module:
    """The model with random weights; torchvision's takes any input size of at least 32 pixels."""
    return torchvision.models.resnet101(weights=None, num_classes=facts.classes)


def pretrained(facts: Facts) -> torch.nn.Module:
    """The model with torchvision's first weights for ImageNet; its second ones are for another preprocessing."""
    return official(torchvision.models.resnet101, torchvision.models.ResNet101_Weights.IMAGENET1K_V1)
