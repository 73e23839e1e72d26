"""RetinaNet with dimensions for a machine of few cores."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.retinanet import SMALL, TASK
from framewatt.workloads.torch._retinanet import build_retinanet

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes images whose sides are multiples of 32, and gives detections."""
    return build_retinanet(SMALL, facts)
