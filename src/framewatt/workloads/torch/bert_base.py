"""BERT-base as transformers ships it, a classifier of texts."""

import torch

from framewatt.workloads.bert import BASE
from framewatt.workloads.torch._bert import build_bert


def build(classes: int, input_shape: tuple[int, ...]) -> torch.nn.Module:
    """The model; takes token ids, their mask and their types."""
    return build_bert(BASE, classes, input_shape)
