"""RAPL through Linux's powercap tree: cumulative microjoules per package, core, uncore, DRAM and psys.

Sources: Linux kernel documentation, power/powercap/powercap.rst, and the ABI of /sys/class/powercap. AMD's processors
appear under the same names (`intel-rapl:0` holds `package-0` and `core`), by the same driver.
"""

import contextlib
import math
import os
from pathlib import Path

from framewatt.meters.contract import COUNTER, Channel, require, unreadable

POWERCAP = Path("/sys/class/powercap")

_UPDATE_PERIOD_S = 0.001
"""The counters are refreshed about every millisecond (Intel SDM volume 3B, 15.10.1)."""

_RESOLUTION_J = 61e-6
"""The energy unit of most processors, 2^-14 J (Intel SDM volume 3B, MSR_RAPL_POWER_UNIT)."""

MOST_W = 2000.0
"""Watts that no zone exceeds, for zones without a limit from the kernel. This is far above the power of any socket: a
second wrap in a gap shall rather be suspected too often than missed."""

_TURBO = 4.0
"""Factor by which a zone may exceed its largest limit for an instant; 2 was seen to be too little."""

_MIRRORED_J = 1.0
"""Joules up to which the counters of two dies of one package count as the same counter, shown twice. Read one after
another, two views of one counter differ by milliseconds of power, two counters by thousands of joules."""


class Rapl:
    """Every RAPL zone.

    Core and uncore are parts of their package, and psys includes the packages: they are read, and never added.

    Args:
        root: the powercap tree.
        period_s: seconds between two readings.
    """

    name = "rapl"

    def __init__(self, root: Path = POWERCAP, period_s: float = 0.01) -> None:
        self.root = root
        self.period_s = max(period_s, _UPDATE_PERIOD_S)
        self._files: list[int] = []

    def available(self) -> tuple[bool, str]:
        """Return whether there is a zone and every counter can be read."""
        zones = self._zones()
        if not zones:
            return False, f"no RAPL zone under {self.root} (no such hardware, or a virtual machine that hides it)"
        for zone, _ in zones:
            if problem := unreadable(zone / "energy_uj"):
                return False, (
                    f"{zone / 'energy_uj'} cannot be read ({problem}); grant it with: "
                    f"sudo chmod -R a+r {self.root}/*/energy_uj {self.root}/*/*/energy_uj"
                )
        return True, f"{len(zones)} RAPL zones: {', '.join(domain for _, domain in zones)}"

    def open(self) -> list[Channel]:
        """Open each zone's counter once; a reading is then a single system call."""
        require(self)
        zones, mirrored = self._without_mirrors(self._zones())
        self._files = [os.open(zone / "energy_uj", os.O_RDONLY) for zone, _ in zones]
        return [
            Channel(
                instrument=self.name,
                domain=domain,
                quantity="energy_j",
                kind=COUNTER,
                update_period_s=_UPDATE_PERIOD_S,
                resolution=_RESOLUTION_J,
                wrap=_number(zone / "max_energy_range_uj") * 1e-6,
                max_power_w=_limit_w(zone),
                note=f"left out, since they show the same counter: {', '.join(mirrored[domain])}"
                if domain in mirrored
                else "",
            )
            for zone, domain in zones
        ]

    def close(self) -> None:
        """Close the counters."""
        for file in self._files:
            os.close(file)
        self._files = []

    def values(self) -> list[float]:
        """Return the joules of every zone, NaN where the read failed."""
        values = []
        for file in self._files:
            try:
                values.append(int(os.pread(file, 32, 0)) * 1e-6)
            except (OSError, ValueError):
                values.append(math.nan)
        return values

    def _zones(self) -> list[tuple[Path, str]]:
        """Return the folders of the zones and their domains, one entry per domain.

        Every control type lists the packages that it knows. Of intel-rapl and intel-rapl-mmio the former is used: the
        latter is a second view of the same package, for firmware that sets limits.
        """
        folders: dict[str, Path] = {}
        for folder in sorted(self.root.glob("*rapl*:*"), key=lambda path: ("-mmio" in path.name, path.name)):
            label = _label(folder)
            domain = self._domain(folder, label) if label else None
            if domain:
                folders.setdefault(domain, folder)
        return [(folder, domain) for domain, folder in sorted(folders.items())]

    def _domain(self, folder: Path, label: str) -> str | None:
        """Return the domain of a zone; a zone inside a package has its number (`package-0`, or `package-0-die-1`)."""
        if label == "psys" or label.startswith("package-"):
            return f"cpu:{label}"
        package = _label(self.root / folder.name.rpartition(":")[0]) or ""
        if label in ("core", "uncore", "dram") and package.startswith("package-"):
            return f"cpu:{label}-{package.removeprefix('package-')}"
        return None

    @staticmethod
    def _without_mirrors(zones: list[tuple[Path, str]]) -> tuple[list[tuple[Path, str]], dict[str, list[str]]]:
        """Return the zones without mirrors of another die's counter, and the mirrors by the domain that they mirror.

        Some AMD processors list a package once per die, each with the whole package's joules.
        """
        originals: list[tuple[Path, str]] = []
        mirrored: dict[str, list[str]] = {}
        readings: dict[str, float] = {}
        for zone, domain in zones:
            package, _, die = domain.partition("-die-")
            joules = _number(zone / "energy_uj") * 1e-6
            twins = [d for d in readings if die and d.startswith(f"{package}-die-")]
            twin = next((d for d in twins if joules > 0 and abs(readings[d] - joules) <= _MIRRORED_J), None)
            if twin is None:
                originals.append((zone, domain))
                readings[domain] = joules
            else:
                mirrored.setdefault(twin, []).append(domain)
        return originals, mirrored


def _label(zone: Path) -> str | None:
    """Return the name of a zone, or None where it has none."""
    try:
        return (zone / "name").read_text().strip()
    except OSError:
        return None


def _number(path: Path) -> float:
    return float(path.read_text())


def _limit_w(zone: Path) -> float:
    """Return the watts that a zone cannot exceed even within one reading: a multiple of its limits, if it has any.

    A power limit holds over its time window; within that, turbo may draw a multiple.
    """
    limits = [0.0]
    for pattern in ("constraint_*_max_power_uw", "constraint_*_power_limit_uw"):
        for file in zone.glob(pattern):
            with contextlib.suppress(OSError, ValueError):
                limits.append(_number(file) * 1e-6)
    return min(_TURBO * max(limits), MOST_W) if max(limits) > 0 else MOST_W
