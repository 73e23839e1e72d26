"""BERT as a classifier of texts: the dimensions that every framework builds alike.

Source: J. Devlin et al., BERT (2019), for the base model; I. Turc et al., Well-Read Students Learn Better (2019), for
the tiny one.
"""

from dataclasses import dataclass

from framewatt.errors import FramewattError


@dataclass(frozen=True)
class Dimensions:
    """Dimensions of a BERT.

    Attributes:
        layers: number of transformer layers.
        width: length of a token's vector.
        heads: attention heads a layer.
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
        """Make sure that the model can read such samples.

        Args:
            input_shape: shape of one sample.

        Raises:
            FramewattError: they are no texts, or too long.
        """
        if len(input_shape) != 1 or input_shape[0] > self.positions:
            raise FramewattError(
                f"BERT: found samples of shape {input_shape}; allowed: texts of at most {self.positions} tokens"
            )


BASE = Dimensions(layers=12, width=768, heads=12, hidden=3072)
TINY = Dimensions(layers=2, width=128, heads=2, hidden=512)
