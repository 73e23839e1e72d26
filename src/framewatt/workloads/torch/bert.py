"""BERT as transformers ships it, with a head for classes on its pooled output."""

from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForSequenceClassification

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.bert import WEIGHTS, Dimensions, check_whole
from framewatt.workloads.families.contract import Size


class _Scores(BertForSequenceClassification):
    """Returns only the scores, where transformers returns a structure."""

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        return super().forward(input_ids, attention_mask, token_type_ids).logits


def build(facts: Facts, size: Size[Dimensions]) -> torch.nn.Module:
    """Return a BERT of given dimensions, with random weights.

    Raises:
        FramewattError: samples are no texts, or too long.
    """
    dimensions = size.dimensions
    dimensions.check(facts.input_shape)
    return _Scores(
        BertConfig(
            num_hidden_layers=dimensions.layers,
            hidden_size=dimensions.width,
            num_attention_heads=dimensions.heads,
            intermediate_size=dimensions.hidden,
            vocab_size=dimensions.vocabulary,
            max_position_embeddings=dimensions.positions,
            type_vocab_size=dimensions.types,
            hidden_dropout_prob=dimensions.dropout,
            attention_probs_dropout_prob=dimensions.dropout,
            num_labels=facts.classes,
        )
    )


def with_body(facts: Facts, size: Size[Dimensions], folder: Path) -> torch.nn.Module:
    """Return a BERT of given dimensions with published weights, and a random head.

    Raises:
        FramewattError: samples are no texts, or too long; the weights are of another BERT.
    """
    dimensions = size.dimensions
    dimensions.check(facts.input_shape)
    dimensions.check_published(folder)
    model, info = _Scores.from_pretrained(
        folder,
        num_labels=facts.classes,
        dtype=torch.float32,
        use_safetensors=True,
        local_files_only=True,
        output_loading_info=True,
    )
    check_whole(folder / WEIGHTS, (name for name in info["missing_keys"] if not name.startswith("classifier.")))
    return model
