"""SSD as georgiou2022 ran it in PyTorch: SSD300 with a ResNet-50. In TensorFlow it is another model, a RetinaNet."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.ssd_as_published import TASK
from framewatt.workloads.torch._ssd_resnet import build_ssd_resnet

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes images of 300 pixels, and gives detections."""
    return build_ssd_resnet(facts)
