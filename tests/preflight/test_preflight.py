"""What disturbs a measurement, on copies of /proc and /sys."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from framewatt.preflight import TOPICS, check_machine, objections

CPU = "sys/devices/system/cpu"
CALM = {
    "proc/cpuinfo": "model name : a processor\n",
    "proc/stat": "cpu 100 0 0 900 0 0 0 0\n",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/cpu1/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    f"{CPU}/smt/active": "0\n",
}


class NoGpus:
    """pynvml where there is no driver."""

    class NVMLError(Exception):
        pass

    def nvmlInit(self) -> None:
        raise self.NVMLError("no driver")


class OneGpu(NoGpus):
    """pynvml with one GPU that is busy, hot, held down and without persistence."""

    NVML_TEMPERATURE_GPU = 0

    def __init__(self, forbidden: tuple[int, ...] = ()) -> None:
        self.forbidden = forbidden

    def nvmlInit(self) -> None: ...
    def nvmlShutdown(self) -> None: ...
    def nvmlDeviceGetCount(self) -> int:
        return 1 + len(self.forbidden)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        if index in self.forbidden:
            raise self.NVMLError("insufficient permissions")
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str:
        return f"GPU-{handle}"

    def nvmlDeviceGetMigMode(self, _handle: int) -> list[int]:
        raise self.NVMLError("not supported")

    def nvmlDeviceGetComputeRunningProcesses(self, _handle: int) -> list:
        return [SimpleNamespace(pid=1)]

    def nvmlDeviceGetPersistenceMode(self, _handle: int) -> int:
        return 0

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _handle: int) -> int:
        return 0x4 | 0x40 | 0x1

    def nvmlDeviceGetTemperature(self, _handle: int, _sensor: int) -> int:
        return 88


def machine(root: Path, **files: str) -> Path:
    """A copy of a machine's files: a calm one, with some replaced (`/` in names written as `__`)."""
    for name, text in {**CALM, **{name.replace("__", "/"): text for name, text in files.items()}}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def findings(root: Path, library: object = None) -> dict[str, str]:
    return {f["topic"]: f["found"] for f in check_machine(root, observe_s=0.01, library=library or NoGpus())}


def test_a_calm_machine_has_no_findings(tmp_path: Path) -> None:
    assert findings(machine(tmp_path)) == {}


@pytest.mark.parametrize(
    ("file", "text", "topic", "found"),
    [
        (f"{CPU}/cpu1/cpufreq/scaling_governor", "powersave\n", "governor", "performance, powersave"),
        (f"{CPU}/intel_pstate/no_turbo", "0\n", "turbo", "on"),
        (f"{CPU}/cpufreq/boost", "1\n", "turbo", "on"),
        (f"{CPU}/smt/active", "1\n", "SMT", "on"),
        ("proc/cpuinfo", "flags : fpu hypervisor\n", "virtual machine", "yes"),
        ("sys/class/power_supply/BAT0/status", "Discharging\n", "battery", "discharging"),
        (f"{CPU}/cpu0/thermal_throttle/package_throttle_count", "7\n", "CPU throttling", "7 times since the boot"),
    ],
)
def test_each_disturbance_is_detected(tmp_path: Path, file: str, text: str, topic: str, found: str) -> None:
    assert findings(machine(tmp_path, **{file: text})) == {topic: found}


def test_a_hot_processor_is_detected(tmp_path: Path) -> None:
    sensor = "sys/class/hwmon/hwmon0"
    root = machine(tmp_path, **{f"{sensor}/name": "k10temp\n", f"{sensor}/temp1_input": "91000"})
    assert findings(root) == {"CPU temperature": "91 °C"}


def test_other_work_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = machine(tmp_path)
    later = "cpu 10100 0 0 900 0 0 0 0\n"
    monkeypatch.setattr("time.sleep", lambda _: (root / "proc/stat").write_text(later))
    assert list(findings(root)) == ["load"]


def test_a_gpu_that_is_forbidden_or_hidden_from_the_run_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert findings(machine(tmp_path), OneGpu(forbidden=(1,)))["GPU processes"] == "1 on GPU 0"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert findings(machine(tmp_path), OneGpu(forbidden=(1,))) == {}


def test_a_gpus_disturbances_are_found(tmp_path: Path) -> None:
    assert findings(machine(tmp_path), OneGpu()) == {
        "GPU processes": "1 on GPU 0",
        "GPU persistence": "off on GPU 0",
        "GPU throttling": "GPU 0: software power cap, hardware thermal slowdown",
        "GPU temperature": "88 °C on GPU 0",
    }


def test_a_machine_that_shows_no_governor_reports_it(tmp_path: Path) -> None:
    root = machine(tmp_path)
    for number in (0, 1):
        (root / f"{CPU}/cpu{number}/cpufreq/scaling_governor").unlink()
    assert findings(root) == {"governor": "not visible"}


def test_a_strict_study_objects_to_what_it_does_not_accept(tmp_path: Path) -> None:
    root = machine(tmp_path, **{f"{CPU}/smt/active": "1\n", f"{CPU}/cpufreq/boost": "1\n"})
    found = check_machine(root, observe_s=0, library=NoGpus())
    assert objections(found, {"strict": False, "accept": []}) == []
    (line,) = objections(found, {"strict": True, "accept": ["turbo"]})
    assert line.startswith("preflight: SMT: on (two threads share a core and disturb each other; mend: echo off")
    assert {finding["topic"] for finding in found} <= set(TOPICS)
