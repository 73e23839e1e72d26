"""A load: a process that computes between given times. `python -m framewatt.characterisation.burn cpu|gpu`.

It prints `ready` (or why it cannot run), and then reads one line per stretch: start and end in CLOCK_MONOTONIC
nanoseconds, and the period of a square wave in nanoseconds (0: it computes all the time). It answers with the actual
start and end, and for how many nanoseconds it computed. It ends when its standard input closes.

It runs in interpreters that have a framework but none of framewatt's dependencies, so it imports only that.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator

_SIDE = 128
_GPU_SIDE = 4096


def main(what: str, processor: str = "") -> None:
    """Compute in the stretches that standard input names.

    Args:
        what: `cpu`, or `gpu` for all visible GPUs.
        processor: number of the processor to use; any if empty.
    """
    if processor:
        os.sched_setaffinity(0, {int(processor)})
    try:
        work = _make_gpu_work() if what == "gpu" else _make_core_work()
        work()  # libraries load and clocks of a GPU start before anything is measured
    except Exception as error:
        print(f"cannot: {type(error).__name__}: {error}".splitlines()[0], flush=True)
        return
    print("ready", flush=True)
    for begin_ns, end_ns, period_ns in _requests():
        time.sleep(max(begin_ns - time.monotonic_ns(), 0) * 1e-9)
        started_ns, worked_ns = time.monotonic_ns(), 0
        while (now_ns := time.monotonic_ns()) < end_ns:
            at_ns = (now_ns - begin_ns) % period_ns if period_ns else 0
            if 2 * at_ns >= period_ns > 0:
                time.sleep(min(period_ns - at_ns, end_ns - now_ns) * 1e-9)
            else:
                work()
                worked_ns += time.monotonic_ns() - now_ns
        print(started_ns, time.monotonic_ns(), worked_ns, flush=True)


def _requests() -> Iterator[tuple[int, int, int]]:
    for line in sys.stdin:
        begin, end, period = line.split()
        yield int(begin), int(end), int(period)


def _make_core_work() -> Callable[[], object]:
    """Return a function that multiplies matrices for some tenths of a millisecond, in one thread."""
    import numpy as np

    matrix = np.random.default_rng(1).random((_SIDE, _SIDE))
    return lambda: matrix @ matrix


def _make_gpu_work() -> Callable[[], object]:
    """Return a function that multiplies matrices on every visible GPU, for a fraction of a millisecond on a large GPU.

    Raises:
        RuntimeError: there is no GPU, or PyTorch does not see it.
    """
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no CUDA device")
    devices = [torch.device("cuda", index) for index in range(torch.cuda.device_count())]
    matrices = [torch.rand(_GPU_SIDE, _GPU_SIDE, device=device, dtype=torch.float16) for device in devices]

    def work() -> None:
        for matrix in matrices:
            torch.matmul(matrix, matrix)
        for device in devices:
            torch.cuda.synchronize(device)

    return work


if __name__ == "__main__":
    main(*sys.argv[1:])
