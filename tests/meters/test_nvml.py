"""NVML, on a stand-in for its library with two GPUs."""

import math
from types import SimpleNamespace

import pytest
from meter_values import values

from framewatt.base.errors import FramewattError
from framewatt.meters.nvml import Nvml


class FakeNvml:
    """The part of pynvml that the meter uses, with two GPUs; `broken` names calls that fail."""

    NVML_SUCCESS = 0
    NVML_FI_DEV_POWER_INSTANT = 186
    NVML_TEMPERATURE_GPU = 0
    NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2
    NVML_DEVICE_MIG_ENABLE = 1

    class NVMLError(Exception):
        pass

    def __init__(self) -> None:
        self.broken: set[str] = set()
        self.divided: set[int] = set()
        self.forbidden: set[int] = set()
        self.utilization_calls = 0
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
        if index in self.forbidden:
            raise self.NVMLError("insufficient permissions")
        return index

    def nvmlDeviceGetUUID(self, handle: int | str) -> str:
        return f"GPU-{handle}abc" if isinstance(handle, int) else f"MIG-{handle[-1]}def"

    def nvmlDeviceGetMigMode(self, handle: int) -> list[int]:
        return [int(handle in self.divided)] * 2

    def nvmlDeviceGetMaxMigDeviceCount(self, _handle: int) -> int:
        return 1

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: int, _index: int) -> str:
        return f"part of {handle}"

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:
        return self.energy_mj[handle]

    def nvmlDeviceGetFieldValues(self, _handle: int, _fields: list[int]) -> list:
        return [SimpleNamespace(nvmlReturn=0, value=SimpleNamespace(uiVal=120_500))]

    def nvmlDeviceGetPowerUsage(self, _handle: int) -> int:
        return 119_000

    def nvmlDeviceGetUtilizationRates(self, _handle: int) -> SimpleNamespace:
        self.utilization_calls += 1
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
    return {(c.domain, c.quantity): value for c, value in zip(channels, values(meter), strict=True)}


def test_nvml_reads_counter_and_power_in_joules_and_watts(nvml: FakeNvml) -> None:
    found = readings(Nvml(library=nvml))
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
    assert {domain for domain, _ in readings(Nvml(library=nvml))} == domains


def test_a_gpu_without_energy_counter_still_has_power(nvml: FakeNvml) -> None:
    nvml.broken = {"nvmlDeviceGetTotalEnergyConsumption"}
    found = readings(Nvml(library=nvml))
    assert ("gpu:0", "energy_j") not in found
    assert found["gpu:0", "power_instant_w"] == pytest.approx(120.5)


def test_a_gpu_that_vanishes_reads_as_nan(nvml: FakeNvml) -> None:
    meter = Nvml(library=nvml)
    channels = meter.open()
    energy = next(i for i, channel in enumerate(channels) if channel.quantity == "energy_j")
    assert values(meter)[energy] == pytest.approx(5000)
    nvml.broken = {"nvmlDeviceGetTotalEnergyConsumption"}
    assert math.isnan(values(meter)[energy])


def test_no_driver_is_a_reason_in_words(nvml: FakeNvml) -> None:
    nvml.broken = {"nvmlInit"}
    available, reason = Nvml(library=nvml).available()
    assert not available
    assert "NVIDIA driver does not answer" in reason


def test_an_instance_of_a_divided_gpu_stands_for_the_whole(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    nvml.divided = {1}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-1def")
    notes = {channel.domain: channel.note for channel in Nvml(library=nvml).open()}
    assert notes == {"gpu:1": "the GPU is divided (MIG): its energy is all its instances'"}


def test_a_gpu_without_any_quantity_is_an_error(nvml: FakeNvml) -> None:
    nvml.broken = {name for name in dir(FakeNvml) if name.startswith("nvmlDeviceGet")} - {
        "nvmlDeviceGetCount",
        "nvmlDeviceGetHandleByIndex",
        "nvmlDeviceGetUUID",
    }
    with pytest.raises(FramewattError, match="no visible GPU reports any quantity"):
        Nvml(library=nvml).open()


def test_what_one_call_gives_is_requested_once_a_reading(nvml: FakeNvml) -> None:
    meter = Nvml(library=nvml)
    channels = meter.open()
    before = nvml.utilization_calls
    found = dict(zip([(c.domain, c.quantity) for c in channels], values(meter), strict=True))
    assert nvml.utilization_calls - before == 2  # one a GPU
    assert found["gpu:1", "memory_utilization_percent"] == 30


def test_a_forbidden_gpu_that_no_run_may_use_is_none_of_its_business(
    nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvml.forbidden = {0}
    assert {domain for domain, _ in readings(Nvml(library=nvml))} == {"gpu:1"}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert {domain for domain, _ in readings(Nvml(library=nvml))} == {"gpu:1"}


def test_a_forbidden_gpu_that_the_run_is_given_is_reported(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    nvml.forbidden = {0}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    with pytest.raises(FramewattError, match="names GPU 0, and the driver reports nothing"):
        Nvml(library=nvml).open()
