"""Weights of PyTorch's models, and their dropout."""

import torch

from framewatt.workloads.places import Place, Values


def places(model: torch.nn.Module) -> dict[str, Place]:
    """The trained weights and the statistics of batches, by their names."""
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
    found = [module for module in model.modules() if isinstance(module, torch.nn.modules.dropout._DropoutNd)]
    rates = [float(module.p) for module in found]
    for module in found:
        module.p = 0.0
    return rates
