"""Weights of MXNet's models, and their dropout."""

from typing import Any

import mxnet as mx
from mxnet.gluon import HybridBlock, nn

from framewatt.workloads.inspection import Convolution, Place, Values, structure_of

_ACTIVATIONS = ("RELU6", "GELU")
"""Activations that Gluon's zoos define as classes of their own."""


def places(model: HybridBlock) -> dict[str, Place]:
    """All weights and statistics of batches, of BERT by PyTorch's names, else by MXNet's: its axes are PyTorch's."""
    bert = hasattr(getattr(model, "classifier", None), "bert")
    parameters = _bert_parameters(model.classifier) if bert else dict(model.collect_params().items())
    return {name: _place(parameter) for name, parameter in parameters.items()}


def _bert_parameters(classifier: Any) -> dict[str, Any]:
    """Return BERT's weights by the names of transformers, which has its layers in another order."""
    # Imported here because GluonNLP takes seconds, and other models do without it.
    from framewatt.workloads.mxnet.bert import names_in_transformers

    parameters = {}
    for name, parameter in names_in_transformers(classifier.bert).items():
        parameters["bert." + name.replace(".gamma", ".weight").replace(".beta", ".bias")] = parameter
    head = classifier.classifier[-1]
    return {**parameters, "classifier.weight": head.weight, "classifier.bias": head.bias}


def _place(parameter: Any) -> Place:
    def write(wanted: Values) -> None:
        parameter.set_data(mx.nd.array(wanted))

    return Place(lambda: parameter.data().asnumpy().astype("float32"), write, parameter.grad_req != "null")


def leave_nothing_out(model: HybridBlock) -> list[float]:
    """Set all dropout to 0, and make the model's graph anew; the rates that it had."""
    rates = []

    def still(block: Any) -> None:
        if isinstance(block, nn.Dropout):
            rates.append(float(block._rate))
            block._rate = 0

    model.apply(still)
    model.hybridize(static_alloc=True, static_shape=True)
    return rates


def structure(model: HybridBlock) -> dict[str, Any]:
    """Return facts of the model (see `structure_of`); Gluon keeps a block's settings in private fields only."""
    blocks: list[Any] = []
    model.apply(blocks.append)
    settings = [block._kwargs for block in blocks if isinstance(block, nn.Conv2D)]
    epsilons = [block._kwargs["eps"] for block in blocks if isinstance(block, nn.BatchNorm)]
    epsilons += [block._epsilon for block in blocks if isinstance(block, nn.LayerNorm)]
    activations = [block._act_type for block in blocks if isinstance(block, nn.Activation)]
    activations += [name for block in blocks if (name := type(block).__name__) in _ACTIVATIONS]
    return structure_of(
        [
            Convolution(one["kernel"], one["stride"], ", ".join(map(str, one["pad"])), not one["no_bias"])
            for one in settings
        ],
        epsilons,
        activations,
    )
