"""Structure of a Gluon block."""

from typing import Any

from mxnet.gluon import HybridBlock, nn

from framewatt.workloads.structure import Convolution, structure_of

_ACTIVATIONS = ("RELU6", "GELU")
"""Activations that Gluon's zoos define as classes of their own."""


def structure(model: HybridBlock) -> dict[str, Any]:
    """Facts of the model (see `structure_of`); Gluon keeps a block's settings in private fields only."""
    blocks: list[Any] = []
    model.apply(blocks.append)
    made_with = [block._kwargs for block in blocks if isinstance(block, nn.Conv2D)]
    epsilons = [block._kwargs["eps"] for block in blocks if isinstance(block, nn.BatchNorm)]
    epsilons += [block._epsilon for block in blocks if isinstance(block, nn.LayerNorm)]
    activations = [block._act_type for block in blocks if isinstance(block, nn.Activation)]
    activations += [name for block in blocks if (name := type(block).__name__) in _ACTIVATIONS]
    return structure_of(
        [
            Convolution(one["kernel"], one["stride"], ", ".join(map(str, one["pad"])), not one["no_bias"])
            for one in made_with
        ],
        epsilons,
        activations,
    )
