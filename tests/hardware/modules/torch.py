"""The part of PyTorch that a GPU's load uses, on scripted hardware: work of a millisecond."""

import time
from types import SimpleNamespace

float16 = "float16"

cuda = SimpleNamespace(is_available=lambda: True, device_count=lambda: 1, synchronize=lambda _device: time.sleep(0.001))


def device(name: str, index: int) -> str:
    return f"{name}:{index}"


def rand(*_shape: int, device: str, dtype: str) -> str:
    return f"{dtype} on {device}"


def matmul(_one: str, _other: str) -> None: ...
