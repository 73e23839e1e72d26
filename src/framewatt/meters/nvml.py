"""NVIDIA GPUs through NVML: energy counter, power, utilisation, memory, temperature, clocks, throttling.

Only the GPUs that this process may use are read (CUDA_VISIBLE_DEVICES, by index or UUID).
Source: NVIDIA Management Library API reference, the calls named in `_readers`.
"""

import math
import os
from collections.abc import Callable
from typing import Any

from framewatt.errors import FramewattError
from framewatt.meters.contract import COUNTER, GAUGE, Channel


class Nvml:
    """Every visible GPU. `library` stands in for the pynvml module in tests."""

    name = "nvml"
    update_period_s = 0.02
    """NVML refreshes power and counter about every 20 ms on the GPUs seen so far."""

    def __init__(self, library: Any = None) -> None:
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
            count = len(self._visible(library))
        finally:
            library.nvmlShutdown()
        return (True, f"{count} visible GPUs") if count else (False, "no GPU is visible; look at CUDA_VISIBLE_DEVICES")

    def open(self) -> list[Channel]:
        """Start NVML and keep the calls that every visible GPU supports."""
        ready, reason = self.available()
        if not ready:
            raise FramewattError(f"meter nvml: {reason}")
        library = self._load()
        library.nvmlInit()
        channels = []
        for index, handle in self._visible(library):
            for quantity, kind, resolution, read in _readers(library, handle):
                try:
                    read()
                except library.NVMLError:
                    continue
                channels.append(
                    Channel(self.name, f"gpu:{index}", quantity, kind, self.update_period_s, resolution=resolution)
                )
                self._reads.append(_guarded(library, read))
        return channels

    def read(self) -> list[float]:
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

    @staticmethod
    def _visible(library: Any) -> list[tuple[int, Any]]:
        """Index and handle of the GPUs that CUDA_VISIBLE_DEVICES lets through.

        As CUDA reads it, the list ends at the first entry that names no GPU, or more than one (CUDA C++ Programming
        Guide, environment variables). An index is NVML's; it is CUDA's too where CUDA_DEVICE_ORDER is PCI_BUS_ID, or
        all GPUs are alike.
        """
        handles = [(i, library.nvmlDeviceGetHandleByIndex(i)) for i in range(library.nvmlDeviceGetCount())]
        wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
        if wanted is None:
            return handles
        visible: dict[int, Any] = {}
        for name in wanted.split(","):
            matching = [(i, h) for i, h in handles if _names(name.strip(), i, library.nvmlDeviceGetUUID(h))]
            if len(matching) != 1:
                break
            visible.update(matching)
        return [(i, visible[i]) for i in sorted(visible)]


def _names(name: str, index: int, uuid: str) -> bool:
    """Whether an entry of CUDA_VISIBLE_DEVICES, an index or the beginning of a UUID, names a GPU."""
    return uuid.startswith(name) if name.startswith("GPU-") else name == str(index)


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
        (
            "sm_clock_mhz",
            GAUGE,
            1.0,
            lambda: float(library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_SM)),
        ),
        (
            "throttle_reasons_bits",
            GAUGE,
            1.0,
            lambda: float(library.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
        ),
    ]
