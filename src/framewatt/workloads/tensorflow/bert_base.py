"""BERT-base as KerasHub ships it, a classifier of texts."""

import keras

from framewatt.workloads.bert import BASE
from framewatt.workloads.tensorflow._bert import build_bert


def build(classes: int, input_shape: tuple[int, ...]) -> keras.Model:
    """The model; takes token ids, their mask and their types."""
    return build_bert(BASE, classes, input_shape)
