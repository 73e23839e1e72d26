"""How many processors a run may use: those of its affinity mask, or fewer if its cgroup has a quota."""

import os
from pathlib import Path

from framewatt.host.machine import text_of

_GROUPS = "sys/fs/cgroup"


def processors_allowed(quotas: list[float]) -> float:
    """Processors that this process may use; may be fractional.

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
    found = []
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
            told = text_of(place / "cpu.max") if second else _first_version(place)
            quota, _, period = told.strip().partition(" ")
            if quota.isdecimal() and period.isdecimal() and int(quota) and int(period):
                found.append(int(quota) / int(period))
            place = place.parent
    return found


def _first_version(place: Path) -> str:
    return f"{text_of(place / 'cpu.cfs_quota_us').strip()} {text_of(place / 'cpu.cfs_period_us').strip()}"
