"""Where the weights of a model lie, in terms that frameworks share: by name or order, and in PyTorch's axes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
        raise FramewattError(f"weights: found {len(places)} tensors beside {len(values)}; allowed: as many")
    known = places.keys() == values.keys()
    found = {name: places[name] for name in values} if known else dict(zip(values, places.values(), strict=True))
    for number, (name, place) in enumerate(found.items()):
        shape, other = place.read().shape, values[name].shape
        if shape != other:
            raise FramewattError(f"weights: found {shape} beside {other}, {name}, number {number}; allowed: the same")
    return found
