"""The witness as an instrument: its channels, and how all are read at one time.

They are kernel counters of the machine and of the measured processes, the number of processors that a run may use, and
the number of other processes on each GPU.
"""

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.host.machine import text_of
from framewatt.meters.contract import COUNTER, GAUGE, WITNESS, Channel
from framewatt.meters.gpus import gpus_of, visible_gpus
from framewatt.witness.machine_wide import Machine, MachineWide, processor_times
from framewatt.witness.process_tree import ProcessTree, Work

_GROUPS = "sys/fs/cgroup"


def processors_allowed(quotas: list[float]) -> float:
    """Return the processors that this process may use; may be fractional.

    Args:
        quotas: see quotas_of.
    """
    return min([float(len(os.sched_getaffinity(0))), *quotas])


def quotas_of(root: Path) -> list[float]:
    """CPU quotas, in processors, of this process's cgroup and its ancestors, where they have one.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max), scheduler/sched-bwc.rst (version 1).

    Args:
        root: the file system, or a copy of its /proc and /sys.
    """
    quotas = []
    for line in text_of(root / "proc/self/cgroup").splitlines():
        _, controllers, group = (*line.split(":", 2), "", "")[:3]
        second = not controllers
        if not second and "cpu" not in controllers.split(","):
            continue
        mounted = root / _GROUPS / ("" if second else "cpu")
        if not mounted.is_dir():
            # Some systems mount it under the names of all controllers in it, as `cpu,cpuacct`, alone.
            mounted = root / _GROUPS / controllers
        place = mounted / group.lstrip("/")
        while place.is_relative_to(mounted):
            limit = text_of(place / "cpu.max") if second else _first_version(place)
            quota, _, period = limit.strip().partition(" ")
            if quota.isdecimal() and period.isdecimal() and int(quota) and int(period):
                quotas.append(int(quota) / int(period))
            place = place.parent
    return quotas


def _first_version(place: Path) -> str:
    return f"{text_of(place / 'cpu.cfs_quota_us').strip()} {text_of(place / 'cpu.cfs_period_us').strip()}"


class GpuProcesses:
    """Counts the compute processes of every visible GPU.

    Source: NVIDIA Management Library API reference, nvmlDeviceGetComputeRunningProcesses.

    Args:
        library: the pynvml module, or a replacement for tests.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self._handles: dict[str, Any] = {}
        try:
            library.nvmlInit()
            for gpu in visible_gpus(gpus_of(library)):
                self._handles[f"gpu:{gpu.index}"] = library.nvmlDeviceGetHandleByIndex(gpu.index)
        except (library.NVMLError, FramewattError):
            # If a GPU meter is used, it reports this error.
            self._handles = {}

    @property
    def domains(self) -> list[str]:
        """Return the domains of the GPUs, in the order of their counts."""
        return list(self._handles)

    def pids(self) -> list[set[int] | None]:
        """Return the process ids on each GPU; None where the driver does not list them."""
        return [self._pids(handle) for handle in self._handles.values()]

    def _pids(self, handle: Any) -> set[int] | None:
        try:
            return {process.pid for process in self._library.nvmlDeviceGetComputeRunningProcesses(handle)}
        except self._library.NVMLError:
            return None


def counted(pids: set[int] | None, owns: Callable[[int], bool], lives: Callable[[int], bool]) -> float | None:
    """Return how many of the processes belong neither to the run nor to framewatt.

    Args:
        pids: process ids; None is unknown.
        owns: whether a process belongs to the run or to framewatt.
        lives: whether a process id exists here.

    Returns:
        None where unknown, as in a container with its own process ids.
    """
    if pids is None:
        return None
    others = [pid for pid in pids if not owns(pid)]
    return float(len(others)) if all(lives(pid) for pid in others) else None


MACHINE, RUN = "machine", "run"
"""The domains of its channels: kernel counters of the whole machine, and of the measured processes."""

USABLE, ONLINE = "processors_usable", "processors_online"
"""The quantities for the number of processors that the run may use, and that the machine has."""

OTHER_PROCESSES = "other_processes"
"""The quantity for the number of other processes on a GPU."""

JUDGED_HERE = (USABLE, ONLINE, OTHER_PROCESSES)
"""Gauges that the witness evaluates itself, instead of reporting their mean and maximum."""

_GAUGES = (*JUDGED_HERE, "frequency_hz")
_LONGEST_NS = 5_000_000
_TRIES = 3
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


WITNESS_PERIOD_S = 1.0
"""Seconds between two readings away from the edges of windows."""


def witness_channels(period_s: float = WITNESS_PERIOD_S, gpus: Sequence[str] = ()) -> list[Channel]:
    """Return the channels, in the order of a reading's values.

    Args:
        period_s: seconds between two readings away from the edges of windows.
        gpus: domains of the GPUs with processes to count.
    """
    named = [(MACHINE, field.name) for field in fields(MachineWide)]
    named += [(RUN, field.name) for field in fields(Work)] + [(RUN, USABLE)]
    named += [(gpu, OTHER_PROCESSES) for gpu in gpus]
    return [
        Channel(
            instrument=WITNESS,
            domain=domain,
            quantity=name,
            kind=GAUGE if name in _GAUGES else COUNTER,
            update_period_s=_TICK_S,
            resolution=_TICK_S if name.endswith(("cpu_s", "idle_s", "steal_s", "ticked_s")) else 0.0,
            period_s=period_s,
        )
        for domain, name in named
    ]


class Witness:
    """Reads the kernel's counters of the machine and of the measured processes.

    Args:
        runner: process id of the runner, parent of the measured process and of the sampling process.
        sampler: process id of the sampling process.
        root: the file system, or a copy of its /proc and /sys.
        gpus: counts processes on GPUs; None does not.
    """

    def __init__(self, runner: int, sampler: int, root: Path = Path("/"), gpus: GpuProcesses | None = None) -> None:
        self._root = root
        self._gpus = gpus
        self._machine = Machine(root)
        self._tree = ProcessTree(runner, sampler, root)
        self._quotas = quotas_of(root)

    def read(self) -> tuple[int, list[float]]:
        """Return CLOCK_MONOTONIC in nanoseconds, and one value per channel, NaN where the kernel does not report it.

        The work of others is the difference between the processors' busy time and the run's own, which should be read
        at one time. So idle time is read both before and after the processes, and averaged. A delayed reading is
        repeated.
        """
        # Read before the run's own processes are listed, so that no new one of them counts as another's.
        on_gpus = self._gpus.pids() if self._gpus else []
        for _ in range(_TRIES):
            before_ns = time.monotonic_ns()
            first = processor_times(self._root)
            work = self._tree.read()
            machine = self._machine.read()
            after_ns = time.monotonic_ns()
            if after_ns - before_ns < _LONGEST_NS:
                break
        others = [counted(pids, self._tree.owns, self._tree.lives) for pids in on_gpus]
        values = [*vars(machine).values(), *vars(work).values(), processors_allowed(self._quotas), *others]
        if first is not None and machine.idle_s is not None:
            values[0] = (first.idle_s + machine.idle_s) / 2
        return (before_ns + after_ns) // 2, [math.nan if value is None else float(value) for value in values]
