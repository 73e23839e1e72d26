"""Mask R-CNN with dimensions for a machine of few cores."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.mask_rcnn import SMALL, TASK
from framewatt.workloads.torch._mask_rcnn import build_mask_rcnn

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes images whose sides are multiples of 32, and gives detections with masks."""
    return build_mask_rcnn(SMALL, facts)
