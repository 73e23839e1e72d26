"""Transformer-XL with dimensions for a machine of few cores."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.torch._transformer_xl import build_transformer_xl
from framewatt.workloads.transformer_xl import SMALL, TASK

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes segments of tokens, their targets, and the state of the segment before."""
    return build_transformer_xl(SMALL, facts.classes, facts.input_shape)
