"""BERT-tiny, the same code as BERT-base in GluonNLP: 2 layers of 128."""

from mxnet.gluon import HybridBlock

from framewatt.workloads.bert import TINY
from framewatt.workloads.mxnet._bert import build_bert


def build(classes: int, input_shape: tuple[int, ...]) -> HybridBlock:
    """The model; takes token ids, their mask and their types."""
    return build_bert(TINY, classes, input_shape)
