"""Structure of a torch module."""

from typing import Any

import torch

from framewatt.workloads.structure import Convolution, structure_of

_ACTIVATIONS = ("torch.nn.modules.activation", "transformers.activations")


def structure(model: torch.nn.Module) -> dict[str, Any]:
    """Facts of the model (see `structure_of`)."""
    modules = list(model.modules())
    return structure_of(
        [
            Convolution(one.kernel_size, one.stride, ", ".join(map(str, one.padding)), one.bias is not None)
            for one in modules
            if isinstance(one, torch.nn.Conv2d)
        ],
        [one.eps for one in modules if hasattr(one, "eps")],
        [type(one).__name__ for one in modules if type(one).__module__ in _ACTIVATIONS],
    )
