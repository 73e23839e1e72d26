"""NeuMF with the dimensions that Georgiou et al. ran: one factor, layers of 2, 2, 1 and 1."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.neumf import AS_PUBLISHED, TASK
from framewatt.workloads.torch._neumf import build_neumf

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes pairs of a user and an item."""
    return build_neumf(AS_PUBLISHED, facts.categories)
