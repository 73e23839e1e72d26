"""GNMT v2 with the dimensions that Georgiou et al. ran."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.gnmt import AS_PUBLISHED, TASK
from framewatt.workloads.torch._gnmt import build_gnmt

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes source sentences and what of their translations is known, of any lengths."""
    return build_gnmt(AS_PUBLISHED["torch"], facts.classes)
