"""A study's options in PyTorch."""

import os
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch._dynamo.utils import counters

from framewatt.study.options import EVERYWHERE, NOWHERE
from framewatt.workloads.contract import Spec

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
        """Return the model, which is compiled as one graph at the first batch of each size."""
        return torch.compile(model, fullgraph=True)

    def graphs(self) -> int:
        """Graphs compiled in this process."""
        return int(counters["stats"]["unique_graphs"])

    def close(self) -> None:
        """Remove the cache."""
        self._cache.cleanup()


def allow_tf32(spec: Spec) -> None:
    """Set whether fp32 products may use TF32; the level `default` leaves PyTorch's own rule: in convolutions alone."""
    if (level := spec.level("tf32")) != "default":
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = level == EVERYWHERE


def tf32_in_force() -> str:
    """Return where PyTorch may use TF32: `everywhere`, `nowhere`, `convolutions` or `matrix products`."""
    in_products, in_convolutions = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    if in_products == in_convolutions:
        return EVERYWHERE if in_products else NOWHERE
    return "matrix products" if in_products else "convolutions"


def layout_of(spec: Spec, input_shape: tuple[int, ...]) -> torch.memory_format:
    """Return the memory format of images.

    Raises:
        RuntimeError: channels last is requested, but the samples have no channels.
    """
    if spec.level("layout") == "default":
        return torch.contiguous_format
    if len(input_shape) != 3:
        raise RuntimeError(
            f"layout: channels_last is for images, and inputs have shape {input_shape}. Use layout: default."
        )
    return torch.channels_last
