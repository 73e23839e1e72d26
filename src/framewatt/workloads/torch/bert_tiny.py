"""BERT-tiny, the same code as BERT-base in transformers: 2 layers of 128."""

from pathlib import Path

import torch

from framewatt.workloads.bert import TINY
from framewatt.workloads.torch._bert import bert_with_body, build_bert


def build(classes: int, input_shape: tuple[int, ...]) -> torch.nn.Module:
    """The model; takes token ids, their mask and their types."""
    return build_bert(TINY, classes, input_shape)


def with_body(classes: int, input_shape: tuple[int, ...], folder: Path) -> torch.nn.Module:
    """The model with the published weights of a folder, and a random head."""
    return bert_with_body(TINY, classes, input_shape, folder)
