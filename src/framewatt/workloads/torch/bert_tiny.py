"""BERT-tiny, the same code as BERT-base in transformers: 2 layers of 128."""

import torch

from framewatt.workloads.bert import TINY
from framewatt.workloads.torch._bert import build_bert


def build(classes: int, input_shape: tuple[int, ...]) -> torch.nn.Module:
    """The model; takes token ids, their mask and their types."""
    return build_bert(TINY, classes, input_shape)
