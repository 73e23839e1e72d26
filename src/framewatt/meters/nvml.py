"""NVIDIA GPUs through NVML: energy counter, power, utilisation, memory, temperature, clocks, throttling.

Only the GPUs that this process may use are read (see visible_gpus).
Source: NVIDIA Management Library API reference, the calls named in `_readers`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import COUNTER, GAUGE, Channel, require
from framewatt.meters.gpus import THROTTLE_REASONS, Gpu, gpus_of, visible_gpus

_UPDATE_PERIOD_S = 0.1
"""NVML refreshes power every 100 ms on the A100 and the H100, faster on others (Yang, Adamek and Armour 2024,
"Part-time power measurements: nvidia-smi's lack of attention")."""

_FASTEST_S = 0.02
"""Shortest polling period. Polling is faster than the refresh, so that readings show when the value changed."""

MOST_W = 2000.0
"""Watts that no GPU exceeds."""

_DIGITS = dict.fromkeys(("energy_j", "power_instant_w", "power_average_w"), 1e-3)
"""Resolutions: NVML reports millijoules and milliwatts, and whole numbers of everything else."""

LONGEST_AVERAGE_S = 1.0
"""Averaged power is a mean over the last second on most GPUs since Ampere, and instantaneous on earlier ones (NVML API
reference, nvmlDeviceGetPowerUsage)."""

_Read = Callable[[], Sequence[float]]


class Nvml:
    """Every visible GPU.

    Args:
        period_s: seconds between two readings.
        library: a replacement for the pynvml module, for tests.
    """

    name = "nvml"

    def __init__(self, period_s: float = 0.02, library: Any = None) -> None:
        self.period_s = max(period_s, _FASTEST_S)
        self._library = library
        self._reads: list[_Read] = []

    def available(self) -> tuple[bool, str]:
        """Return whether the NVIDIA driver answers and at least one GPU is visible."""
        try:
            library = self._load()
            library.nvmlInit()
        except ImportError:
            return False, "the module pynvml (package nvidia-ml-py) is not installed"
        except Exception as error:
            return False, f"the NVIDIA driver does not answer ({error})"
        try:
            count = len(visible_gpus(gpus_of(library)))
        except FramewattError as error:
            return False, str(error)
        finally:
            library.nvmlShutdown()
        return (True, f"{count} visible GPUs") if count else (False, "no GPU is visible; look at CUDA_VISIBLE_DEVICES")

    def open(self) -> list[Channel]:
        """Start NVML, and return the channels of the calls that each visible GPU supports."""
        require(self)
        library = self._load()
        library.nvmlInit()
        channels = []
        for gpu in visible_gpus(gpus_of(library)):
            for quantities, read in _readers(library, library.nvmlDeviceGetHandleByIndex(gpu.index)):
                try:
                    read()
                except library.NVMLError:
                    continue
                channels += [_channel(gpu, quantity) for quantity in quantities]
                self._reads.append(_guarded(library, read, len(quantities)))
        if not channels:
            raise FramewattError(
                "meter nvml: no visible GPU reports any quantity. Update NVIDIA's driver, or leave nvml out."
            )
        return channels

    def values(self) -> list[float]:
        """Return one value per channel, NaN where NVML reported an error."""
        return [value for read in self._reads for value in read()]

    def close(self) -> None:
        """Stop NVML."""
        self._reads = []
        self._load().nvmlShutdown()

    def _load(self) -> Any:
        if self._library is None:
            import pynvml

            self._library = pynvml
        return self._library


def _channel(gpu: Gpu, quantity: str) -> Channel:
    return Channel(
        instrument=Nvml.name,
        domain=f"gpu:{gpu.index}",
        quantity=quantity,
        kind=COUNTER if quantity == "energy_j" else GAUGE,
        update_period_s=_UPDATE_PERIOD_S,
        resolution=_DIGITS.get(quantity, 1.0),
        max_power_w=MOST_W,
        average_most_s=LONGEST_AVERAGE_S if quantity == "power_average_w" else 0.0,
        note=gpu.note,
    )


def _guarded(library: Any, read: _Read, count: int) -> _Read:
    def values_or_nan() -> Sequence[float]:
        try:
            return read()
        except library.NVMLError:
            return [math.nan] * count

    return values_or_nan


def _readers(library: Any, handle: Any) -> list[tuple[tuple[str, ...], _Read]]:
    """Return everything that is read from a GPU: for each NVML call, its quantities."""

    def instant_power_w() -> float:
        field = library.nvmlDeviceGetFieldValues(handle, [library.NVML_FI_DEV_POWER_INSTANT])[0]
        if field.nvmlReturn != library.NVML_SUCCESS:
            raise library.NVMLError(field.nvmlReturn)
        return float(field.value.uiVal) * 1e-3

    def utilization_percent() -> tuple[float, float]:
        rates = library.nvmlDeviceGetUtilizationRates(handle)
        return float(rates.gpu), float(rates.memory)

    def clock_mhz(clock: int) -> float:
        return float(library.nvmlDeviceGetClockInfo(handle, clock))

    def temperature_c() -> float:
        return float(library.nvmlDeviceGetTemperature(handle, library.NVML_TEMPERATURE_GPU))

    return [
        (("energy_j",), lambda: (library.nvmlDeviceGetTotalEnergyConsumption(handle) * 1e-3,)),
        (("power_instant_w",), lambda: (instant_power_w(),)),
        (("power_average_w",), lambda: (library.nvmlDeviceGetPowerUsage(handle) * 1e-3,)),
        (("utilization_percent", "memory_utilization_percent"), utilization_percent),
        (("memory_used_b",), lambda: (float(library.nvmlDeviceGetMemoryInfo(handle).used),)),
        (("temperature_c",), lambda: (temperature_c(),)),
        (("sm_clock_mhz",), lambda: (clock_mhz(library.NVML_CLOCK_SM),)),
        (("memory_clock_mhz",), lambda: (clock_mhz(library.NVML_CLOCK_MEM),)),
        ((THROTTLE_REASONS,), lambda: (float(library.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),)),
    ]
