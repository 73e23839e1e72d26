"""BERT as a classifier of texts: the dimensions that are the same in every framework.

Source: J. Devlin et al., BERT (2019), for the base model; I. Turc et al., Well-Read Students Learn Better (2019), for
the tiny one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.workloads.contract import BODY
from framewatt.workloads.families.contract import Family, Size

CONFIGURATION, WEIGHTS = BODY
"""The files of published weights, as transformers writes them."""

_NAMES = {
    "layers": "num_hidden_layers",
    "width": "hidden_size",
    "heads": "num_attention_heads",
    "hidden": "intermediate_size",
    "vocabulary": "vocab_size",
    "positions": "max_position_embeddings",
    "types": "type_vocab_size",
}
"""Dimension -> its name in transformers' configuration."""


@dataclass(frozen=True)
class Dimensions:
    """Dimensions of a BERT.

    Attributes:
        layers: number of transformer layers.
        width: length of a token's vector.
        heads: attention heads per layer.
        hidden: width of the feed-forward network inside a layer.
        vocabulary: number of tokens.
        positions: longest text, in tokens.
        types: kinds of tokens (first or second sentence).
        dropout: share of activations left out in training.
    """

    layers: int
    width: int
    heads: int
    hidden: int
    vocabulary: int = 30522
    positions: int = 512
    types: int = 2
    dropout: float = 0.1

    def check(self, input_shape: tuple[int, ...]) -> None:
        """Check that the model can read samples of a shape.

        Args:
            input_shape: shape of one sample.

        Raises:
            FramewattError: the samples are no texts, or are too long.
        """
        if len(input_shape) != 1 or input_shape[0] > self.positions:
            raise FramewattError(
                f"BERT: it does not take samples of shape {input_shape}. Use texts of at most {self.positions} tokens."
            )

    def check_published(self, folder: Path) -> None:
        """Check that published weights belong to a BERT of these dimensions.

        Args:
            folder: with their `CONFIGURATION`.

        Raises:
            FramewattError: they belong to another one.
        """
        published = read_json(folder / CONFIGURATION)
        for name, theirs in _NAMES.items():
            if published.get(theirs) != getattr(self, name):
                raise FramewattError(
                    f"{folder / CONFIGURATION}: {theirs} is {published.get(theirs)}, and the model has "
                    f"{getattr(self, name)}. Use the weights of a BERT of the same dimensions."
                )


def check_whole(path: Path, missing: Iterable[str]) -> None:
    """Check that published weights have all of a model's weights except those of the head.

    Args:
        path: their file.
        missing: names of the weights that the file lacks, without those of the head.

    Raises:
        FramewattError: weights are missing, which a framework would leave random.
    """
    if names := sorted(missing):
        raise FramewattError(
            f"{path} lacks {len(names)} weights of BERT's body, such as {names[0]}. Use a file with all of them."
        )


BASE = Dimensions(layers=12, width=768, heads=12, hidden=3072)
TINY = Dimensions(layers=2, width=128, heads=2, hidden=512)

FAMILY = Family("bert", "classification", {"bert_base": Size(BASE), "bert_tiny": Size(TINY)}, has_body=True)
