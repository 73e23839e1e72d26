"""ResNets as torchvision ships them (v1.5: the stride of a block is in its 3x3 convolution)."""

import torch
import torchvision

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.torch.official import official


def build(facts: Facts, size: Size[int]) -> torch.nn.Module:
    """Return the model with random weights; torchvision's takes any input size of at least 32 pixels."""
    make = getattr(torchvision.models, f"resnet{size.dimensions}")
    return make(weights=None, num_classes=facts.classes)


def pretrained(facts: Facts, size: Size[int]) -> torch.nn.Module:
    """Return the model with torchvision's first weights for ImageNet; its second are for another preprocessing."""
    weights = getattr(torchvision.models, f"ResNet{size.dimensions}_Weights")
    return official(getattr(torchvision.models, f"resnet{size.dimensions}"), weights.IMAGENET1K_V1)
