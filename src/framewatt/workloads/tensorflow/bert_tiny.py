"""BERT-tiny, the same code as BERT-base in KerasHub: 2 layers of 128."""

from pathlib import Path

import keras

from framewatt.workloads.bert import TINY
from framewatt.workloads.contract import Facts
from framewatt.workloads.tensorflow._bert import bert_with_body, build_bert


def build(facts: Facts) -> keras.Model:
    """The model; takes token ids, their mask and their types."""
    return build_bert(TINY, facts.classes, facts.input_shape)


def with_body(facts: Facts, folder: Path) -> keras.Model:
    """The model with the published weights of a folder, and a random head."""
    return bert_with_body(TINY, facts.classes, facts.input_shape, folder)
