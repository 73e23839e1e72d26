"""LAMB in PyTorch, which has none of its own."""

from collections.abc import Iterable
from typing import Any

import torch


class Lamb(torch.optim.Optimizer):
    """Adam's step, per tensor as long as the tensor is (You et al., Large Batch Optimization for Deep Learning, 2020).

    Of a tensor w with bias-corrected moments m and v, the update u = m/(sqrt(v) + eps) + weight_decay w is taken as
    w <- w - lr |w|/|u| u, with 1 for the ratio where either norm is 0. The steps of the bias correction are those that
    were taken, the same for all tensors. Nothing waits for the device, nor under loss scaling: whether a step is to be
    skipped is multiplied in there.

    Args:
        parameters: the model's.
        lr: learning rate.
        betas: of the first and the second moment.
        eps: added to the root of the second.
        weight_decay: share of the weights in their update.
    """

    _step_supports_amp_scaling = True

    def __init__(
        self,
        parameters: Iterable[torch.nn.Parameter],
        lr: float,
        betas: tuple[float, float],
        eps: float,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()  # type: ignore[untyped-decorator]  # torch is not installed where mypy runs
    def step(self, closure: None = None) -> None:
        """One step by the gradients that are there; a GradScaler sets `grad_scale` and `found_inf` around it."""
        scale, found_inf = getattr(self, "grad_scale", None), getattr(self, "found_inf", None)
        for group in self.param_groups:
            weights = [one for one in group["params"] if one.grad is not None]
            gradients = [one.grad for one in weights]
            if scale is not None:
                gradients = torch._foreach_div(gradients, scale)
            if found_inf is not None:
                # A skipped step multiplies by 0, which infinite gradients would turn into NaN.
                gradients = [torch.where(found_inf > 0, 0.0, one) for one in gradients]
            self._step(group, weights, gradients, 1.0 if found_inf is None else 1.0 - found_inf)

    def _step(self, group: dict[str, Any], weights: list[Any], gradients: list[Any], taken: Any) -> None:
        """One step of a group; `taken` is 1, or where it is to be skipped a tensor that is 0."""
        (first, second), means, squares = group["betas"], *self._moments(weights)
        torch._foreach_lerp_(means, gradients, _shares(1 - first, taken, len(weights)))
        squared = torch._foreach_mul(gradients, gradients)
        torch._foreach_lerp_(squares, squared, _shares(1 - second, taken, len(weights)))
        if "steps" not in group:
            group["steps"] = torch.zeros((), dtype=torch.float64, device=weights[0].device)
        group["steps"] += taken
        corrections = [(1 - beta ** group["steps"].clamp(min=1)).float() for beta in (first, second)]
        roots = torch._foreach_sqrt(torch._foreach_div(squares, corrections[1]))
        torch._foreach_add_(roots, group["eps"])
        updates = torch._foreach_div(torch._foreach_div(means, corrections[0]), roots)
        if group["weight_decay"]:
            torch._foreach_add_(updates, weights, alpha=group["weight_decay"])
        sizes, lengths = (torch.stack(torch._foreach_norm(each)) for each in (weights, updates))
        ratios = torch.where((sizes > 0) & (lengths > 0), sizes / lengths, 1.0)
        torch._foreach_mul_(updates, list((-group["lr"] * taken * ratios).unbind()))
        torch._foreach_add_(weights, updates)

    def _moments(self, weights: list[Any]) -> tuple[list[Any], list[Any]]:
        """First and second moments of tensors, 0 before their first step."""
        for one in weights:
            if not self.state[one]:
                self.state[one] = {"mean": torch.zeros_like(one), "square": torch.zeros_like(one)}
        return [self.state[one]["mean"] for one in weights], [self.state[one]["square"] for one in weights]


def _shares(share: float, taken: Any, count: int) -> Any:
    """How far moments move to what is new: a number, or tensors where that depends on whether a step is taken."""
    return share if isinstance(taken, float) else [share * taken] * count
