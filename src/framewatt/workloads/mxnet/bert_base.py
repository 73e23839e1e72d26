"""BERT-base as GluonNLP ships it, a classifier of texts."""

from mxnet.gluon import HybridBlock

from framewatt.workloads.bert import BASE
from framewatt.workloads.mxnet._bert import build_bert


def build(classes: int, input_shape: tuple[int, ...]) -> HybridBlock:
    """The model; takes token ids, their mask and their types."""
    return build_bert(BASE, classes, input_shape)
