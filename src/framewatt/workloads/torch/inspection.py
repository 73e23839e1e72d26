"""What is inside a PyTorch model: its weights, its dropout and its structure."""

from typing import Any

import torch

from framewatt.workloads.inspection import Convolution, Place, Values, structure_of

_ACTIVATIONS = ("torch.nn.modules.activation", "transformers.activations")


def places(model: torch.nn.Module) -> dict[str, Place]:
    """Return the trained weights and the statistics of batches, by their names."""
    trained = {name: values for name, values in model.named_parameters() if values.requires_grad}
    others = {name: values for name, values in model.named_buffers() if name.endswith(("running_mean", "running_var"))}
    order = [name for name in model.state_dict() if name in trained or name in others]
    return {name: _place(trained.get(name, others.get(name)), name in trained) for name in order}


def _place(values: torch.Tensor, trained: bool) -> Place:
    def write(wanted: Values) -> None:
        with torch.no_grad():
            values.copy_(torch.from_numpy(wanted))

    return Place(lambda: values.detach().cpu().float().numpy().copy(), write, trained)


def leave_nothing_out(model: torch.nn.Module) -> list[float]:
    """Set all dropout to 0; the rates that it had."""
    dropouts = [module for module in model.modules() if isinstance(module, torch.nn.modules.dropout._DropoutNd)]
    rates = [float(module.p) for module in dropouts]
    for module in dropouts:
        module.p = 0.0
    return rates


def structure(model: torch.nn.Module) -> dict[str, Any]:
    """Return facts of the model (see `structure_of`)."""
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
