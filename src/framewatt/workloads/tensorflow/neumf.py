"""NeuMF with the dimensions of the reference, NVIDIA DeepLearningExamples."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.neumf import FULL, TASK
from framewatt.workloads.tensorflow._neumf import build_neumf

__all__ = ["TASK", "build"]


def build(facts: Facts) -> keras.Model:
    """The model; takes pairs of a user and an item."""
    return build_neumf(FULL, facts.categories)
