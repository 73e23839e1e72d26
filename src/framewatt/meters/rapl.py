"""RAPL through Linux's powercap tree: cumulative microjoules per package, DRAM and psys.

Source: Linux kernel documentation, power/powercap/powercap.rst and the ABI of /sys/class/powercap.
"""

import math
import os
from pathlib import Path

from framewatt.errors import FramewattError
from framewatt.meters.contract import COUNTER, Channel

POWERCAP = Path("/sys/class/powercap")


class Rapl:
    """Every RAPL zone whose energy adds up without overlap, and psys beside them.

    Args:
        root: the powercap tree.
    """

    name = "rapl"
    update_period_s = 0.001

    def __init__(self, root: Path = POWERCAP) -> None:
        self.root = root
        self._files: list[int] = []

    def available(self) -> tuple[bool, str]:
        """Whether there is a zone and every counter can be read."""
        zones = self._zones()
        if not zones:
            return False, f"no RAPL zone under {self.root} (no such hardware, or a virtual machine that hides it)"
        for zone, _ in zones:
            if not os.access(zone / "energy_uj", os.R_OK):
                return False, (
                    f"{zone / 'energy_uj'} is not readable; grant it with: "
                    f"sudo chmod -R a+r {self.root}/*/energy_uj {self.root}/*/*/energy_uj"
                )
        return True, f"{len(zones)} RAPL zones"

    def open(self) -> list[Channel]:
        """Open each zone's counter once; a read is then a single system call."""
        ready, reason = self.available()
        if not ready:
            raise FramewattError(f"meter rapl: {reason}")
        zones = self._zones()
        self._files = [os.open(zone / "energy_uj", os.O_RDONLY) for zone, _ in zones]
        return [
            Channel(
                instrument=self.name,
                domain=domain,
                quantity="energy_j",
                kind=COUNTER,
                update_period_s=self.update_period_s,
                resolution=61e-6,
                wrap=_number(zone / "max_energy_range_uj") * 1e-6,
                max_power_w=_limit_w(zone),
            )
            for zone, domain in zones
        ]

    def read(self) -> list[float]:
        """Joules of every zone, NaN where the read failed."""
        values = []
        for file in self._files:
            try:
                values.append(int(os.pread(file, 32, 0)) * 1e-6)
            except (OSError, ValueError):
                values.append(math.nan)
        return values

    def close(self) -> None:
        """Close the counters."""
        for file in self._files:
            os.close(file)
        self._files = []

    def _zones(self) -> list[tuple[Path, str]]:
        """Folders of the zones and their domains, one entry a domain.

        A package is listed by every control type that knows it (intel-rapl, intel-rapl-mmio); the first wins.
        Core and uncore lie inside their package and are left out.
        """
        found: dict[str, Path] = {}
        for folder in sorted(self.root.glob("*rapl*:*")):
            label = _label(folder)
            domain = self._domain(folder, label) if label else None
            if domain:
                found.setdefault(domain, folder)
        return [(folder, domain) for domain, folder in sorted(found.items())]

    def _domain(self, folder: Path, label: str) -> str | None:
        """Domain of a zone; DRAM is numbered as the package that holds it (`package-0`, or `package-0-die-1`)."""
        if label == "psys":
            return "cpu:psys"
        if label.startswith("package-"):
            return f"cpu:{label}"
        if label == "dram":
            package = _label(self.root / folder.name.rpartition(":")[0]) or ""
            return f"cpu:dram-{package.removeprefix('package-')}" if package.startswith("package-") else None
        return None


def _label(zone: Path) -> str | None:
    """What a zone calls itself, or None where it does not say."""
    try:
        return (zone / "name").read_text().strip()
    except OSError:
        return None


def _number(path: Path) -> float:
    return float(path.read_text())


def _limit_w(zone: Path) -> float | None:
    """Watts the zone cannot exceed for long: twice its largest power limit, where the kernel tells one."""
    limits = []
    for file in zone.glob("constraint_*_max_power_uw"):
        try:
            limits.append(_number(file) * 1e-6)
        except (OSError, ValueError):
            continue
    return 2 * max(limits) if limits and max(limits) > 0 else None
