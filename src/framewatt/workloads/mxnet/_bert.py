"""BERT as GluonNLP ships it, with a head for classes on its pooled output.

GluonNLP's own function for it wants a vocabulary, or downloads one; its classes want the number of tokens alone.
"""

from typing import Any

from gluonnlp.model.bert import BERTClassifier, BERTEncoder, BERTModel
from mxnet.gluon import HybridBlock

from framewatt.workloads.bert import Dimensions


class _Scores(HybridBlock):
    """Takes the mask of all tokens, where GluonNLP takes their number in each text."""

    def __init__(self, classifier: BERTClassifier) -> None:
        super().__init__()
        self.classifier = classifier

    def hybrid_forward(self, F: Any, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:  # noqa: N803  # Gluon calls it F
        """Scores of texts whose padding, if any, stands at their end."""
        lengths = F.sum(F.cast(attention_mask, dtype="float32"), axis=1)
        return self.classifier(input_ids, token_type_ids, lengths)


def build_bert(dimensions: Dimensions, classes: int, input_shape: tuple[int, ...]) -> HybridBlock:
    """A BERT of some dimensions, its weights not yet initialised, without the heads of its pre-training.

    Raises:
        FramewattError: samples are no texts, or too long.
    """
    dimensions.check(input_shape)
    encoder = BERTEncoder(
        num_layers=dimensions.layers,
        units=dimensions.width,
        num_heads=dimensions.heads,
        hidden_size=dimensions.hidden,
        max_length=dimensions.positions,
        dropout=dimensions.dropout,
    )
    bert = BERTModel(
        encoder,
        vocab_size=dimensions.vocabulary,
        token_type_vocab_size=dimensions.types,
        units=dimensions.width,
        embed_size=dimensions.width,
        use_decoder=False,
        use_classifier=False,
    )
    return _Scores(BERTClassifier(bert, num_classes=classes, dropout=dimensions.dropout))
