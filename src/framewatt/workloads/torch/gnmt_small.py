"""GNMT v2 with dimensions for a machine of few cores."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.gnmt import SMALL, TASK
from framewatt.workloads.torch._gnmt import build_gnmt

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes source sentences and what of their translations is known, of any lengths."""
    return build_gnmt(SMALL, facts.classes)
