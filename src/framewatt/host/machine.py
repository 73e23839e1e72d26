"""Describes this machine: hardware, operating system, fingerprint.

Nothing here names the owner: no host name, user, serial number or address.
"""

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_OF_THE_PROCESS = ("operating_system", "processors_usable")


def usable_processors() -> int:
    """Processors that this process may run on."""
    return len(os.sched_getaffinity(0))


def describe_machine(root: Path = Path("/")) -> dict[str, Any]:
    """Hardware and operating system, with a fingerprint of this machine in its current boot.

    The fingerprint leaves out facts that differ between processes of one boot: the operating system of a container
    image, and the processors that a scheduler assigns.

    Args:
        root: the file system, or a copy of its /proc and /sys.
    """
    cpuinfo = text_of(root / "proc/cpuinfo")
    model = next(
        (line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")), None
    )
    memory = next(
        (
            int(line.split()[1]) * 1024
            for line in text_of(root / "proc/meminfo").splitlines()
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
    boot = text_of(root / "proc/sys/kernel/random/boot_id").strip()
    fingerprint = hashlib.sha256(json.dumps([lasting(hardware), boot], sort_keys=True).encode()).hexdigest()
    return {**hardware, "fingerprint": fingerprint[:16]}


def lasting(machine: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that are the same in every process of one boot.

    Args:
        machine: see describe_machine.
    """
    return {name: value for name, value in machine.items() if name not in _OF_THE_PROCESS}


def text_of(path: Path) -> str:
    """Text of a kernel file, empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _os_name(root: Path) -> str | None:
    for line in text_of(root / "etc/os-release").splitlines():
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
