"""Transformer-XL with the dimensions of the reference, NVIDIA DeepLearningExamples."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.tensorflow._transformer_xl import build_transformer_xl
from framewatt.workloads.transformer_xl import FULL, TASK

__all__ = ["TASK", "build"]


def build(facts: Facts) -> keras.Model:
    """The model; takes segments of tokens, their targets, and the state of the segment before."""
    return build_transformer_xl(FULL, facts.classes, facts.input_shape)
