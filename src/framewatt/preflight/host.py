"""Checks of processors, power supply and other work for anything that disturbs a measurement."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from framewatt.host.machine import text_of, usable_processors
from framewatt.preflight.finding import HOT_C, Finding

_CPU = Path("sys/devices/system/cpu")
_BUSY_SHARE = 0.1


def host_findings(root: Path, observe_s: float) -> Iterator[Finding]:
    """Findings about everything but GPUs.

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
    """Processor seconds of all work since the boot, from /proc/stat."""
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
