"""The study's optimizer in PyTorch: its step with loss scaling, clipping and schedule."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from framewatt.study.options import FOREACH, FUSED, LAMB, ONE_BY_ONE, Level
from framewatt.workloads.contract import Spec, adam_of
from framewatt.workloads.schedule import schedule_summary
from framewatt.workloads.torch._lamb import Lamb


def optimizer_of(spec: Spec, parameters: Iterable[torch.nn.Parameter | dict[str, Any]]) -> torch.optim.Optimizer:
    """The study's optimizer at its learning rate.

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
        self._rates, self._asked = rates.tolist(), 0

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
            rate = self._rates[min(self._asked, len(self._rates) - 1)]
            for group in self._optimizer.param_groups:
                group["lr"] = rate
            self._asked += 1
        self._scaler.step(self._optimizer)
        self._scaler.update()

    def in_force(self) -> dict[str, Any]:
        """What is set in torch."""
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
        told = self.in_force()
        # LAMB has one way of its own, which is no level that a study can choose.
        update = {} if isinstance(self._optimizer, Lamb) else {"update": told["update"]}
        return {"optimizer": told["optimizer"].lower(), "learning_rate": told["learning_rate"], **update}


def _update_of(optimizer: torch.optim.Optimizer) -> str:
    """How an optimizer updates weights, a level of the option `update`."""
    if isinstance(optimizer, Lamb):
        return FOREACH
    group = optimizer.param_groups[0]
    return next((name for name in (FUSED, FOREACH) if group[name]), ONE_BY_ONE)
