"""Structure of a model, in the same terms for every framework: models of one name differ from zoo to zoo.

Every framework's engine inspects the built model; nothing here is taken from a paper or a zoo's page.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Convolution:
    """A convolution over images.

    Attributes:
        kernel: (height, width).
        stride: (vertical, horizontal).
        padding: as the framework gives it: pixels, `same`, or the padding of an earlier layer.
        biased: whether it has a bias.
    """

    kernel: Sequence[int]
    stride: Sequence[int]
    padding: str
    biased: bool

    @property
    def wide(self) -> bool:
        """Whether its kernel is larger than one pixel, so that padding matters."""
        return max(self.kernel) > 1

    @property
    def strided(self) -> bool:
        """Whether its stride is larger than 1."""
        return max(self.stride) > 1


def structure_of(
    convolutions: Iterable[Convolution], epsilons: Iterable[float], activations: Iterable[str]
) -> dict[str, Any]:
    """The facts in which models of one name differ.

    Args:
        convolutions: all of them.
        epsilons: of every normalisation, as the framework adds it to the variance.
        activations: name of every activation, as the framework calls it.

    Returns:
        `convolutions` and `biased_convolutions`, how many; `strided_convolutions`, how many by kernel;
        `strided_padding`, the ways in which wide strided ones are padded; `epsilons` and `activations`, the different
        ones.
    """
    found = list(convolutions)
    strided = [one for one in found if one.strided]
    return {
        "convolutions": len(found),
        "biased_convolutions": sum(one.biased for one in found),
        "strided_convolutions": dict(sorted(Counter("x".join(map(str, one.kernel)) for one in strided).items())),
        "strided_padding": sorted({one.padding for one in strided if one.wide}),
        "epsilons": sorted({float(f"{epsilon:.4g}") for epsilon in epsilons}),
        "activations": sorted(set(activations)),
    }
