"""MobileNetV2 (width 1.0) as torchvision ships it: the first block has no expansion, padding is symmetric."""

import torch
import torchvision

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.torch.official import official


def build(facts: Facts, size: Size[None]) -> torch.nn.Module:
    """Return the model with random weights; torchvision's takes any input size of at least 32 pixels."""
    return torchvision.models.mobilenet_v2(weights=None, num_classes=facts.classes)


def pretrained(facts: Facts, size: Size[None]) -> torch.nn.Module:
    """Return the model with torchvision's first weights for ImageNet; its second are for another preprocessing."""
    return official(torchvision.models.mobilenet_v2, torchvision.models.MobileNet_V2_Weights.IMAGENET1K_V1)
