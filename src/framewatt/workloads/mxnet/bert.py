"""BERT as GluonNLP ships it, with a head for classes on its pooled output.

GluonNLP's own function needs a vocabulary, or downloads one; its classes need only the number of tokens.
"""

from pathlib import Path
from typing import Any

import mxnet as mx
from gluonnlp.model.bert import BERTClassifier, BERTEncoder, BERTModel
from mxnet.gluon import HybridBlock, Parameter
from safetensors.numpy import load_file

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.bert import WEIGHTS, Dimensions, check_whole
from framewatt.workloads.families.contract import Size


class _Scores(HybridBlock):
    """Takes an attention mask, where GluonNLP takes the number of tokens in each text."""

    def __init__(self, classifier: BERTClassifier) -> None:
        super().__init__()
        self.classifier = classifier

    def hybrid_forward(self, F: Any, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:  # noqa: N803  # Gluon calls it F
        """Return scores of texts; their padding, if any, is at their end."""
        lengths = F.sum(F.cast(attention_mask, dtype="float32"), axis=1)
        return self.classifier(input_ids, token_type_ids, lengths)


def build(facts: Facts, size: Size[Dimensions]) -> HybridBlock:
    """Return a BERT of given dimensions, its weights not yet initialised, without the heads of its pre-training.

    Raises:
        FramewattError: samples are no texts, or too long.
    """
    dimensions = size.dimensions
    dimensions.check(facts.input_shape)
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
    return _Scores(BERTClassifier(bert, num_classes=facts.classes, dropout=dimensions.dropout))


def with_body(facts: Facts, size: Size[Dimensions], folder: Path) -> HybridBlock:
    """Return a BERT of given dimensions with published weights, and a random head.

    GluonNLP's own file of the same weights is not used, since its tokens are not in the order of BERT's vocabulary.

    Raises:
        FramewattError: samples are no texts, or too long; the weights are of another BERT.
    """
    size.dimensions.check_published(folder)
    model = build(facts, size)
    model.initialize(mx.init.Xavier())
    # Older files call a normalisation's scale and shift gamma and beta, as Gluon does.
    published = {}
    for name, values in load_file(folder / WEIGHTS).items():
        as_before = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        published[as_before.removeprefix("bert.")] = values
    wanted = names_in_transformers(model.classifier.bert)
    check_whole(folder / WEIGHTS, set(wanted) - set(published))
    for name, parameter in wanted.items():
        parameter.set_data(mx.nd.array(published[name]))
    return model


def names_in_transformers(bert: BERTModel) -> dict[str, Parameter]:
    """Every parameter of the body, by its name in transformers; dense layers have the same layout as in Gluon."""
    blocks: dict[str, Any] = {"embeddings.LayerNorm": bert.encoder.layer_norm, "pooler.dense": bert.pooler}
    parameters = {
        "embeddings.word_embeddings.weight": bert.word_embed[0].weight,
        "embeddings.token_type_embeddings.weight": bert.token_type_embed[0].weight,
        "embeddings.position_embeddings.weight": bert.encoder.position_weight,
    }
    for number, cell in enumerate(bert.encoder.transformer_cells):
        layer = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            for kind in ("weight", "bias"):
                parameters[f"{layer}.attention.self.{part}.{kind}"] = getattr(cell.attention_cell, f"{part}_{kind}")
        blocks |= {
            f"{layer}.attention.output.dense": cell.proj,
            f"{layer}.attention.output.LayerNorm": cell.layer_norm,
            f"{layer}.intermediate.dense": cell.ffn.ffn_1,
            f"{layer}.output.dense": cell.ffn.ffn_2,
            f"{layer}.output.LayerNorm": cell.ffn.layer_norm,
        }
    for name, block in blocks.items():
        for kind in ("gamma", "beta") if name.endswith("LayerNorm") else ("weight", "bias"):
            parameters[f"{name}.{kind}"] = getattr(block, kind)
    return parameters
