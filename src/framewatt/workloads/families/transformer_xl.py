"""Transformer-XL: the dimensions that are the same in every framework, or differ as the published ones do.

Source: Z. Dai et al., Transformer-XL, ACL 2019: attention over a segment and the memory of those before it, by relative
positions; and E. Grave et al., Efficient softmax approximation for GPUs, ICML 2017: words by frequency in clusters, so
that of the rare ones only the cluster is scored unless the target is in it.
"""

import itertools
from dataclasses import dataclass

from framewatt.workloads.families.contract import Family, Size

SPREAD = 0.02
"""Standard deviation of all first weights; those of a layer norm are around 1."""


@dataclass(frozen=True)
class Dimensions:
    """Dimensions of a Transformer-XL.

    Attributes:
        layers: blocks of attention and a dense part.
        width: of the hidden states.
        heads: of attention.
        head_width: of each.
        hidden: width within the dense part.
        memory: tokens before a segment that it attends to.
        embedding: width of the words' vectors, which are projected where it is not `width`.
        cutoffs: the words before the first are scored always, those between two in a cluster of their own.
        dropout: share left out in training, of hidden states; none of attention.
        shared_biases: whether all layers have the same two biases of attention.
    """

    layers: int
    width: int
    heads: int
    head_width: int
    hidden: int
    memory: int
    embedding: int
    cutoffs: tuple[int, ...]
    dropout: float = 0.1
    shared_biases: bool = True

    @property
    def attention(self) -> int:
        """Width of all heads together."""
        return self.heads * self.head_width

    def edges(self, vocabulary: int) -> tuple[int, ...]:
        """Return where the clusters of a vocabulary begin and end, after the words that are scored always."""
        return (*(cut for cut in self.cutoffs if cut < vocabulary), vocabulary)

    def clusters(self, vocabulary: int) -> list[tuple[int, int]]:
        """First word of each cluster, and the one after its last."""
        edges = self.edges(vocabulary)
        return list(itertools.pairwise(edges))

    def parameters(self, vocabulary: int) -> int:
        """Return the number of weights; those of words and of their scores are the same."""
        words = vocabulary * (self.embedding + 1) + len(self.clusters(vocabulary)) * (self.embedding + 1)
        projection = self.embedding * self.width if self.embedding != self.width else 0
        biases = 2 * self.attention * (1 if self.shared_biases else self.layers)
        attention = 5 * self.width * self.attention + 2 * self.width
        dense = 2 * self.width * self.hidden + self.hidden + self.width + 2 * self.width
        return words + projection + biases + self.layers * (attention + dense)


_REFERENCE_CUTOFFS = (19_997, 39_997, 199_997)

FULL = Dimensions(16, 512, 8, 64, 2048, memory=192, embedding=512, cutoffs=_REFERENCE_CUTOFFS)
"""The reference's base model (NVIDIA DeepLearningExamples); PyTorch's biases for both frameworks."""

AS_PUBLISHED = {
    "torch": Dimensions(16, 256, 8, 24, 256, memory=192, embedding=256, cutoffs=_REFERENCE_CUTOFFS),
    "tensorflow": Dimensions(
        16, 256, 8, 24, 256, memory=192, embedding=100, cutoffs=_REFERENCE_CUTOFFS, shared_biases=False
    ),
}
"""What Georgiou et al. ran, which is not the same model in both frameworks."""

SMALL = Dimensions(4, 128, 4, 32, 512, memory=64, embedding=128, cutoffs=(2_000, 10_000), dropout=0.2)
"""For a machine of few cores."""

FAMILY = Family(
    "transformer_xl",
    "language_modelling",
    {
        "transformer_xl": Size(FULL),
        "transformer_xl_as_published": Size(AS_PUBLISHED["torch"], differing=AS_PUBLISHED),
        "transformer_xl_small": Size(SMALL),
    },
)
