"""BERT-base as transformers ships it, a classifier of texts."""

from pathlib import Path

import torch

from framewatt.workloads.bert import BASE
from framewatt.workloads.torch._bert import bert_with_body, build_bert


def build(classes: int, input_shape: tuple[int, ...]) -> torch.nn.Module:
    """The model; takes token ids, their mask and their types."""
    return build_bert(BASE, classes, input_shape)


def with_body(classes: int, input_shape: tuple[int, ...], folder: Path) -> torch.nn.Module:
    """The model with the published weights of a folder, and a random head."""
    return bert_with_body(BASE, classes, input_shape, folder)
