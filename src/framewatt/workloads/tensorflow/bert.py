"""BERT as KerasHub ships it (its GELU is the approximate one), with a head for classes on its pooled output."""

from pathlib import Path

import keras
from keras_hub.models import BertBackbone, BertTextClassifier

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.bert import Dimensions
from framewatt.workloads.families.contract import Size

_NAMES = {"input_ids": "token_ids", "attention_mask": "padding_mask", "token_type_ids": "segment_ids"}
"""KerasHub's name of each input of the data set, in the data set's order."""


def build(facts: Facts, size: Size[Dimensions]) -> keras.Model:
    """Return a BERT of given dimensions, with random weights and without a softmax.

    Raises:
        FramewattError: samples are no texts, or too long.
    """
    dimensions = size.dimensions
    dimensions.check(facts.input_shape)
    backbone = BertBackbone(
        num_layers=dimensions.layers,
        hidden_dim=dimensions.width,
        num_heads=dimensions.heads,
        intermediate_dim=dimensions.hidden,
        vocabulary_size=dimensions.vocabulary,
        max_sequence_length=dimensions.positions,
        num_segments=dimensions.types,
        dropout=dimensions.dropout,
    )
    return _classifier(backbone, dimensions, facts)


def with_body(facts: Facts, size: Size[Dimensions], folder: Path) -> keras.Model:
    """Return a BERT of given dimensions with published weights, which KerasHub converts, and a random head.

    Raises:
        FramewattError: samples are no texts, or too long; the weights are of another BERT.
    """
    dimensions = size.dimensions
    dimensions.check(facts.input_shape)
    dimensions.check_published(folder)
    backbone = BertBackbone.from_preset(str(folder), dropout=dimensions.dropout)
    return _classifier(backbone, dimensions, facts)


def _classifier(backbone: BertBackbone, dimensions: Dimensions, facts: Facts) -> keras.Model:
    """Return a model with the inputs of the data set."""
    classifier = BertTextClassifier(backbone, num_classes=facts.classes, dropout=dimensions.dropout)
    inputs = {name: keras.Input(facts.input_shape, dtype="int32", name=name) for name in _NAMES}
    scores = classifier({_NAMES[name]: tokens for name, tokens in inputs.items()})
    return keras.Model(list(inputs.values()), scores)
