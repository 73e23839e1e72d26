"""Kernel counters of the whole machine; what this kernel does not report is None, never 0.

Sources: Linux, proc(5), Documentation/accounting/psi.rst, admin-guide/iostats.rst, cpu-freq and thermal_throttle in
Documentation/ABI/testing/sysfs-devices-system-cpu.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from framewatt.host.machine import text_of

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PAGE_B = os.sysconf("SC_PAGE_SIZE")
_SECTOR_B = 512
"""Unit of /proc/diskstats, whatever the disk's own sector size."""

_PAGES = re.compile(r"^(pswpin|pswpout|pgmajfault) (\d+)$", re.MULTILINE)

_NO_DISKS = ("loop", "ram", "zram", "dm-", "md", "sr", "fd", "bcache", "drbd", "zd")
"""Block devices that read from others, or from memory."""


@dataclass(frozen=True)
class MachineWide:
    """Counters since the boot, except for the last two; None is not reported by this kernel.

    Attributes:
        idle_s: processor seconds idle or waiting for a disk.
        steal_s: processor seconds that a hypervisor gave to others.
        ticked_s: busy processor seconds as sampled by the kernel's ticks.
        cpu_stall_s: seconds in which some task waited for a processor.
        memory_stall_s: seconds in which some task waited for memory.
        io_stall_s: seconds in which some task waited for a disk.
        swapped_b: bytes swapped in and out.
        major_faults: page faults that read from a disk.
        disk_read_b: bytes read from disks.
        throttled: how often a processor throttled from heat.
        processors_online: processors that are online.
        frequency_hz: current mean clock of the processors.
    """

    idle_s: float | None
    steal_s: float | None
    ticked_s: float | None
    cpu_stall_s: float | None
    memory_stall_s: float | None
    io_stall_s: float | None
    swapped_b: float | None
    major_faults: float | None
    disk_read_b: float | None
    throttled: float | None
    processors_online: float | None
    frequency_hz: float | None


class Machine:
    """Reads the kernel's counters of the machine.

    Args:
        root: the file system, or a copy of its /proc and /sys.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        # Finding the files costs more than reading them, and the set of files does not change.
        self._clocks = _there(root, "cpu[0-9]*/cpufreq/scaling_cur_freq")
        self._throttles = _there(root, "cpu[0-9]*/thermal_throttle/core_throttle_count")
        self._disks = {path.name.replace("!", "/") for path in _there(root, "*", "sys/block") if not _hidden(path)}

    def read(self) -> MachineWide:
        """Return the counters now."""
        times = processor_times(self._root)
        pages = self._pages()
        swapped = [pages.get(name) for name in ("pswpin", "pswpout")]
        clocks = _numbers(self._clocks)
        return MachineWide(
            idle_s=times.idle_s if times else None,
            steal_s=times.steal_s if times else None,
            ticked_s=times.ticked_s if times else None,
            cpu_stall_s=self._stall_s("cpu"),
            memory_stall_s=self._stall_s("memory"),
            io_stall_s=self._stall_s("io"),
            swapped_b=None if None in swapped else sum(n for n in swapped if n is not None) * _PAGE_B,
            major_faults=pages.get("pgmajfault"),
            disk_read_b=self._disk_read_b(),
            throttled=sum(counts) if (counts := _numbers(self._throttles)) else None,
            processors_online=times.online if times else None,
            frequency_hz=sum(clocks) / len(clocks) * 1e3 if clocks else None,
        )

    def _stall_s(self, what: str) -> float | None:
        """Return the seconds in which at least one task was stalled (`some`)."""
        for line in text_of(self._root / "proc/pressure" / what).splitlines():
            fields = line.split()
            total = fields[-1].removeprefix("total=") if fields else ""
            if fields[:1] == ["some"] and total.isdecimal():
                return int(total) * 1e-6
        return None

    def _pages(self) -> dict[str, float]:
        """Return the needed counters of /proc/vmstat, by name."""
        counters = _PAGES.findall(text_of(self._root / "proc/vmstat"))
        return {name: float(number) for name, number in counters}

    def _disk_read_b(self) -> float | None:
        """Return bytes read from whole disks, which include their partitions."""
        read_b = None
        for line in text_of(self._root / "proc/diskstats").splitlines():
            fields = line.split()
            known = len(fields) > 5 and fields[2] in self._disks and not fields[2].startswith(_NO_DISKS)
            if known and fields[5].isdecimal():
                read_b = (read_b or 0.0) + int(fields[5]) * _SECTOR_B
        return read_b


@dataclass(frozen=True)
class ProcessorTimes:
    """Processor seconds of all processors together since the boot, and how many processors there are.

    Attributes:
        idle_s: idle or waiting for a disk.
        steal_s: wanted by this machine, but given to others by a hypervisor.
        ticked_s: busy, as sampled by the kernel's ticks.
        online: number of processors.
    """

    idle_s: float
    steal_s: float
    ticked_s: float
    online: float

    def worked_s(self, earlier: "ProcessorTimes", elapsed_s: float) -> float:
        """Return the processor seconds worked since an earlier reading, see worked_s."""
        parts = (getattr(self, name) - getattr(earlier, name) for name in ("idle_s", "steal_s", "ticked_s"))
        return worked_s(self.online * elapsed_s, *parts)


def worked_s(whole_s: float, idle_s: float, steal_s: float, ticked_s: float | None) -> float:
    """Return the processor seconds that a machine worked.

    Work is the time that is not idle: the kernel measures idle time, but only samples the rest at its ticks, so that a
    process which sleeps through every tick would never appear. Stolen time is no work either, but while a processor
    waits to be woken, the kernel counts the same time as idle and as stolen (seen: of 0.05 s stolen, all of it; of 17
    min, a fifth). So with steal the work is between two bounds, and the ticks show where.

    Args:
        whole_s: elapsed seconds times the number of processors.
        idle_s: see ProcessorTimes, within the elapsed time.
        steal_s: likewise.
        ticked_s: likewise; None takes the lower bound.
    """
    most_s = max(whole_s - idle_s, 0.0)
    least_s = max(most_s - steal_s, 0.0)
    return least_s if ticked_s is None else min(max(ticked_s, least_s), most_s)


def processor_times(root: Path) -> ProcessorTimes | None:
    """Return the processor times of /proc/stat; None where it has none.

    Args:
        root: the file system, or a copy of its /proc.
    """
    idle = steal = ticked = 0
    online = 0
    try:
        for line in text_of(root / "proc/stat").splitlines():
            if not line.startswith("cpu"):
                break
            name, *fields = line.split()
            if name != "cpu":
                user, nice, system, idling, waiting, interrupts, soft, stolen = (int(field) for field in fields[:8])
                idle += idling + waiting
                steal += stolen
                ticked += user + nice + system + interrupts + soft
                online += 1
    except ValueError:
        return None
    return ProcessorTimes(idle * _TICK_S, steal * _TICK_S, ticked * _TICK_S, float(online)) if online else None


def _hidden(disk: Path) -> bool:
    """Return whether a disk is only a path to another listed disk (NVMe multipath), so that reads would count twice."""
    return text_of(disk / "hidden").strip() == "1"


def _there(root: Path, pattern: str, folder: str = "sys/devices/system/cpu") -> list[Path]:
    return sorted((root / folder).glob(pattern))


def _numbers(paths: list[Path]) -> list[float]:
    texts = (text_of(path).strip() for path in paths)
    return [float(text) for text in texts if text.isdecimal()]
