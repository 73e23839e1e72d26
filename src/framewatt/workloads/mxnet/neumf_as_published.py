"""NeuMF with the dimensions that Georgiou et al. ran: one factor, layers of 2, 2, 1 and 1."""

from mxnet.gluon import HybridBlock

from framewatt.workloads.contract import Facts
from framewatt.workloads.mxnet._neumf import build_neumf
from framewatt.workloads.neumf import AS_PUBLISHED, TASK

__all__ = ["TASK", "build"]


def build(facts: Facts) -> HybridBlock:
    """The model; takes pairs of a user and an item."""
    return build_neumf(AS_PUBLISHED, facts.categories)
