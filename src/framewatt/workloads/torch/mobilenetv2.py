"""MobileNetV2 (width 1.0) as torchvision ships it: the first block has no expansion, padding is symmetric."""

import torch
import torchvision


def build(classes: int, input_shape: tuple[int, ...]) -> torch.nn.Module:
    """The model with random weights; torchvision's takes any input size of at least 32 pixels."""
    return torchvision.models.mobilenet_v2(weights=None, num_classes=classes)
