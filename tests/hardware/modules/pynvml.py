"""The part of pynvml that framewatt uses, on scripted hardware with one GPU."""

from types import SimpleNamespace

from hardware.script import current

NVML_SUCCESS = 0
NVML_ERROR_NOT_SUPPORTED = 3
NVML_ERROR_GPU_IS_LOST = 15
NVML_FI_DEV_POWER_INSTANT = 186
NVML_TEMPERATURE_GPU = 0
NVML_CLOCK_SM = 1
NVML_CLOCK_MEM = 2
NVML_DEVICE_MIG_ENABLE = 1

_script = current()


class NVMLError(Exception):
    """What a call that fails raises."""


def _now_s() -> float:
    """Now, as the GPU last looked; fails while the GPU is lost."""
    now_s = _script.now_s()
    if not _script.readable("gpu:0", now_s):
        raise NVMLError(NVML_ERROR_GPU_IS_LOST)
    return _script.updated_s("gpu:0", now_s)


def nvmlInit() -> None:
    if "gpu:0" not in _script.watts:
        raise NVMLError("no GPU in this script")


def nvmlShutdown() -> None: ...
def nvmlSystemGetDriverVersion() -> str:
    return "scripted"


def nvmlDeviceGetCount() -> int:
    return 1


def nvmlDeviceGetHandleByIndex(index: int) -> int:
    return index


def nvmlDeviceGetName(_handle: int) -> str:
    return "NVIDIA Scripted"


def nvmlDeviceGetUUID(handle: int) -> str:
    return "MIG-11111111-1111-1111-1111-111111111111" if handle == 100 else "GPU-00000000-0000-0000-0000-000000000000"


def nvmlDeviceGetMigMode(_handle: int) -> list[int]:
    return [int(_script.gpu_mig), int(_script.gpu_mig)]


def nvmlDeviceGetMaxMigDeviceCount(_handle: int) -> int:
    return 2


def nvmlDeviceGetMigDeviceHandleByIndex(_handle: int, index: int) -> int:
    if index:
        raise NVMLError("no such instance")
    return 100


def nvmlDeviceGetTotalEnergyConsumption(_handle: int) -> int:
    if not _script.gpu_counter:
        raise NVMLError(NVML_ERROR_NOT_SUPPORTED)
    return round(_script.counter("gpu:0", _now_s()) * 1000)


def _power_mw(averaged: bool) -> int:
    return round(_script.shown_w("gpu:0", _now_s(), averaged) * 1000)


def nvmlDeviceGetFieldValues(_handle: int, _fields: list[int]) -> list[SimpleNamespace]:
    return [SimpleNamespace(nvmlReturn=NVML_SUCCESS, value=SimpleNamespace(uiVal=_power_mw(averaged=False)))]


def nvmlDeviceGetPowerUsage(_handle: int) -> int:
    return _power_mw(averaged=True)


def nvmlDeviceGetUtilizationRates(_handle: int) -> SimpleNamespace:
    _now_s()
    return SimpleNamespace(gpu=80, memory=30)


def nvmlDeviceGetMemoryInfo(_handle: int) -> SimpleNamespace:
    return SimpleNamespace(used=2**30, total=2**34)


def nvmlDeviceGetTemperature(_handle: int, _sensor: int) -> int:
    return 55


def nvmlDeviceGetClockInfo(_handle: int, _clock: int) -> int:
    return 1980


def nvmlDeviceGetCurrentClocksThrottleReasons(_handle: int) -> int:
    return 0


def nvmlDeviceGetComputeRunningProcesses(_handle: int) -> list[SimpleNamespace]:
    return []


def nvmlDeviceGetPersistenceMode(_handle: int) -> int:
    return 1
