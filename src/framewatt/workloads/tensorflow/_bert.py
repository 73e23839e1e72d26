"""BERT as KerasHub ships it (its GELU is the approximate one), with a head for classes on its pooled output."""

from pathlib import Path

import keras
from keras_hub.models import BertBackbone, BertTextClassifier

from framewatt.workloads.bert import Dimensions

_NAMES = {"input_ids": "token_ids", "attention_mask": "padding_mask", "token_type_ids": "segment_ids"}
"""KerasHub's name of each input of the data set, in the data set's order."""


def build_bert(dimensions: Dimensions, classes: int, input_shape: tuple[int, ...]) -> keras.Model:
    """A BERT of given dimensions, with random weights and without a softmax.

    Raises:
        FramewattError: samples are no texts, or too long.
    """
    dimensions.check(input_shape)
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
    return _classifier(backbone, dimensions, classes, input_shape)


def bert_with_body(dimensions: Dimensions, classes: int, input_shape: tuple[int, ...], folder: Path) -> keras.Model:
    """A BERT of given dimensions with published weights, which KerasHub converts, and a random head.

    Raises:
        FramewattError: samples are no texts, or too long; the weights are of another BERT.
    """
    dimensions.check(input_shape)
    dimensions.check_published(folder)
    backbone = BertBackbone.from_preset(str(folder), dropout=dimensions.dropout)
    return _classifier(backbone, dimensions, classes, input_shape)


def _classifier(
    backbone: BertBackbone, dimensions: Dimensions, classes: int, input_shape: tuple[int, ...]
) -> keras.Model:
    """A model with the inputs of the data set."""
    classifier = BertTextClassifier(backbone, num_classes=classes, dropout=dimensions.dropout)
    inputs = {name: keras.Input(input_shape, dtype="int32", name=name) for name in _NAMES}
    scores = classifier({_NAMES[name]: tokens for name, tokens in inputs.items()})
    return keras.Model(list(inputs.values()), scores)
