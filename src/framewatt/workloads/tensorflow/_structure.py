"""Structure of a Keras model."""

import itertools
from collections.abc import Iterator
from typing import Any

import keras

from framewatt.workloads.structure import Convolution, structure_of

_CONVOLUTIONS = (keras.layers.Conv2D, keras.layers.DepthwiseConv2D)


def structure(model: keras.Model) -> dict[str, Any]:
    """Facts of the model (see `structure_of`)."""
    # Only this function of Keras lists the layers inside a layer.
    layers = list(model._flatten_layers())
    return structure_of(
        _convolutions(layers),
        [layer.epsilon for layer in layers if hasattr(layer, "epsilon")],
        [name for layer in layers if (name := _activation(layer))],
    )


def _convolutions(layers: list[Any]) -> Iterator[Convolution]:
    for before, layer in itertools.pairwise([None, *layers]):
        if isinstance(layer, _CONVOLUTIONS):
            padding = layer.padding
            if isinstance(before, keras.layers.ZeroPadding2D):
                (top, bottom), (left, right) = before.padding
                padding = f"{top} above, {bottom} below, {left} left, {right} right"
                if (top, left) == (bottom, right):
                    # In the words of frameworks that pad alike on both sides.
                    padding = f"{top}, {left}"
            yield Convolution(layer.kernel_size, layer.strides, padding, layer.use_bias)


def _activation(layer: Any) -> str | None:
    """Name of a layer's activation: the layer itself, or a function that it applies."""
    if isinstance(layer, keras.layers.ReLU):
        return "ReLU" if layer.max_value is None else f"ReLU{layer.max_value:g}"
    name = getattr(getattr(layer, "activation", None), "__name__", None)
    return None if name == "linear" else name
