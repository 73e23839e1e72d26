"""BERT-tiny, the same code as BERT-base in transformers: 2 layers of 128."""

from pathlib import Path

import torch

from framewatt.workloads.bert import TINY
from framewatt.workloads.contract import Facts
from framewatt.workloads.torch._bert import bert_with_body, build_bert


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes token ids, their mask and their types."""
    return build_bert(TINY, facts.classes, facts.input_shape)


def with_body(facts: Facts, folder: Path) -> torch.nn.Module:
    """The model with the published weights of a folder, and a random head."""
    return bert_with_body(TINY, facts.classes, facts.input_shape, folder)
