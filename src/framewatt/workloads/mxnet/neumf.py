"""NeuMF with the dimensions of the reference, NVIDIA DeepLearningExamples."""

from mxnet.gluon import HybridBlock

from framewatt.workloads.contract import Facts
from framewatt.workloads.mxnet._neumf import build_neumf
from framewatt.workloads.neumf import FULL, TASK

__all__ = ["TASK", "build"]


def build(facts: Facts) -> HybridBlock:
    """The model; takes pairs of a user and an item."""
    return build_neumf(FULL, facts.categories)
