"""NeuMF, neural matrix factorisation: the dimensions that are the same in every framework.

Source: X. He et al., Neural Collaborative Filtering, WWW 2017. A user's and an item's vectors are multiplied element by
element (the factorisation), two others go through dense layers side by side (the perceptron), and one more layer makes
a score of both.
"""

from dataclasses import dataclass

from framewatt.base.errors import FramewattError
from framewatt.workloads.families.contract import Family, Size

SPREAD = 0.01
"""Standard deviation of the first vectors of users and items."""


@dataclass(frozen=True)
class Dimensions:
    """Dimensions of a NeuMF.

    Attributes:
        factors: length of the vectors of the factorisation.
        layers: units of each dense layer, the first being the one that users' and items' vectors make together.
        dropout: share of a layer's inputs left out in training.
    """

    factors: int
    layers: tuple[int, ...]
    dropout: float = 0.0

    @property
    def half(self) -> int:
        """Length of the vectors that go into the perceptron, of a user or of an item."""
        return self.layers[0] // 2

    def sizes(self, categories: tuple[int, ...]) -> tuple[int, int]:
        """Return how many users and items there are.

        Raises:
            FramewattError: the data set has no pairs of them.
        """
        if len(categories) != 2:
            raise FramewattError(
                f"NeuMF: the data set has {len(categories)} kinds of ids. Use a data set of users and items."
            )
        return categories[0], categories[1]

    def parameters(self, categories: tuple[int, ...]) -> int:
        """Return the number of weights."""
        vectors = sum(self.sizes(categories)) * (self.factors + self.half)
        dense = sum((before + 1) * units for before, units in zip(self.layers, self.layers[1:], strict=False))
        return vectors + dense + self.factors + self.layers[-1] + 1


FULL = Dimensions(factors=64, layers=(256, 256, 128, 64), dropout=0.5)
"""The reference's (NVIDIA DeepLearningExamples)."""

AS_PUBLISHED = Dimensions(factors=1, layers=(2, 2, 1, 1), dropout=0.5)
"""What Georgiou et al. ran."""

SMALL = Dimensions(factors=8, layers=(64, 32, 16, 8))
"""Of the paper that NeuMF is from, for a machine of few cores."""

FAMILY = Family(
    "neumf",
    "recommendation",
    {"neumf": Size(FULL), "neumf_as_published": Size(AS_PUBLISHED), "neumf_small": Size(SMALL)},
)
