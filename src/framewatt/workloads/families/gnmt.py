"""GNMT v2: the dimensions that are the same in every framework, or differ as the published ones do, and its search.

Source: Y. Wu et al., Google's Neural Machine Translation System, 2016 (arXiv 1609.08144), section 7 for the search; T.
Salimans and D. Kingma, Weight Normalization, NeurIPS 2016, and D. Bahdanau et al., ICLR 2015, for the attention; C.
Szegedy et al., Rethinking the Inception Architecture, CVPR 2016, for label smoothing. v2 is that of NVIDIA
DeepLearningExamples: the first decoder layer queries the attention, and all others get its result.
"""

from dataclasses import dataclass

from framewatt.datasets.contract import TOKENS
from framewatt.workloads.families.contract import Family, Size

SPREAD = 0.1
"""All first weights are uniform between this and its negative, except those of attention's normalisation."""

SMOOTHING = 0.1
"""Share of a label that is spread evenly over the vocabulary in the loss."""

LENGTH_BEGIN = 5
"""Of the length penalty, ((5 + n) / 6) ** 0.6 for n tokens."""

LENGTH_NORM = 0.6
"""Exponent of the length penalty."""

COVERAGE = 0.1
"""Weight of the coverage penalty: the sum of log(min(attention to a source token in all steps, 1))."""

LEAST_COVERED = 1e-30
"""Attention below which a source token counts as having had this much, so that the logarithm is a number."""


@dataclass(frozen=True)
class Dimensions:
    """Dimensions of a GNMT.

    Attributes:
        hidden: width of every LSTM, of each direction of the first, and of the words' vectors.
        layers: of the encoder, with a first one that goes both ways, and as many of the decoder; 2 or more.
        dropout: share of an LSTM's inputs left out in training.
        from_encoder: whether the decoder's layers begin with the last states of the encoder's, the first with that of
            the backward direction; else with zeros.
        beam: hypotheses of a sentence that the search stores by default.
        longest: a translation has at most the first times the tokens of its source (with its end) and the second more.
    """

    hidden: int
    layers: int = 4
    dropout: float = 0.2
    from_encoder: bool = False
    beam: int = 5
    longest: tuple[int, int] = (2, 10)

    def inputs(self) -> dict[str, int]:
        """Width of what each LSTM gets, by its name."""
        wide = 2 * self.hidden
        others = range(self.layers - 1)
        return {
            **{"encoder.first": self.hidden, "encoder.backward": self.hidden},
            **{f"encoder.layers.{number}": self.hidden if number else wide for number in others},
            "decoder.first": self.hidden,
            **{f"decoder.layers.{number}": wide for number in others},
        }

    def parameters(self, vocabulary: int, biases: int = 1) -> int:
        """Return the number of weights that are trained.

        Args:
            vocabulary: entries.
            biases: of a gate; 2 as PyTorch has them; the second is 0 here and is not trained.
        """
        words = vocabulary * self.hidden
        attention = 2 * self.hidden**2 + 2 * self.hidden + 1
        return words + self._lstms("", biases) + attention + words + vocabulary

    def encoder_parameters(self, vocabulary: int) -> int:
        """Return the number of weights of the encoder alone, with the words' vectors."""
        return vocabulary * self.hidden + self._lstms("encoder.", 1)

    def _lstms(self, of: str, biases: int) -> int:
        """Return the number of weights of the LSTMs with names that start so."""
        widths = (width for name, width in self.inputs().items() if name.startswith(of))
        return sum(4 * self.hidden * (width + self.hidden + biases) for width in widths)


FULL = Dimensions(1024)
"""The reference's (NVIDIA DeepLearningExamples); PyTorch's decoder, which begins with zeros, for both frameworks."""

AS_PUBLISHED = {"torch": Dimensions(32), "tensorflow": Dimensions(32, from_encoder=True)}
"""What Georgiou et al. ran, which is not the same model in both frameworks."""

SMALL = Dimensions(128, layers=3, dropout=0.1)
"""For a machine of few cores; each stack has a layer with a residual."""

FAMILY = Family(
    "gnmt",
    "translation",
    {
        "gnmt": Size(FULL),
        "gnmt_as_published": Size(AS_PUBLISHED["torch"], differing=AS_PUBLISHED),
        "gnmt_small": Size(SMALL),
        # The encoder alone, which can be exported: it gives its outputs, which are not translations.
        "gnmt_encoder_small": Size(SMALL, inputs=(TOKENS,)),
    },
)
