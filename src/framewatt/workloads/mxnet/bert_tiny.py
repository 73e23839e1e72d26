"""BERT-tiny, the same code as BERT-base in GluonNLP: 2 layers of 128."""

from pathlib import Path

from mxnet.gluon import HybridBlock

from framewatt.workloads.bert import TINY
from framewatt.workloads.mxnet._bert import bert_with_body, build_bert


def build(classes: int, input_shape: tuple[int, ...]) -> HybridBlock:
    """The model; takes token ids, their mask and their types."""
    return build_bert(TINY, classes, input_shape)


def with_body(classes: int, input_shape: tuple[int, ...], folder: Path) -> HybridBlock:
    """The model with the published weights of a folder, and a random head."""
    return bert_with_body(TINY, classes, input_shape, folder)
