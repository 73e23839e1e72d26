"""SSD300 with a VGG-16, as torchvision has it."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.ssd import FULL, TASK
from framewatt.workloads.torch._ssd import build_ssd

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes images of 300 pixels, and gives detections."""
    return build_ssd(FULL, facts)
