"""GNMT v2 with the dimensions of the reference, NVIDIA DeepLearningExamples."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.gnmt import FULL, TASK
from framewatt.workloads.tensorflow._gnmt import build_gnmt

__all__ = ["TASK", "build"]


def build(facts: Facts) -> keras.Model:
    """The model; takes source sentences and what of their translations is known, of any lengths."""
    return build_gnmt(FULL, facts.classes)
