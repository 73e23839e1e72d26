"""NeuMF with the dimensions of its paper, for a machine of few cores."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.neumf import SMALL, TASK
from framewatt.workloads.torch._neumf import build_neumf

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes pairs of a user and an item."""
    return build_neumf(SMALL, facts.categories)
