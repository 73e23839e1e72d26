"""Weights of Keras' models by PyTorch's names or in their order, in its axes; and their dropout."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras
import numpy as np

from framewatt.workloads.inspection import Convolution, Place, Values, structure_of

_CONVOLUTIONS = (keras.layers.Conv2D, keras.layers.DepthwiseConv2D)

_PARTS = {"kernel": "weight", "gamma": "weight", "beta": "bias", "embeddings": "weight"} | {
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}
"""Keras' name of a layer's weight -> PyTorch's."""

_BERT = {
    "token_embedding": "bert.embeddings.word_embeddings",
    "position_embedding": "bert.embeddings.position_embeddings",
    "segment_embedding": "bert.embeddings.token_type_embeddings",
    "embeddings_layer_norm": "bert.embeddings.LayerNorm",
    "self_attention_layer/attention_output": "attention.output.dense",
    "self_attention_layer_norm": "attention.output.LayerNorm",
    "feedforward_intermediate_dense": "intermediate.dense",
    "feedforward_output_dense": "output.dense",
    "feedforward_layer_norm": "output.LayerNorm",
    "pooled_dense": "bert.pooler.dense",
    "logits": "classifier",
    **{f"self_attention_layer/{name}": f"attention.self.{name}" for name in ("query", "key", "value")},
}
"""KerasHub's name of a part of BERT, or of a part of one of its layers -> that of transformers."""

_BERT_LAYER = "transformer_layer_"


def places(model: keras.Model) -> dict[str, Place]:
    """All weights and statistics of batches, by PyTorch's names where the model's kind has a map, else by Keras'."""
    weights = next((names(model) for has, names in _MAPS if has(model)), None)
    if weights is None:
        # Layers that draw hold the state of their generator among their variables.
        weights = {one.path: one for one in model.variables if "float" in str(one.dtype)}
    return {name: _place(variable) for name, variable in weights.items()}


def _place(variable: Any) -> Place:
    turn, back = _turns(variable)

    def write(wanted: Values) -> None:
        variable.assign(back(wanted))

    return Place(lambda: np.ascontiguousarray(turn(np.array(variable))), write, bool(variable.trainable))


def _turns(variable: Any) -> tuple[Callable[[Values], Values], Callable[[Values], Values]]:
    """Return how values get from Keras' axes to PyTorch's, and back."""
    shape, path = tuple(variable.shape), variable.path
    if "depthwise" in path and len(shape) == 4:
        # (height, width, channels, 1): PyTorch groups the channels.
        return lambda values: values.transpose(2, 3, 0, 1), lambda values: values.transpose(2, 3, 0, 1)
    if not path.endswith("kernel"):
        # Biases of attention have an axis of heads, which PyTorch's have not.
        attention = path.endswith("bias") and len(shape) == 2
        return (lambda values: values.reshape(-1) if attention else values), lambda values: values.reshape(shape)
    if len(shape) == 3 and "attention" in path:
        # (width, heads, head width) of queries, keys and values; (heads, head width, width) at the end.
        split = 2 if "attention_output" in path else 1
        rows = int(np.prod(shape[:split]))
        return lambda values: values.reshape(rows, -1).T, lambda values: values.T.reshape(shape)
    spatial = len(shape) - 2
    there = (spatial + 1, spatial, *range(spatial))
    back = (*range(2, spatial + 2), 1, 0)
    return lambda values: values.transpose(there), lambda values: values.transpose(back)


def leave_nothing_out(model: keras.Model) -> list[float]:
    """Set all dropout to 0, before the step's graph is made; the rates that it had."""
    rates = []
    for layer in _layers(model):
        if isinstance(layer, keras.layers.Dropout):
            rates.append(float(layer.rate))
            layer.rate = 0.0
        elif isinstance(layer, keras.layers.MultiHeadAttention):
            layer._dropout = 0.0
    return rates


def _layers(layer: keras.layers.Layer) -> Iterator[keras.layers.Layer]:
    """Yield a layer and all that are in it."""
    yield layer
    for part in layer._layers:
        yield from _layers(part)


