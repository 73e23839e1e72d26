"""NeuMF with the dimensions of its paper, for a machine of few cores."""

from mxnet.gluon import HybridBlock

from framewatt.workloads.contract import Facts
from framewatt.workloads.mxnet._neumf import build_neumf
from framewatt.workloads.neumf import SMALL, TASK

__all__ = ["TASK", "build"]


def build(facts: Facts) -> HybridBlock:
    """The model; takes pairs of a user and an item."""
    return build_neumf(SMALL, facts.categories)
