"""Checks of the machine for anything that disturbs a measurement."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.host.machine import text_of, usable_processors
from framewatt.meters.gpus import gpus_of, throttled_shares, visible_gpus


@dataclass(frozen=True)
class Finding:
    """Something that disturbs a measurement.

    Attributes:
        topic: what was checked, one of TOPICS.
        found: the state of the machine.
        meaning: what that does to a measurement.
        remedy: how to fix it.
    """

    topic: str
    found: str
    meaning: str
    remedy: str


HOT_C = 80
"""Temperature in °C from which hardware throttles, or soon will."""


_CPU = Path("sys/devices/system/cpu")
_BUSY_SHARE = 0.1


def host_findings(root: Path, observe_s: float) -> Iterator[Finding]:
    """Yield the findings about everything except GPUs.

    Args:
        root: the file system, or a copy of its /proc and /sys.
        observe_s: seconds for which the processors are watched for other work.
    """
    yield from _governor(root)
    yield from _turbo(root)
    yield from _smt(root)
    yield from _virtual_machine(root)
    yield from _load(root, observe_s)
    yield from _battery(root)
    yield from _temperature(root)
    yield from _throttling(root)


def _governor(root: Path) -> Iterator[Finding]:
    governors = {text_of(path).strip() for path in (root / _CPU).glob("cpu[0-9]*/cpufreq/scaling_governor")}
    if not governors:
        yield Finding(
            "governor", "not visible", "the clock may change unseen", "measure on a machine that shows cpufreq"
        )
    elif governors != {"performance"}:
        yield Finding(
            "governor",
            ", ".join(sorted(governors)),
            "the clock follows the load, so runs differ",
            "preflight.set_governor: performance in the study, or cpupower frequency-set -g performance",
        )


def _turbo(root: Path) -> Iterator[Finding]:
    intel = text_of(root / _CPU / "intel_pstate/no_turbo").strip()
    if intel == "0" or text_of(root / _CPU / "cpufreq/boost").strip() == "1":
        switch = (
            "1 > /sys/devices/system/cpu/intel_pstate/no_turbo"
            if intel
            else "0 > /sys/devices/system/cpu/cpufreq/boost"
        )
        yield Finding("turbo", "on", "the clock depends on temperature and on neighbours", f"echo {switch}")


def _smt(root: Path) -> Iterator[Finding]:
    if text_of(root / _CPU / "smt/active").strip() == "1":
        yield Finding(
            "SMT",
            "on",
            "two threads share a core and disturb each other",
            "echo off > /sys/devices/system/cpu/smt/control",
        )


def _virtual_machine(root: Path) -> Iterator[Finding]:
    if "hypervisor" in text_of(root / "proc/cpuinfo"):
        yield Finding(
            "virtual machine",
            "yes",
            "neighbours take time and energy unseen; RAPL is hidden",
            "measure on bare metal",
        )


def _load(root: Path, observe_s: float) -> Iterator[Finding]:
    before_s = busy_s(root)
    time.sleep(observe_s)
    after_s = busy_s(root)
    if before_s is None or after_s is None or not observe_s:
        return
    busy = (after_s - before_s) / observe_s
    if busy > _BUSY_SHARE * usable_processors():
        yield Finding("load", f"{busy:.1f} processors busy", "other work is measured too", "end other work and wait")


def busy_s(root: Path) -> float | None:
    """Return the processor seconds of all work since the boot, from /proc/stat."""
    fields = text_of(root / "proc/stat").split("\n", 1)[0].split()
    if len(fields) < 8:
        return None
    user, nice, system, _idle, _iowait, irq, softirq = map(int, fields[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _battery(root: Path) -> Iterator[Finding]:
    for supply in (root / "sys/class/power_supply").glob("BAT*"):
        if text_of(supply / "status").strip() == "Discharging":
            yield Finding("battery", "discharging", "firmware may cap the power", "plug the machine in")


def _temperature(root: Path) -> Iterator[Finding]:
    zones = (root / "sys/class/thermal").glob("thermal_zone*")
    readings = [text_of(zone / "temp").strip() for zone in zones if "pkg" in text_of(zone / "type")]
    sensors = (root / "sys/class/hwmon").glob("hwmon*")
    readings += [
        text_of(sensor / "temp1_input").strip()
        for sensor in sensors
        if text_of(sensor / "name").strip() in ("coretemp", "k10temp")
    ]
    hottest_c = max((int(reading) / 1000 for reading in readings if reading.lstrip("-").isdigit()), default=0.0)
    if hottest_c > HOT_C:
        yield Finding(
            "CPU temperature", f"{hottest_c:.0f} °C", "it will lower its clock soon", "let it cool, mend its cooling"
        )


def _throttling(root: Path) -> Iterator[Finding]:
    counts = [text_of(path).strip() for path in (root / _CPU).glob("cpu[0-9]*/thermal_throttle/package_throttle_count")]
    most = max((int(count) for count in counts if count.isdigit()), default=0)
    if most:
        yield Finding(
            "CPU throttling", f"{most} times since the boot", "heat lowered the clock under load", "mend its cooling"
        )


def gpu_findings(library: Any = None) -> Iterator[Finding]:
    """Yield the findings about every NVIDIA GPU that a run may use; none where no driver answers.

    Args:
        library: a replacement for the pynvml module, for tests.

    Raises:
        FramewattError: CUDA_VISIBLE_DEVICES names a GPU about which the driver reports nothing.
    """
    if library is None:
        try:
            import pynvml
        except ImportError:
            return
        library = pynvml
    try:
        library.nvmlInit()
    except library.NVMLError:
        return
    try:
        for gpu in visible_gpus(gpus_of(library)):
            yield from _gpu(library, gpu.index)
    finally:
        library.nvmlShutdown()


def _gpu(library: Any, index: int) -> Iterator[Finding]:
    handle = library.nvmlDeviceGetHandleByIndex(index)

    def answer(name: str, *arguments: Any) -> Any:
        """Return the result of an NVML call, or None where this GPU does not support it."""
        try:
            return getattr(library, name)(handle, *arguments)
        except library.NVMLError:
            return None

    others = [p for p in answer("nvmlDeviceGetComputeRunningProcesses") or [] if p.pid != os.getpid()]
    if others:
        yield Finding(
            "GPU processes", f"{len(others)} on GPU {index}", "their work is measured too", "end them, or wait for them"
        )
    if answer("nvmlDeviceGetPersistenceMode") == 0:
        yield Finding(
            "GPU persistence",
            f"off on GPU {index}",
            "the driver is loaded anew for every run",
            "nvidia-smi --persistence-mode=1",
        )
    reasons = throttled_shares([answer("nvmlDeviceGetCurrentClocksThrottleReasons") or 0])
    if reasons:
        yield Finding(
            "GPU throttling", f"GPU {index}: {', '.join(reasons)}", "its clock is held down", "cool it, raise its limit"
        )
    temperature_c = answer("nvmlDeviceGetTemperature", library.NVML_TEMPERATURE_GPU) or 0
    if temperature_c > HOT_C:
        yield Finding(
            "GPU temperature",
            f"{temperature_c} °C on GPU {index}",
            "it will lower its clock soon",
            "let it cool, mend its cooling",
        )
