"""ResNet-152 as torchvision ships it (v1.5: the stride sits in the 3x3 convolution)."""

import torch
import torchvision

from framewatt.workloads.contract import Facts
from framewatt.workloads.torch._official import official


def build(facts: Facts) -> torch.nn.Module:
    """The model with random weights; torchvision's takes any input size of at least 32 pixels."""
    return torchvision.models.resnet152(weights=None, num_classes=facts.classes)


def pretrained(facts: Facts) -> torch.nn.Module:
    """The model with torchvision's first weights for ImageNet; its second ones are for another preprocessing."""
    return official(torchvision.models.resnet152, torchvision.models.ResNet152_Weights.IMAGENET1K_V1)
