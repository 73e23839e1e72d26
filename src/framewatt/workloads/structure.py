"""What a model is made of, in the same words for every framework: models of one name differ from zoo to zoo.

Every framework's engine walks the built model; nothing here is taken from a paper or a zoo's page.
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
        padding: as the framework says it: pixels, `same`, or what an earlier layer added.
        biased: whether it has a bias.
    """

    kernel: Sequence[int]
    stride: Sequence[int]
    padding: str
    biased: bool

    @property
    def wide(self) -> bool:
        """Whether it sees more than one pixel, so that padding matters."""
        return max(self.kernel) > 1

    @property
    def strided(self) -> bool:
        """Whether it leaves out pixels."""
        return max(self.stride) > 1


def structure_of(
    convolutions: Iterable[Convolution], epsilons: Iterable[float], activations: Iterable[str]
) -> dict[str, Any]:
    """Facts by which models of one name differ.

    Args:
        convolutions: all of them.
        epsilons: of every normalisation, as the framework added it to a variance.
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
