"""The witness as an instrument: its channels, and a reading of all of them at an instant."""

import math
import os
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from framewatt.meters.contract import COUNTER, GAUGE, WITNESS, Channel
from framewatt.witness.gpu_processes import GpuProcesses, counted
from framewatt.witness.machine_wide import Machine, MachineWide, processor_times
from framewatt.witness.process_tree import ProcessTree, Work
from framewatt.witness.usable import processors_allowed, quotas_of

MACHINE, RUN = "machine", "run"
"""The domains of its channels: what the kernel counts of all, and of the measured processes."""

USABLE, ONLINE = "processors_usable", "processors_online"
"""The quantities that tell how many processors the run may use, and how many the machine has."""

OTHER_PROCESSES = "other_processes"
"""The quantity that tells how many processes of others are on a GPU."""

JUDGED_HERE = (USABLE, ONLINE, OTHER_PROCESSES)
"""Gauges of which a window's witness tells more than their mean."""

_GAUGES = (*JUDGED_HERE, "frequency_hz")
_LONGEST_NS = 5_000_000
_TRIES = 3
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


WITNESS_PERIOD_S = 1.0
"""Seconds between two readings where no window begins or ends."""


def witness_channels(period_s: float = WITNESS_PERIOD_S, gpus: Sequence[str] = ()) -> list[Channel]:
    """The channels, in the order of a reading's values.

    Args:
        period_s: seconds between two readings where no window begins or ends.
        gpus: domains of the GPUs whose processes are counted.
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
        runner: process id of the runner, whose other child the measured process is.
        sampler: process id of the sampling process.
        root: the file system, or a copy of its /proc and /sys.
        gpus: whose processes are counted; None counts none.
    """

    def __init__(self, runner: int, sampler: int, root: Path = Path("/"), gpus: GpuProcesses | None = None) -> None:
        self._root = root
        self._gpus = gpus
        self._machine = Machine(root)
        self._tree = ProcessTree(runner, sampler, root)
        self._quotas = quotas_of(root)

    def read(self) -> tuple[int, list[float]]:
        """CLOCK_MONOTONIC in nanoseconds, and a value a channel, NaN where the kernel does not tell it.

        What processors idled is read before and after what processes worked, and its mean is kept: the difference of
        both is the work of others, and they should be of one instant. A reading that was held up is taken again.
        """
        # Before the run's own processes are looked for, so that none of them is taken for another's.
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
