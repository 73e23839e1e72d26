"""Counters of the measured processes: all descendants of the runner, including those that have ended.

The runner is the parent of the worker and of the sampling process, and adopts their orphans. A process that ended and
was waited for is counted by its parent. Source: Linux, proc(5).
"""

import os
from dataclasses import dataclass, fields
from pathlib import Path

from framewatt.host.machine import text_of

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_TRIES = 3


@dataclass(frozen=True)
class Work:
    """Counters of processes since some time in the past; None is not reported by the kernel.

    Attributes:
        cpu_s: processor seconds.
        minor_faults: page faults served from memory.
        major_faults: page faults that read from a disk.
        involuntary_switches: involuntary context switches of threads.
        read_b: bytes read from disks.
        own_cpu_s: processor seconds of framewatt itself: of the runner and the sampling process with its programs.
    """

    cpu_s: float | None
    minor_faults: float | None
    major_faults: float | None
    involuntary_switches: float | None
    read_b: float | None
    own_cpu_s: float | None


@dataclass(frozen=True)
class _Stat:
    """Content of /proc/<pid>/stat; `waited_` is of children that ended and were waited for."""

    parent: int
    started: int
    cpu_s: float
    waited_cpu_s: float
    minor_faults: int
    major_faults: int


class ProcessTree:
    """The processes below a runner. Totals never fall when a process ends without being waited for.

    Args:
        runner: its process id.
        sampler: process id of the sampling process, which with its children is framewatt's own.
        root: the file system, or a copy of its /proc.
    """

    def __init__(self, runner: int, sampler: int, root: Path = Path("/")) -> None:
        self._proc = root / "proc"
        self._runner, self._sampler = runner, sampler
        self._started: dict[int, int] = {}
        self._parents: dict[int, int] = {}
        self._own: dict[int, bool] = {}
        self._rising = [_Rising() for _ in fields(Work)]

    def read(self) -> Work:
        """Return the tree's counters up to now; none ever decreases."""
        for _ in range(_TRIES):
            work, whole = self._read()
            if whole:
                break
        counters = zip(self._rising, vars(work).values(), strict=True)
        return Work(*(rising.up_to(value, whole=whole) for rising, value in counters))

    def owns(self, pid: int) -> bool:
        """Return whether a process belonged to the run or to framewatt at the last reading."""
        return pid == self._runner or pid in self._own

    def lives(self, pid: int) -> bool:
        """Return whether a process exists in this namespace, even if it is another user's and hidden by `hidepid`."""
        if (self._proc / str(pid)).exists():
            return True
        if self._proc != Path("/proc"):
            return False
        try:
            os.getpgid(pid)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True

    def _read(self) -> tuple[Work, bool]:
        """Return the sums over all existing processes, and whether none ended during the reading."""
        runner = self._stat(self._runner)
        if runner is None:
            return Work(None, None, None, None, None, None), False
        self._look_for_new()
        of_run, own_cpu_s, whole = [], runner.cpu_s, True
        # Parents are read before children: a child that ends in between is counted in neither, and never in both.
        for pid in sorted(self._own, key=lambda pid: (self._started[pid], pid)):
            stat = self._stat(pid)
            if stat is None or stat.started != self._started[pid]:
                self._forget(pid)
                whole = False
            elif self._own[pid]:
                own_cpu_s += stat.cpu_s + stat.waited_cpu_s
            else:
                of_run.append((pid, stat))
        stats = [stat for _, stat in of_run]
        return Work(
            cpu_s=runner.waited_cpu_s + sum(stat.cpu_s + stat.waited_cpu_s for stat in stats),
            minor_faults=sum(stat.minor_faults for stat in stats),
            major_faults=sum(stat.major_faults for stat in stats),
            involuntary_switches=_added([self._switches(pid) for pid, _ in of_run]),
            read_b=_added([_number_on_line(self._proc / f"{pid}/io", "read_bytes:") for pid, _ in of_run]),
            own_cpu_s=own_cpu_s,
        ), whole

    def _look_for_new(self) -> None:
        """Find new processes. Each is classified once, since its ancestors never change."""
        there = {int(name) for name in _names_in(self._proc) if name.isdecimal()}
        for pid in self._parents.keys() - there:
            self._forget(pid)
        new = there - self._parents.keys()
        for pid in new:
            if stat := self._stat(pid):
                self._parents[pid], self._started[pid] = stat.parent, stat.started
        for pid in new & self._parents.keys():
            if line := self._line_of(pid):
                self._own[pid] = self._sampler in line

    def _line_of(self, pid: int) -> list[int]:
        """Return a process and its ancestors up to the runner's child; empty if it does not descend from the runner."""
        line = [pid]
        while (parent := self._parents.get(line[-1])) is not None and parent not in line:
            if parent == self._runner:
                return line
            line.append(parent)
        return []

    def _forget(self, pid: int) -> None:
        for known in (self._parents, self._started, self._own):
            known.pop(pid, None)

    def _stat(self, pid: int) -> _Stat | None:
        """Return the counters of a process; None where it is gone."""
        # The program's name may hold any character, including a bracket.
        values = text_of(self._proc / f"{pid}/stat").rpartition(")")[2].split()
        try:
            numbers = [int(field) for field in values[1:20]]
            minor, waited_minor, major, waited_major, user, system, waited_user, waited_system = numbers[6:14]
            return _Stat(
                parent=numbers[0],
                started=numbers[18],
                cpu_s=(user + system) * _TICK_S,
                waited_cpu_s=(waited_user + waited_system) * _TICK_S,
                minor_faults=minor + waited_minor,
                major_faults=major + waited_major,
            )
        except (ValueError, IndexError):
            return None

    def _switches(self, pid: int) -> float | None:
        """Return the involuntary context switches of the threads that still exist."""
        tasks = self._proc / f"{pid}/task"
        paths = (tasks / thread / "status" for thread in _names_in(tasks))
        return _added([_number_on_line(path, "nonvoluntary_ctxt_switches:") for path in paths])


class _Rising:
    """A sum that never falls, even if some of its terms disappear.

    A fall of the raw sum shows what was lost, less what the other terms rose by meanwhile.
    """

    def __init__(self) -> None:
        self._last = self._lost = 0.0

    def up_to(self, value: float | None, *, whole: bool) -> float | None:
        """Return the sum including lost terms.

        Args:
            value: sum of the terms that exist now.
            whole: whether no process ended during the reading; otherwise the missing part may reappear in a parent.
        """
        if value is None:
            return None
        if whole:
            self._lost = max(self._lost, self._last - value)
        self._last = max(self._last, value + self._lost)
        return self._last


def _names_in(folder: Path) -> list[str]:
    """Return the names in a folder of /proc; empty where it is gone."""
    try:
        return os.listdir(folder)  # noqa: PTH208 # several times as quick
    except OSError:
        return []


def _added(values: list[float | None]) -> float | None:
    """Return the sum of the known values; None where all are unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if known or not values else None


def _number_on_line(path: Path, name: str) -> float | None:
    """Return the number on the line that begins with a name; None where there is none."""
    for line in text_of(path).splitlines():
        if line.startswith(name):
            number = line.removeprefix(name).strip()
            return float(number) if number.isdecimal() else None
    return None
