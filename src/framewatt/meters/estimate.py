"""No instrument: an estimate of joules from how busy the processors are. Needs no privileges.

The model is linear between an idle and a busy processor, E = cores * t * idle + busy_time * (busy - idle), as in cloud
carbon calculators for shared machines (Cloud Carbon Footprint, methodology, "compute").
Every channel is marked as estimated.
"""

import math
import os
import time
from pathlib import Path

from framewatt.meters.contract import COUNTER, Channel, require


class Estimate:
    """A counter of estimated joules for all processors of the machine.

    Args:
        idle_w_per_core: estimated watts of an idle processor.
        busy_w_per_core: estimated watts of a busy one.
        period_s: seconds between two readings.
        stat: the kernel's processor accounting.
    """

    name = "estimate"

    def __init__(
        self,
        idle_w_per_core: float,
        busy_w_per_core: float,
        period_s: float = 0.01,
        stat: Path = Path("/proc/stat"),
    ) -> None:
        self.idle_w_per_core = idle_w_per_core
        self.busy_w_per_core = busy_w_per_core
        self.stat = stat
        self._tick_s = 1 / os.sysconf("SC_CLK_TCK")
        self.period_s = max(period_s, self._tick_s)
        self._cores = os.cpu_count() or 1
        self._file = -1
        self._start = (0, 0.0)

    def available(self) -> tuple[bool, str]:
        """Return whether the kernel reports how busy the processors are."""
        if not self.stat.is_file():
            return False, f"{self.stat} is not there (not Linux?)"
        return True, f"estimated from processor time of {self._cores} processors"

    def open(self) -> list[Channel]:
        """Open the accounting file and take its state as zero."""
        require(self)
        self._file = os.open(self.stat, os.O_RDONLY)
        self._start = (time.monotonic_ns(), self._busy_s())
        return [
            Channel(
                instrument=self.name,
                domain="cpu:estimate",
                quantity="energy_j",
                kind=COUNTER,
                update_period_s=self._tick_s,
                estimated=True,
                resolution=self._tick_s * (self.busy_w_per_core - self.idle_w_per_core),
            )
        ]

    def close(self) -> None:
        """Close the accounting file."""
        os.close(self._file)

    def values(self) -> list[float]:
        """Return the estimated joules since `open`."""
        try:
            busy_s = self._busy_s() - self._start[1]
        except (OSError, ValueError, IndexError):
            return [math.nan]
        elapsed_s = (time.monotonic_ns() - self._start[0]) * 1e-9
        idle_j = self._cores * elapsed_s * self.idle_w_per_core
        return [idle_j + busy_s * (self.busy_w_per_core - self.idle_w_per_core)]

    def _busy_s(self) -> float:
        """Return the seconds that all processors together have worked: user, nice, system, irq, softirq (proc(5))."""
        user, nice, system, _idle, _iowait, irq, softirq = os.pread(self._file, 256, 0).split(b"\n", 1)[0].split()[1:8]
        return sum(map(int, (user, nice, system, irq, softirq))) * self._tick_s
