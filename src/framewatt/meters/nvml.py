"""NVIDIA GPUs through NVML: energy counter, power, utilisation, memory, temperature, clocks, throttling.

Only the GPUs that this process may use are read (see visible.py).
Source: NVIDIA Management Library API reference, the calls named in `_readers`.
"""

import math
from collections.abc import Callable
from typing import Any

from framewatt.errors import FramewattError
from framewatt.meters.contract import COUNTER, GAUGE, Channel, require
from framewatt.meters.visible import Gpu, visible_gpus

_UPDATE_PERIOD_S = 0.1
"""NVML refreshes power every 100 ms on the A100 and the H100, faster on others (Yang, Adamek and Armour 2024,
"Part-time power measurements: nvidia-smi's lack of attention")."""

_FASTEST_S = 0.02
"""Read more often than it is refreshed, so that a reading tells when the value changed, and no more often than this."""

MOST_W = 2000.0
"""Watts that no GPU exceeds."""

LONGEST_AVERAGE_S = 1.0
"""Averaged power is a mean over the last second on most GPUs since Ampere, and an instant's on those before (NVML API
reference, nvmlDeviceGetPowerUsage)."""


class Nvml:
    """Every visible GPU.

    Args:
        period_s: seconds between two readings.
        library: stands in for the pynvml module.
    """

    name = "nvml"

    def __init__(self, period_s: float = 0.02, library: Any = None) -> None:
        self.period_s = max(period_s, _FASTEST_S)
        self._library = library
        self._reads: list[Callable[[], float]] = []

    def available(self) -> tuple[bool, str]:
        """Whether the NVIDIA driver answers and at least one GPU is visible."""
        try:
            library = self._load()
            library.nvmlInit()
        except ImportError:
            return False, "the module pynvml (package nvidia-ml-py) is not installed"
        except Exception as error:
            return False, f"the NVIDIA driver does not answer ({error})"
        try:
            count = len(visible_gpus(_gpus(library)))
        finally:
            library.nvmlShutdown()
        return (True, f"{count} visible GPUs") if count else (False, "no GPU is visible; look at CUDA_VISIBLE_DEVICES")

    def open(self) -> list[Channel]:
        """Start NVML and keep the calls that every visible GPU supports."""
        require(self)
        library = self._load()
        library.nvmlInit()
        channels = []
        for gpu in visible_gpus(_gpus(library)):
            for quantity, kind, resolution, read in _readers(library, library.nvmlDeviceGetHandleByIndex(gpu.index)):
                try:
                    read()
                except library.NVMLError:
                    continue
                channels.append(
                    Channel(
                        instrument=self.name,
                        domain=f"gpu:{gpu.index}",
                        quantity=quantity,
                        kind=kind,
                        update_period_s=_UPDATE_PERIOD_S,
                        resolution=resolution,
                        max_power_w=MOST_W,
                        average_most_s=LONGEST_AVERAGE_S if quantity == "power_average_w" else 0.0,
                        note=gpu.note,
                    )
                )
                self._reads.append(_guarded(library, read))
        if not channels:
            raise FramewattError("meter nvml: found no quantity that a visible GPU tells; allowed: at least its power")
        return channels

    def values(self) -> list[float]:
        """One value a channel, NaN where NVML reported an error."""
        return [read() for read in self._reads]

    def close(self) -> None:
        """Stop NVML."""
        self._reads = []
        self._load().nvmlShutdown()

    def _load(self) -> Any:
        if self._library is None:
            import pynvml

            self._library = pynvml
        return self._library


def _gpus(library: Any) -> list[Gpu]:
    """All GPUs of the machine, with the instances of divided ones."""
    handles = [library.nvmlDeviceGetHandleByIndex(index) for index in range(library.nvmlDeviceGetCount())]
    return [Gpu(i, library.nvmlDeviceGetUUID(h), _mig_uuids(library, h)) for i, h in enumerate(handles)]


def _mig_uuids(library: Any, handle: Any) -> tuple[str, ...]:
    try:
        if library.nvmlDeviceGetMigMode(handle)[0] != library.NVML_DEVICE_MIG_ENABLE:
            return ()
        count = library.nvmlDeviceGetMaxMigDeviceCount(handle)
    except library.NVMLError:
        return ()
    uuids = []
    for index in range(count):
        try:
            uuids.append(library.nvmlDeviceGetUUID(library.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)))
        except library.NVMLError:
            continue
    return tuple(uuids)


def _guarded(library: Any, read: Callable[[], float]) -> Callable[[], float]:
    def value_or_nan() -> float:
        try:
            return read()
        except library.NVMLError:
            return math.nan

    return value_or_nan


def _readers(library: Any, handle: Any) -> list[tuple[str, str, float, Callable[[], float]]]:
    """Quantity, kind, resolution and call of everything that is read from a GPU."""

    def instant_power_w() -> float:
        field = library.nvmlDeviceGetFieldValues(handle, [library.NVML_FI_DEV_POWER_INSTANT])[0]
        if field.nvmlReturn != library.NVML_SUCCESS:
            raise library.NVMLError(field.nvmlReturn)
        return float(field.value.uiVal) * 1e-3

    def clock_mhz(clock: int) -> Callable[[], float]:
        return lambda: float(library.nvmlDeviceGetClockInfo(handle, clock))

    return [
        ("energy_j", COUNTER, 1e-3, lambda: library.nvmlDeviceGetTotalEnergyConsumption(handle) * 1e-3),
        ("power_instant_w", GAUGE, 1e-3, instant_power_w),
        ("power_average_w", GAUGE, 1e-3, lambda: library.nvmlDeviceGetPowerUsage(handle) * 1e-3),
        ("utilization_percent", GAUGE, 1.0, lambda: float(library.nvmlDeviceGetUtilizationRates(handle).gpu)),
        ("memory_utilization_percent", GAUGE, 1.0, lambda: float(library.nvmlDeviceGetUtilizationRates(handle).memory)),
        ("memory_used_b", GAUGE, 1.0, lambda: float(library.nvmlDeviceGetMemoryInfo(handle).used)),
        (
            "temperature_c",
            GAUGE,
            1.0,
            lambda: float(library.nvmlDeviceGetTemperature(handle, library.NVML_TEMPERATURE_GPU)),
        ),
        ("sm_clock_mhz", GAUGE, 1.0, clock_mhz(library.NVML_CLOCK_SM)),
        ("memory_clock_mhz", GAUGE, 1.0, clock_mhz(library.NVML_CLOCK_MEM)),
        (
            "throttle_reasons_bits",
            GAUGE,
            1.0,
            lambda: float(library.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
        ),
    ]
