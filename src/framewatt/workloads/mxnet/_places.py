"""Weights of MXNet's models, and their dropout."""

from typing import Any

import mxnet as mx
from mxnet.gluon import HybridBlock, nn

from framewatt.workloads.places import Place, Values


def places(model: HybridBlock) -> dict[str, Place]:
    """All weights and statistics of batches, by MXNet's names: its axes are PyTorch's."""
    return {name: _place(parameter) for name, parameter in model.collect_params().items()}


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
