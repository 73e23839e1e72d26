"""A process that ran out of memory is told as such, whoever noticed: the framework, or the kernel."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from checkout import READ_RARELY, Checkout, command, environment, python_of
from memory_group import NoGroupError, little_memory

from framewatt.host import memory
from framewatt.host.memory import processes_killed_for_memory, shortage_in_output
from framewatt.host.supervision import supervise
from framewatt.runs.records import read_run

GORGE = {
    "torch": "import torch; torch.empty(1 << 50)",
    "tensorflow/cpu": "import tensorflow as tf; tf.zeros((1 << 42, 64))",
    "mxnet/cpu": (
        "import resource, mxnet as mx; resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30));"
        "mx.nd.zeros((1 << 15, (1 << 16) - 8), dtype='float64').wait_to_read()"
    ),
}
TOLD = {
    "torch": "DefaultCPUAllocator: can't allocate memory",
    "tensorflow/cpu": "OOM when allocating tensor",
    "mxnet/cpu": "Failed to allocate CPU Memory",
}


@pytest.mark.parametrize("environment", GORGE)
def test_an_allocation_that_a_framework_could_not_make_is_told(environment: str, tmp_path: Path) -> None:
    reason = supervise([python_of(environment), "-c", GORGE[environment]], log=tmp_path / "log", timeout_s=1200).reason
    assert reason is not None
    assert reason.startswith("out of main memory: ended with exit code 1: ")
    assert TOLD[environment] in reason


@pytest.mark.parametrize(
    ("said", "short"),
    [
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity",
            "GPU memory",
        ),
        (
            "OOM when allocating tensor with shape[256] on /device:GPU:0 by allocator GPU_0_bfc [Op:Conv2D]",
            "GPU memory",
        ),
        ("MXNetError: cudaMalloc retry failed: out of memory", "GPU memory"),
        ("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 8.00 TiB", "main memory"),
        ("bfc_arena.cc:376 Failed to allocate memory for requested buffer of size 4294967296", "memory"),
        ("ValueError: no such layer", None),
    ],
)
def test_what_was_short_follows_from_what_was_said(said: str, short: str | None) -> None:
    assert shortage_in_output(f"Traceback\n{said}\nHint: none") == short


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose kernel has ended two processes for want of memory since it was started."""
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/vmstat").write_text("nr_free_pages 100\noom_kill 2\n")
    return tmp_path


@pytest.mark.parametrize(
    ("groups", "counter", "content"),
    [
        ("0::/box", "sys/fs/cgroup/box/memory.events", "low 0\noom 1\noom_kill {}\noom_group_kill 0\n"),
        ("4:memory:/box\n0::/", "sys/fs/cgroup/memory/box/memory.oom_control", "under_oom 0\noom_kill {}\n"),
    ],
)
def test_the_kernel_counts_whom_it_ended(machine: Path, groups: str, counter: str, content: str) -> None:
    assert processes_killed_for_memory() == 2
    (machine / "proc/self/cgroup").write_text(f"{groups}\n")
    assert processes_killed_for_memory() == 2
    (machine / counter).parent.mkdir(parents=True)
    (machine / counter).write_text(content.format(7))
    assert processes_killed_for_memory() == 7


def test_a_kill_that_the_kernel_counted_is_told_as_want_of_memory(machine: Path) -> None:
    as_the_kernel_does = (
        f"import os, pathlib; pathlib.Path({str(machine / 'proc/vmstat')!r}).write_text('oom_kill 3');"
        "print('epoch 1', flush=True); os.kill(os.getpid(), 9)"
    )
    reason = supervise([sys.executable, "-c", as_the_kernel_does], log=machine / "log", timeout_s=600).reason
    assert reason == "out of main memory: killed by SIGKILL: epoch 1"


def test_where_nobody_counts_the_reason_of_a_kill_stays_open(machine: Path) -> None:
    (machine / "proc/vmstat").unlink()
    kill = "print('epoch 1', flush=True); import os; os.kill(os.getpid(), 9)"
    reason = supervise([sys.executable, "-c", kill], log=machine / "log", timeout_s=600).reason
    assert reason == "killed by SIGKILL, perhaps for want of memory: epoch 1"


WIDE = '''
"""A network that needs half a megabyte a sample, and little time."""

from mxnet.gluon import nn


def build(facts, size):
    network = nn.HybridSequential()
    network.add(nn.Conv2D(128, 1), nn.GlobalAvgPool2D(), nn.Dense(facts.classes))
    return network
'''
SMALL, LARGE = 32, 2048
LIMIT_B = 1_800_000_000
"""What all processes of the call may hold together. Without a limit they held 0.72 GB at most at the small batch, and
9.1 GB at twice the large one (memory.max_usage_in_bytes, 2 processors, 2026-11-27): a factor of 2.5 on either side.
"""


def test_training_that_the_kernel_ended_at_a_large_batch_is_recorded_and_the_rest_goes_on(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.share_environment("mxnet/cpu")
    checkout.add_model("mxnet", "wide", WIDE)
    datasets = tmp_path / "config/datasets.yaml"
    offered = yaml.safe_load(datasets.read_text())
    noise = {"module": "synthetic", "shape": [3, 32, 32], "classes": 10, "seed": 0}
    offered["datasets"]["synthetic-noise"] = {**noise, "train_samples": LARGE, "test_samples": 16}
    datasets.write_text(yaml.safe_dump(offered))
    factors = {"phase": ["train"], "workload": ["wide"], "runtime": ["mxnet"], "dataset": ["synthetic-noise"]}
    checkout.write_study(
        "large",
        factors=[{**factors, "batch_size": [SMALL, LARGE]}],
        repetitions=1,
        training={"epochs": 1},
        instruments=READ_RARELY,
        calibration={"idle_s": 1},
        cool_down={"rest_s": 0},
        disturbance="flag",
    )
    try:
        with little_memory(LIMIT_B) as inside:
            words = [*inside, *command("results/large/aggregate/runs.parquet", config="study=large")]
            done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    except NoGroupError as refusal:
        pytest.skip(f"no group of little memory can be made here: {refusal}")
    assert done.returncode == 0, done.stdout + done.stderr
    cells = tmp_path / "results/large/measure"
    large, small = (read_run(cells / f"train-wide-synthetic-noise-mxnet-b{size}/1/run.json") for size in (LARGE, SMALL))
    assert (small["status"], small["valid"]) == ("ok", True), small["reasons"]
    assert large["status"] == "failed"
    assert large["reasons"][0].startswith("out of main memory: killed by SIGKILL")