def _neumf_names(model: keras.Model) -> dict[str, Any]:
    """NeuMF's variables by PyTorch's names; there ReLU and dropout are layers between the dense ones."""
    weights: dict[str, Any] = {}
    for layer in model.layers:
        kind, _, number = layer.name.partition("mlp_")
        name = f"mlp.{3 * int(number)}" if not kind and number else layer.name
        weights |= {f"{name}.{_PARTS.get(one.name, one.name)}": one for one in layer.variables if one.trainable}
    return weights


def _transformer_xl_names(model: keras.Model) -> dict[str, Any]:
    """Transformer-XL's variables by PyTorch's names."""
    layer = model.get_layer("transformer_xl")
    weights = {"biases": layer.biases, **{f"words.{one.name}": one for one in layer.words.variables}}
    for number, block in enumerate(layer.blocks):
        for name in ("query", "keys", "position", "out", "norm", "dense_in", "dense_out", "dense_norm"):
            for one in getattr(block, name).variables:
                weights[f"blocks.{number}.{name}.{_PARTS.get(one.name, one.name)}"] = one
    return weights


def _gnmt_names(model: keras.Model) -> dict[str, Any]:
    """GNMT's variables by PyTorch's names."""
    encoder, decoder = model.encoder, model.decoder
    attention, classifier = decoder.attention, decoder.classifier
    weights = {"encoder.embedding.weight": encoder.embedding.embeddings}
    lstms = {"encoder.first": encoder.first, "encoder.backward": encoder.backward, "decoder.first": decoder.first}
    for stack, part in (("encoder", encoder), ("decoder", decoder)):
        lstms |= {f"{stack}.layers.{number}": one for number, one in enumerate(part.layers)}
    for name, lstm in lstms.items():
        weights[f"{name}.weight_ih_l0"] = lstm.cell.kernel
        weights[f"{name}.weight_hh_l0"] = lstm.cell.recurrent_kernel
        weights[f"{name}.bias_ih_l0"] = lstm.cell.bias
    weights |= {f"decoder.attention.{name}": getattr(attention, name) for name in ("vector", "scale", "bias")}
    weights |= {f"decoder.attention.{name}.weight": getattr(attention, name).kernel for name in ("query", "keys")}
    return {**weights, "decoder.classifier.weight": classifier.kernel, "decoder.classifier.bias": classifier.bias}


def _bert_names(model: keras.Model) -> dict[str, Any]:
    """BERT's variables by the names of transformers, which has its layers in another order."""
    weights = {}
    for one in model.variables:
        layer, _, weight = one.path.rpartition("/")
        number, _, part = layer.partition("/") if layer.startswith(_BERT_LAYER) else ("", "", layer)
        if part in _BERT:
            begin = f"bert.encoder.layer.{number.removeprefix(_BERT_LAYER)}." if number else ""
            weights[f"{begin}{_BERT[part]}.{_PARTS.get(weight, weight)}"] = one
    return weights


def _layer_names(model: keras.Model) -> dict[str, Any]:
    """Return the variables of a model that has PyTorch's names of layers: detectors, ResNet v1.5."""
    return {f"{one.path.split('/')[-2]}.{_PARTS.get(one.name, one.name)}": one for one in model.variables}


def _has_layer(name: str) -> Callable[[keras.Model], bool]:
    return lambda model: any(layer.name == name for layer in model.layers)


_MAPS: tuple[tuple[Callable[[keras.Model], bool], Callable[[keras.Model], Mapping[str, Any]]], ...] = (
    (_has_layer("user_factors"), _neumf_names),
    (_has_layer("transformer_xl"), _transformer_xl_names),
    # Keras numbers the layers of a second model.
    (lambda model: any(layer.name.startswith("bert_text_classifier") for layer in model.layers), _bert_names),
    (lambda model: hasattr(model, "objective"), _layer_names),
    (_has_layer("layer1.0.conv1"), _layer_names),
    (lambda model: hasattr(model, "encoder") and hasattr(model, "decoder"), _gnmt_names),
)
"""How a kind of model is known, and its variables by PyTorch's names; others are matched in their order."""


def structure(model: keras.Model) -> dict[str, Any]:
    """Return facts of the model (see `structure_of`)."""
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
    """Return the name of a layer's activation: the layer itself, or a function that it applies."""
    if isinstance(layer, keras.layers.ReLU):
        return "ReLU" if layer.max_value is None else f"ReLU{layer.max_value:g}"
    name = getattr(getattr(layer, "activation", None), "__name__", None)
    return None if name == "linear" else name
