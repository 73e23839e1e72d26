"""Processes on the GPUs of a run: whose they are, as a witness counts them."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from disturbed import RUNNER, SAMPLER, WORKER, Kernel, Process, kernel

from framewatt.witness.instrument import GpuProcesses, Witness, counted, witness_channels
from framewatt.witness.judgement import gpu_flags
from framewatt.witness.window import witnessed

S = 1_000_000_000
CHILD, STRANGER, ELSEWHERE = 201, 300, 4000
"""A child of the worker, a process of somebody else, and one of another namespace."""


class Gpus:
    """pynvml with two GPUs, and the processes on them."""

    NVML_DEVICE_MIG_ENABLE = 1

    class NVMLError(Exception):
        pass

    def __init__(self, *pids: list[int] | None) -> None:
        self.pids = list(pids)

    def nvmlInit(self) -> None: ...
    def nvmlDeviceGetCount(self) -> int:
        return len(self.pids)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str:
        return f"GPU-{handle}"

    def nvmlDeviceGetMigMode(self, _handle: int) -> list[int]:
        raise self.NVMLError("not supported")

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> list[SimpleNamespace]:
        pids = self.pids[handle]
        if pids is None:
            raise self.NVMLError("not supported")
        return [SimpleNamespace(pid=pid) for pid in pids]


@pytest.fixture
def scene(tmp_path: Path) -> Kernel:
    """A kernel with a run under way, whose worker has a child, and somebody else."""
    found = kernel(tmp_path)
    found.processes |= {CHILD: Process(WORKER, started=2000), STRANGER: Process(1, started=3000)}
    return found


def window(scene: Kernel, *seconds: list[list[int] | None]) -> dict:
    """What a witness says of all seconds but the first, in each of which so many processes were on each GPU."""
    library = Gpus(*seconds[0])
    witness = Witness(RUNNER, SAMPLER, scene.write().root, GpuProcesses(library))
    rows = []
    for pids in seconds:
        library.pids = pids
        rows.append(witness.read()[1])
    channels = witness_channels(gpus=[f"gpu:{index}" for index in range(len(seconds[0]))])
    times = [S * second for second in range(len(seconds))]
    read = {
        (one.domain, one.quantity): (one, np.array(times), np.array(values))
        for one, *values in zip(channels, *rows, strict=True)
    }
    found = witnessed(read, [(S, times[-1])])
    assert found is not None
    return found


def test_the_runs_own_processes_and_framewatts_are_nobody_elses(scene: Kernel) -> None:
    own = [WORKER, CHILD, SAMPLER, RUNNER]
    found = window(scene, [own, []], [own, []], [own, []])
    assert found["other_processes"] == {"gpu:0": 0, "gpu:1": 0}
    assert gpu_flags(found) == []


def test_a_process_of_somebody_else_is_reported_with_its_gpu(scene: Kernel) -> None:
    found = window(scene, [[WORKER], []], [[WORKER], []], [[WORKER], [STRANGER]], [[WORKER], []])
    assert found["other_processes"] == {"gpu:0": 0, "gpu:1": 1}
    assert gpu_flags(found) == ["1 process of others on gpu:1"]


def test_what_a_driver_does_not_tell_and_what_lies_in_another_namespace_is_unknown(scene: Kernel) -> None:
    found = window(scene, [None, [ELSEWHERE]], [None, [ELSEWHERE]], [None, [ELSEWHERE]])
    assert found["other_processes"] == {"gpu:0": None, "gpu:1": None}
    assert gpu_flags(found) == []


def test_a_window_without_gpus_has_nothing_about_them(scene: Kernel) -> None:
    assert "other_processes" not in window(scene, [], [], [])


def test_gpus_that_no_driver_lists_are_not_counted() -> None:
    library = Gpus([])
    library.nvmlInit = lambda: library.nvmlDeviceGetMigMode(0)  # type: ignore[method-assign]
    assert GpuProcesses(library).domains == []


def test_hidden_gpus_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert GpuProcesses(Gpus([], [])).domains == ["gpu:1"]


def test_counting_needs_every_process_to_be_seen() -> None:
    def owns(pid: int) -> bool:
        return pid < 10

    assert counted({1, 2}, owns, lambda _: False) == 0
    assert counted({1, 20, 30}, owns, lambda _: True) == 2
    assert counted({1, 20, 30}, owns, lambda pid: pid != 30) is None
    assert counted(None, owns, lambda _: True) is None
