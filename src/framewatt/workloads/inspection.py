"""What is inside a built model, in terms that all frameworks share: weights, in PyTorch's axes, and structure.

Models of one name differ from zoo to zoo. The engine of each framework inspects the model that it built; nothing here
is taken from a paper or from the page of a zoo.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError

Values = NDArray[np.float32]


@dataclass(frozen=True)
class Place:
    """A weight of a model.

    Attributes:
        read: gives a copy of its values, in PyTorch's axes.
        write: sets them.
        trained: whether steps of an optimizer change it; statistics of batches they do not.
    """

    read: Callable[[], Values]
    write: Callable[[Values], None]
    trained: bool


def matched(places: Mapping[str, Place], values: Mapping[str, Values]) -> dict[str, Place]:
    """The places of a model by the names of other values: those of the same name or, where names differ, in order.

    Layers that lie in another order, with the same shapes, are not noticed here: the model's outputs then differ.

    Args:
        places: of the model, in the order in which its layers were made.
        values: of a model of another framework, in the order of its own.

    Raises:
        FramewattError: there are not as many, or not of the same shapes.
    """
    if len(places) != len(values):
        raise FramewattError(f"weights: the models have {len(places)} and {len(values)} tensors. They need as many.")
    known = places.keys() == values.keys()
    by_name = {name: places[name] for name in values} if known else dict(zip(values, places.values(), strict=True))
    for number, (name, place) in enumerate(by_name.items()):
        shape, other = place.read().shape, values[name].shape
        if shape != other:
            raise FramewattError(
                f"weights: {name}, number {number}, has shape {shape} in one model and {other} in the other. They "
                "need the same."
            )
    return by_name


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
    """Return the facts in which models of one name differ.

    Args:
        convolutions: all of them.
        epsilons: of every normalisation, as the framework adds it to the variance.
        activations: name of every activation, as the framework calls it.

    Returns:
        `convolutions` and `biased_convolutions`, how many; `strided_convolutions`, how many by kernel;
        `strided_padding`, the ways in which wide strided ones are padded; `epsilons` and `activations`, the different
        ones.
    """
    every = list(convolutions)
    strided = [one for one in every if one.strided]
    return {
        "convolutions": len(every),
        "biased_convolutions": sum(one.biased for one in every),
        "strided_convolutions": dict(sorted(Counter("x".join(map(str, one.kernel)) for one in strided).items())),
        "strided_padding": sorted({one.padding for one in strided if one.wide}),
        "epsilons": sorted({float(f"{epsilon:.4g}") for epsilon in epsilons}),
        "activations": sorted(set(activations)),
    }
