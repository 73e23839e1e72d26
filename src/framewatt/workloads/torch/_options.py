"""A study's options in PyTorch."""

import os
from collections.abc import Iterable
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch._dynamo.utils import counters

from framewatt.workloads.contract import Spec, adam_of

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


class Compiler:
    """torch.compile without its fallbacks to uncompiled code, and with an empty cache.

    It needs a C++ compiler where the model runs on the CPU; without one the first batch raises.
    """

    def __init__(self) -> None:
        # With a cache that outlives the process, only the first run would compile.
        self._cache = TemporaryDirectory(prefix="framewatt-inductor-")
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = self._cache.name
        torch._dynamo.config.fail_on_recompile_limit_hit = True

    def compiled(self, model: torch.nn.Module) -> Any:
        """The model, which is compiled as one graph at the first batch of each size."""
        return torch.compile(model, fullgraph=True)

    def graphs(self) -> int:
        """Graphs compiled in this process."""
        return int(counters["stats"]["unique_graphs"])

    def close(self) -> None:
        """Remove the cache."""
        self._cache.cleanup()


def layout_of(spec: Spec, input_shape: tuple[int, ...]) -> torch.memory_format:
    """The memory format of images.

    Raises:
        RuntimeError: channels last is asked for, but the samples have no channels.
    """
    if spec.level("layout") == "default":
        return torch.contiguous_format
    if len(input_shape) != 3:
        raise RuntimeError(f"layout: found channels_last for inputs of shape {input_shape}; allowed: for images")
    return torch.channels_last


def optimizer_of(spec: Spec, parameters: Iterable[torch.nn.Parameter]) -> torch.optim.Optimizer:
    """The study's optimizer at its learning rate.

    All weights are updated in one fused kernel; on a CPU, torch's default updates them one by one. There the fused
    kernel reduced a training step of ResNet-50 at batch 16 to 0.91 of its time, and 24 steps gave bit-identical losses.
    """
    rate = spec.training["learning_rate"]
    if spec.level("optimizer") == "adam":
        constants = adam_of(spec.training)
        betas = (constants["beta_1"], constants["beta_2"])
        return torch.optim.Adam(parameters, lr=rate, betas=betas, eps=constants["epsilon"], fused=True)
    return torch.optim.SGD(parameters, lr=rate, momentum=spec.training["momentum"], fused=True)
