"""The machine: what it is, and what about it disturbs a measurement.

Nothing here names the owner: no host name, user, serial number or address.
"""

import hashlib
import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_CPU = Path("sys/devices/system/cpu")


@dataclass(frozen=True)
class Finding:
    """Something that disturbs a measurement.

    Attributes:
        topic: what was looked at.
        found: what was found.
        meaning: what that does to a measurement.
        remedy: how to mend it.
    """

    topic: str
    found: str
    meaning: str
    remedy: str


def usable_processors() -> int:
    """Processors that this process may run on."""
    return len(os.sched_getaffinity(0))


def describe_machine(root: Path = Path("/")) -> dict[str, Any]:
    """Hardware and operating system, with a fingerprint over both and the current boot.

    Args:
        root: the file system, or a copy of its /proc and /sys.
    """
    cpuinfo = _text(root / "proc/cpuinfo")
    model = next(
        (line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")), None
    )
    memory = next(
        (
            int(line.split()[1]) * 1024
            for line in _text(root / "proc/meminfo").splitlines()
            if line.startswith("MemTotal")
        ),
        None,
    )
    hardware = {
        "cpu_model": model,
        "processors": os.cpu_count(),
        "processors_usable": usable_processors(),
        "memory_b": memory,
        "architecture": platform.machine(),
        "kernel": platform.release(),
        "operating_system": _os_name(root),
        "virtual_machine": "hypervisor" in cpuinfo,
        "gpus": _gpus(),
    }
    boot = _text(root / "proc/sys/kernel/random/boot_id").strip()
    fingerprint = hashlib.sha256(json.dumps([hardware, boot], sort_keys=True).encode()).hexdigest()
    return {**hardware, "fingerprint": fingerprint[:16]}


def check_machine(root: Path = Path("/")) -> list[dict[str, str]]:
    """What about this machine disturbs a measurement, most of it to be mended before a study.

    Args:
        root: the file system, or a copy of its /proc and /sys.
    """
    findings = []
    governor = _text(root / _CPU / "cpu0/cpufreq/scaling_governor").strip()
    if governor and governor != "performance":
        findings.append(
            Finding(
                "governor",
                governor,
                "the clock follows the load, so runs differ",
                "cpupower frequency-set -g performance",
            )
        )
    if not governor:
        findings.append(
            Finding("governor", "not visible", "the clock may change unseen", "measure on a machine that shows cpufreq")
        )
    if _text(root / _CPU / "smt/active").strip() == "1":
        findings.append(
            Finding(
                "SMT",
                "on",
                "two threads share a core and disturb each other",
                "echo off > /sys/devices/system/cpu/smt/control",
            )
        )
    if "hypervisor" in _text(root / "proc/cpuinfo"):
        findings.append(
            Finding(
                "virtual machine",
                "yes",
                "neighbours take time and energy unseen; RAPL is hidden",
                "measure on bare metal",
            )
        )
    load = os.getloadavg()[0]
    if load > 0.5 * usable_processors():
        findings.append(
            Finding("load", f"{load:.1f} over the last minute", "other work is measured too", "end other work and wait")
        )
    for supply in (root / "sys/class/power_supply").glob("BAT*"):
        if _text(supply / "status").strip() == "Discharging":
            findings.append(Finding("battery", "discharging", "firmware may cap the power", "plug the machine in"))
    return [asdict(finding) for finding in findings]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _os_name(root: Path) -> str | None:
    for line in _text(root / "etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return None


def _gpus() -> list[dict[str, Any]]:
    """Name, memory and driver of NVIDIA GPUs; empty where the driver does not answer."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:
        return []
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        driver = pynvml.nvmlSystemGetDriverVersion()
        return [
            {"name": pynvml.nvmlDeviceGetName(h), "memory_b": pynvml.nvmlDeviceGetMemoryInfo(h).total, "driver": driver}
            for h in handles
        ]
    finally:
        pynvml.nvmlShutdown()


def main() -> None:
    """Print the machine and the findings."""
    machine = describe_machine()
    print(f"{machine['cpu_model']}, {machine['processors']} processors, {len(machine['gpus'])} GPUs")
    for finding in check_machine():
        print(f"{finding['topic']}: {finding['found']}; {finding['meaning']}; mend: {finding['remedy']}")


if __name__ == "__main__":
    main()
