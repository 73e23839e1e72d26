"""Meters on fake hardware that can show faults."""

import math
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from framewatt.errors import FramewattError
from framewatt.meters import select_meters
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.estimate import Estimate
from framewatt.meters.nvml import Nvml
from framewatt.meters.rapl import Rapl
from framewatt.meters.replay import Replay
from framewatt.records import write_trace
from framewatt.trace import Trace

INSTRUMENTS = {"estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0, "fallback": "none"}


def zone(root: Path, folder: str, label: str, energy_uj: int, wrap_uj: int = 262_143_328_850) -> Path:
    """A zone of a powercap tree."""
    path = root / folder
    path.mkdir(parents=True)
    (path / "name").write_text(f"{label}\n")
    (path / "energy_uj").write_text(f"{energy_uj}\n")
    (path / "max_energy_range_uj").write_text(f"{wrap_uj}\n")
    return path


def test_rapl_reads_every_domain_that_adds_up_and_psys_beside_them(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0", 1_000_000)
    zone(tmp_path, "intel-rapl:0:0", "core", 400_000)
    zone(tmp_path, "intel-rapl:0:1", "dram", 2_000_000)
    zone(tmp_path, "intel-rapl:1", "package-1", 3_000_000)
    zone(tmp_path, "intel-rapl:2", "psys", 9_000_000)
    meter = Rapl(tmp_path)
    domains = [channel.domain for channel in meter.open()]
    assert dict(zip(domains, meter.read(), strict=True)) == {
        "cpu:dram-0": 2.0,
        "cpu:package-0": 1.0,
        "cpu:package-1": 3.0,
        "cpu:psys": 9.0,
    }
    meter.close()


def test_rapl_tells_the_dies_of_a_package_apart(tmp_path: Path) -> None:
    for package, die in ((0, 0), (0, 1), (1, 0)):
        folder = f"intel-rapl:{2 * package + die}"
        zone(tmp_path, folder, f"package-{package}-die-{die}", 1)
        zone(tmp_path, f"{folder}:0", "dram", 1)
    meter = Rapl(tmp_path)
    assert [channel.domain for channel in meter.open()] == [
        "cpu:dram-0-die-0",
        "cpu:dram-0-die-1",
        "cpu:dram-1-die-0",
        "cpu:package-0-die-0",
        "cpu:package-0-die-1",
        "cpu:package-1-die-0",
    ]
    meter.close()


def test_rapl_knows_a_package_once_though_two_drivers_list_it(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    zone(tmp_path, "intel-rapl-mmio:0", "package-0", 1)
    meter = Rapl(tmp_path)
    assert [channel.domain for channel in meter.open()] == ["cpu:package-0"]
    meter.close()


def test_rapl_follows_the_counter_and_marks_a_failed_read(tmp_path: Path) -> None:
    folder = zone(tmp_path, "intel-rapl:0", "package-0", 1_500_000, wrap_uj=10_000_000)
    meter = Rapl(tmp_path)
    (channel,) = meter.open()
    assert (channel.wrap, meter.read()) == (10.0, [1.5])
    (folder / "energy_uj").write_text("2500000\n")
    assert meter.read() == [2.5]
    (folder / "energy_uj").write_text("not a number\n")
    assert math.isnan(meter.read()[0])
    meter.close()


def test_rapl_says_what_is_missing_and_how_to_mend_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Rapl(tmp_path).available() == (
        False,
        f"no RAPL zone under {tmp_path} (no such hardware, or a virtual machine that hides it)",
    )
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    # root reads everything, so the kernel's answer is what is faked
    monkeypatch.setattr(os, "access", lambda *_: False)
    available, reason = Rapl(tmp_path).available()
    assert not available
    assert "sudo chmod -R a+r" in reason
    with pytest.raises(FramewattError, match="not readable"):
        Rapl(tmp_path).open()


def stat(busy_ticks: int) -> str:
    """The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice."""
    return f"cpu  {busy_ticks} 0 0 999 50 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n"


def test_the_estimate_books_idle_and_busy_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "stat"
    file.write_text(stat(0))
    now_ns = [0]
    monkeypatch.setattr("time.monotonic_ns", lambda: now_ns[0])
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    meter = Estimate(idle_w_per_core=1.0, busy_w_per_core=5.0, stat=file)
    (channel,) = meter.open()
    assert channel.estimated
    now_ns[0] = 10_000_000_000
    file.write_text(stat(400))
    # 2 processors x 10 s x 1 W, and 400 ticks of 10 ms busy x (5 - 1) W.
    assert meter.read() == [pytest.approx(20 + 4 * 4)]
    file.write_text("garbage")
    assert math.isnan(meter.read()[0])
    meter.close()


class FakeNvml:
    """The part of pynvml that the meter uses, with two GPUs; `broken` names calls that fail."""

    NVML_SUCCESS = 0
    NVML_FI_DEV_POWER_INSTANT = 186
    NVML_TEMPERATURE_GPU = 0
    NVML_CLOCK_SM = 1

    class NVMLError(Exception):
        pass

    def __init__(self) -> None:
        self.broken: set[str] = set()
        self.energy_mj = [5_000_000, 7_000_000]

    def __getattribute__(self, name: str):
        if name.startswith("nvml") and name in object.__getattribute__(self, "broken"):
            error = object.__getattribute__(self, "NVMLError")

            def fail(*_: object) -> None:
                raise error(name)

            return fail
        return object.__getattribute__(self, name)

    def nvmlInit(self) -> None: ...
    def nvmlShutdown(self) -> None: ...
    def nvmlDeviceGetCount(self) -> int:
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str:
        return f"GPU-{handle}abc"

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:
        return self.energy_mj[handle]

    def nvmlDeviceGetFieldValues(self, _handle: int, _fields: list[int]) -> list:
        return [SimpleNamespace(nvmlReturn=0, value=SimpleNamespace(uiVal=120_500))]

    def nvmlDeviceGetPowerUsage(self, _handle: int) -> int:
        return 119_000

    def nvmlDeviceGetUtilizationRates(self, _handle: int) -> SimpleNamespace:
        return SimpleNamespace(gpu=80, memory=30)

    def nvmlDeviceGetMemoryInfo(self, _handle: int) -> SimpleNamespace:
        return SimpleNamespace(used=1024)

    def nvmlDeviceGetTemperature(self, _handle: int, _sensor: int) -> int:
        return 55

    def nvmlDeviceGetClockInfo(self, _handle: int, _clock: int) -> int:
        return 1980

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _handle: int) -> int:
        return 0


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return FakeNvml()


def readings(meter: Nvml) -> dict[tuple[str, str], float]:
    channels = meter.open()
    return {(c.domain, c.quantity): value for c, value in zip(channels, meter.read(), strict=True)}


def test_nvml_reads_counter_and_power_in_joules_and_watts(nvml: FakeNvml) -> None:
    found = readings(Nvml(nvml))
    assert found["gpu:0", "energy_j"] == pytest.approx(5000)
    assert found["gpu:1", "energy_j"] == pytest.approx(7000)
    assert found["gpu:0", "power_instant_w"] == pytest.approx(120.5)
    assert found["gpu:0", "power_average_w"] == pytest.approx(119)
    assert found["gpu:0", "utilization_percent"] == 80


@pytest.mark.parametrize(
    ("visible", "domains"),
    [
        ("1", {"gpu:1"}),
        ("GPU-0", {"gpu:0"}),
        ("1, 0", {"gpu:0", "gpu:1"}),
        ("1,-1,0", {"gpu:1"}),
        ("0,7,1", {"gpu:0"}),
    ],
)
def test_nvml_reads_only_the_gpus_that_the_run_may_use(
    nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch, visible: str, domains: set[str]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert {domain for domain, _ in readings(Nvml(nvml))} == domains


def test_a_gpu_without_energy_counter_still_has_power(nvml: FakeNvml) -> None:
    nvml.broken = {"nvmlDeviceGetTotalEnergyConsumption"}
    found = readings(Nvml(nvml))
    assert ("gpu:0", "energy_j") not in found
    assert found["gpu:0", "power_instant_w"] == pytest.approx(120.5)


def test_a_gpu_that_vanishes_reads_as_nan(nvml: FakeNvml) -> None:
    meter = Nvml(nvml)
    channels = meter.open()
    energy = next(i for i, channel in enumerate(channels) if channel.quantity == "energy_j")
    assert meter.read()[energy] == pytest.approx(5000)
    nvml.broken = {"nvmlDeviceGetTotalEnergyConsumption"}
    assert math.isnan(meter.read()[energy])


def test_no_driver_is_a_reason_in_words(nvml: FakeNvml) -> None:
    nvml.broken = {"nvmlInit"}
    available, reason = Nvml(nvml).available()
    assert not available
    assert "NVIDIA driver does not answer" in reason


def test_a_named_meter_that_is_missing_is_an_error_that_says_how_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rapl, "available", lambda _: (False, "no such hardware"))
    with pytest.raises(FramewattError, match=r"found rapl, which this machine lacks: no such hardware; allowed: "):
        select_meters({**INSTRUMENTS, "meters": ["rapl"]})


@pytest.mark.parametrize("meters", ["auto", ["rapl"]])
def test_an_estimate_stands_in_only_where_the_study_says_so(monkeypatch: pytest.MonkeyPatch, meters: object) -> None:
    monkeypatch.setattr(Rapl, "available", lambda _: (False, "no such hardware"))
    monkeypatch.setattr(Nvml, "available", lambda _: (False, "no driver"))
    assert select_meters({**INSTRUMENTS, "meters": meters, "fallback": "estimate"}) == ["estimate"]


def test_where_rapl_is_there_nothing_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rapl, "available", lambda _: (True, "2 zones"))
    monkeypatch.setattr(Nvml, "available", lambda _: (True, "1 GPU"))
    assert select_meters({**INSTRUMENTS, "meters": "auto", "fallback": "estimate"}) == ["rapl", "nvml"]


def test_a_replay_reads_what_was_recorded_when_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Channel("rapl", "cpu:package-0", "energy_j", COUNTER, 0.001, wrap=50.0, max_power_w=100.0)
    recorded = np.array([7, 8, 9]) * 1_000_000_000
    write_trace(tmp_path / "power.parquet", Trace((channel,), recorded, np.zeros(3), np.array([40.0, np.nan, 5.0])))
    now_ns = [0]
    monkeypatch.setattr("time.monotonic_ns", lambda: now_ns[0])
    meter = Replay(tmp_path / "power.parquet", speed=2.0)
    (replayed,) = meter.open()
    assert (replayed.instrument, replayed.wrap, replayed.max_power_w) == ("replay", 50.0, 200.0)
    found = []
    for half_seconds in (0, 0.5, 1, 1.5, 2, 3):
        now_ns[0] = round(half_seconds * 0.5e9)
        found += meter.read()
    assert found == pytest.approx([40, 40, math.nan, math.nan, 5, math.nan], nan_ok=True)


def test_a_replay_without_its_trace_says_so(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"instruments.replay_trace: found .*nowhere, which is not there"):
        Replay(tmp_path / "nowhere").open()
