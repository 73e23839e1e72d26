"""The study's optimizer in PyTorch: its step with loss scaling, clipping and schedule."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from framewatt.study.options import FOREACH, FUSED, LAMB, ONE_BY_ONE, Level
from framewatt.workloads.contract import Spec, adam_of
from framewatt.workloads.schedule import schedule_summary


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
        scale, infinite = getattr(self, "grad_scale", None), getattr(self, "found_inf", None)
        for group in self.param_groups:
            weights = [one for one in group["params"] if one.grad is not None]
            gradients = [one.grad for one in weights]
            if scale is not None:
                gradients = torch._foreach_div(gradients, scale)
            if infinite is not None:
                # A skipped step multiplies by 0, which infinite gradients would turn into NaN.
                gradients = [torch.where(infinite > 0, 0.0, one) for one in gradients]
            self._step(group, weights, gradients, 1.0 if infinite is None else 1.0 - infinite)

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


def optimizer_of(spec: Spec, parameters: Iterable[torch.nn.Parameter | dict[str, Any]]) -> torch.optim.Optimizer:
    """Return the study's optimizer at its learning rate.

    By default all weights are updated in one fused kernel; on a CPU, torch's default updates them one by one. There the
    fused kernel reduced a training step of ResNet-50 at batch 16 to 0.91 of its time, and 24 steps gave bit-identical
    losses. LAMB updates them together, operation by operation.
    """
    rate, level = spec.training["learning_rate"], spec.level("optimizer")
    way = {name: spec.level("update") == name for name in (FUSED, FOREACH)}
    if level == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=spec.training["momentum"], **way)
    constants = adam_of(spec.training)
    betas, epsilon = (constants["beta_1"], constants["beta_2"]), constants["epsilon"]
    if level == LAMB:
        return Lamb(parameters, rate, betas, epsilon, spec.training.get("weight_decay") or 0.0)
    return torch.optim.Adam(parameters, lr=rate, betas=betas, eps=epsilon, **way)


class Optimizer:
    """Steps of a training. Nothing in one waits for the device.

    Args:
        spec: how the workload is run.
        parameters: the model's.
        rates: of every step, see schedule.rates; empty without a schedule. Further steps have the last one.
        scaled: whether the loss is scaled, for fp16.
    """

    def __init__(
        self, spec: Spec, parameters: Iterable[torch.nn.Parameter], rates: NDArray[np.float64], *, scaled: bool
    ) -> None:
        self._parameters = list(parameters)
        # As a group, which may be empty: a user's model that is only timed may have no weights.
        self._optimizer = optimizer_of(spec, [{"params": self._parameters}])
        self._scaler = torch.amp.GradScaler(spec.device, enabled=scaled)
        self._clip_norm = spec.training.get("clip_norm")
        self._kind = (spec.training.get("schedule") or {}).get("kind")
        self._rates, self._requested = rates.tolist(), 0

    def zero_grad(self) -> None:
        """Let go of the gradients of the step before."""
        self._optimizer.zero_grad(set_to_none=True)

    def step(self, loss: torch.Tensor) -> None:
        """Change the weights by the gradients of a loss."""
        self._scaler.scale(loss).backward()
        if self._clip_norm:
            self._scaler.unscale_(self._optimizer)
            torch.nn.utils.clip_grad_norm_(self._parameters, self._clip_norm)
        if self._rates:
            rate = self._rates[min(self._requested, len(self._rates) - 1)]
            for group in self._optimizer.param_groups:
                group["lr"] = rate
            self._requested += 1
        self._scaler.step(self._optimizer)
        self._scaler.update()

    def in_force(self) -> dict[str, Any]:
        """Return what is set in torch."""
        group = self._optimizer.param_groups[0]
        return {
            "optimizer": type(self._optimizer).__name__,
            "update": _update_of(self._optimizer),
            "learning_rate": max(self._rates, default=group["lr"]),
            "weight_decay": group["weight_decay"],
            "clip_norm": self._clip_norm,
            "schedule": schedule_summary(self._kind, self._rates),
        }

    def levels(self) -> dict[str, Level | None]:
        """Return the levels in force of the options that concern the optimizer."""
        in_force = self.in_force()
        # LAMB has one way of its own, which is no level that a study can choose.
        update = {} if isinstance(self._optimizer, Lamb) else {"update": in_force["update"]}
        return {"optimizer": in_force["optimizer"].lower(), "learning_rate": in_force["learning_rate"], **update}


def _update_of(optimizer: torch.optim.Optimizer) -> str:
    """Return how an optimizer updates weights, a level of the option `update`."""
    if isinstance(optimizer, Lamb):
        return FOREACH
    group = optimizer.param_groups[0]
    return next((name for name in (FUSED, FOREACH) if group[name]), ONE_BY_ONE)
