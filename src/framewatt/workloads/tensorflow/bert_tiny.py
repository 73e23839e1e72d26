"""BERT-tiny, the same code as BERT-base in KerasHub: 2 layers of 128."""

import keras

from framewatt.workloads.bert import TINY
from framewatt.workloads.tensorflow._bert import build_bert


def build(classes: int, input_shape: tuple[int, ...]) -> keras.Model:
    """The model; takes token ids, their mask and their types."""
    return build_bert(TINY, classes, input_shape)
