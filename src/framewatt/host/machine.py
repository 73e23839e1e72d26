"""Describes this machine: hardware, operating system, and in which session it runs.

A machine is its hardware, a session is one boot of it: a reboot is another session of the same machine. Nothing here
names the owner: no host name, user, serial number or address. So records do not distinguish two machines of the same
hardware, except by their sessions; nodes of a cluster are distinguished by their aliases (measured_by).
"""

import hashlib
import json
import math
import os
import platform
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from framewatt.study.records import RunRecord

_OF_THE_PROCESS = ("operating_system", "processors_usable")
_IDENTITIES = ("id", "session", "fingerprint")
_MOST_B = 1 << 60
_STEPS = 4
"""Steps that an amount of memory is rounded up to between a power of two and the next."""


def usable_processors() -> int:
    """Return the number of processors that this process may run on."""
    return len(os.sched_getaffinity(0))


def describe_machine(root: Path = Path("/")) -> dict[str, Any]:
    """Return hardware and operating system, with `id` (see machine_of) and `session`, which changes with a reboot.

    The session leaves out facts that differ between processes of one boot: the operating system of a container image,
    and the processors that a scheduler assigns.

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
    return {**hardware, "id": machine_of(hardware), "session": _digest([lasting(hardware), boot])}


def machine_of(machine: Mapping[str, Any]) -> str | None:
    """Return the identity of a machine: a hash of its hardware, the same after a reboot or an update of its system.

    Processor model, logical processors, memory, architecture, names and memory of GPUs, and whether it is virtual.
    Records of any schema give it. None where nothing is known of the hardware, as in imported runs.

    Args:
        machine: see describe_machine.
    """
    hardware = {
        **{name: machine.get(name) for name in ("cpu_model", "processors", "architecture", "virtual_machine")},
        "memory_gib": _installed_gib(machine.get("memory_b")),
        "gpus": sorted(([gpu.get("name"), _installed_gib(gpu.get("memory_b"))] for gpu in _gpus_of(machine)), key=str),
    }
    return _digest(hardware) if any(value not in (None, []) for value in hardware.values()) else None


def measured_by(machine: Mapping[str, Any], node: str | None) -> str | None:
    """Return the machine as a level of the statistics: its identity, and for a node of a cluster also its alias.

    Nodes of the same hardware are several machines: each has its own silicon and cooling. None where nothing is known.

    Args:
        machine: see describe_machine.
        node: its alias; None where the study has no nodes.
    """
    known = machine_of(machine)
    return f"{known}-{node}" if known and node else known


def session_of(machine: Mapping[str, Any]) -> str | None:
    """Return the identity of one boot of a machine; records before schema 4 have it as `fingerprint`.

    Args:
        machine: see describe_machine.
    """
    session = machine.get("session") or machine.get("fingerprint")
    return str(session) if session else None


def any_session_recorded(records: Iterable[RunRecord]) -> bool:
    """Return whether any record has a `session`; records of finished older studies do not (before schema 4)."""
    return any("session" in (record["machine"] or {}) for record in records)


def lasting(machine: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that are the same in every process of one boot, without the identities that follow from them.

    Args:
        machine: see describe_machine.
    """
    return {name: value for name, value in machine.items() if name not in (*_OF_THE_PROCESS, *_IDENTITIES)}


def facts_of(machine: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a machine in a record, without identities.

    Args:
        machine: see describe_machine.
    """
    return {name: value for name, value in machine.items() if name not in _IDENTITIES}


def _gpus_of(machine: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the GPUs of a description, which may be anything."""
    gpus = machine.get("gpus")
    return [gpu for gpu in gpus if isinstance(gpu, Mapping)] if isinstance(gpus, list) else []


def _installed_gib(memory_b: Any) -> float | None:
    """Return the installed memory in GiB: kernel, firmware and drivers take a little, depending on their version."""
    if not isinstance(memory_b, int) or not 0 < memory_b < _MOST_B:
        return None
    step = 2.0 ** (math.ceil(math.log2(memory_b)) - 1) / _STEPS
    return math.ceil(memory_b / step) * step / 2**30


def _digest(value: Any) -> str:
    """Return the first sixteen hexadecimal digits of a hash that no reader of a CSV file takes for a number."""
    digits = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    return next(text for at in range(49) if not re.fullmatch(r"\d+(e\d+)?", text := digits[at : at + 16]))


def text_of(path: Path) -> str:
    """Return the text of a kernel file, empty where it cannot be read."""
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
    """Return the name, memory and driver of NVIDIA GPUs; empty where the driver does not answer."""
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
