"""SSD with dimensions for a machine of few cores."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.ssd import SMALL, TASK
from framewatt.workloads.torch._ssd import build_ssd

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes images of 128 pixels, and gives detections."""
    return build_ssd(SMALL, facts)
