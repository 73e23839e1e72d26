"""What a meter shows of a load: its updates, lag, averaging, last digit and the times at which it is read."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from framewatt.meters.contract import COUNTER, GAUGE, Channel
from simulated.loads import Load

Nanoseconds = NDArray[np.int64]
Values = NDArray[np.float64]


_UNIT_J = 61e-6
"""The usual energy unit of RAPL."""


@dataclass(frozen=True)
class SimulatedMeter:
    """A meter that is right but for what real ones do.

    Attributes:
        channel: what framewatt takes it for.
        updates_s: shortest and longest time between two updates.
        lag_s: shortest and longest delay of what an update shows.
        average_s: seconds over which shown power is a mean; 0 for an instant.
        late_s: mean lateness of a reading, exponential.
        most_w: watts of the domain at full load.
    """

    channel: Channel
    updates_s: tuple[float, float]
    lag_s: tuple[float, float] = (0.0, 0.0)
    average_s: float = 0.0
    late_s: float = 0.0002
    most_w: float = 300.0

    def read(self, load: Load, rng: np.random.Generator) -> tuple[Nanoseconds, Values]:
        """Times and values of every reading of a load."""
        end_s = len(load.power_w) * 0.001
        updates = self._updates(rng, end_s)
        period = self.channel.period_s
        due = np.arange(rng.random() * period, end_s, period)
        read = np.sort(due + rng.exponential(self.late_s, len(due)))
        shown_at = updates[np.clip(np.searchsorted(updates, read, side="right") - 1, 0, None)]
        seen = shown_at - rng.uniform(*self.lag_s)
        digit = self.channel.resolution
        if self.channel.kind == COUNTER:
            value = load.energy_to(seen) + rng.uniform(0, 1000)
        elif self.average_s:
            value = (load.energy_to(seen) - load.energy_to(seen - self.average_s)) / self.average_s
        else:
            value = load.power_at(seen)
        if self.channel.rounds_each:
            lines = np.diff(np.floor(value / _UNIT_J) * _UNIT_J, prepend=value[0])
            value = np.cumsum(np.round(lines / self.channel.resolution) * self.channel.resolution)
        elif digit:
            value = np.floor(value / digit) * digit
        return np.round(read * 1e9).astype(np.int64), value

    def _updates(self, rng: np.random.Generator, end_s: float) -> Values:
        mean = sum(self.updates_s) / 2
        widths = rng.uniform(*self.updates_s, size=int((end_s + 3) / mean * 1.2) + 10)
        return np.cumsum(widths) - 3 - rng.random() * mean


def _channel(instrument: str, quantity: str, kind: str, update_s: float, period_s: float, **more: float) -> Channel:
    return Channel(
        instrument, "gpu:0" if kind == GAUGE else "cpu:package-0", quantity, kind, update_s, period_s=period_s, **more
    )


RAPL = SimulatedMeter(_channel("rapl", "energy_j", COUNTER, 0.001, 0.01, resolution=61e-6), (0.0008, 0.0012))
PERF_DRAM = SimulatedMeter(
    _channel("perf", "energy_j", COUNTER, 0.001, 0.1, resolution=1e-6, rounds_each=True), (0.0008, 0.0012), most_w=4.0
)
PERF_CSV = replace(PERF_DRAM, channel=replace(PERF_DRAM.channel, resolution=0.01))
NVML_COUNTER = SimulatedMeter(
    _channel("nvml", "energy_j", COUNTER, 0.1, 0.02, resolution=1e-3), (0.08, 0.12), (0.0, 0.02)
)
NVML_QUICK = replace(NVML_COUNTER, updates_s=(0.018, 0.022), lag_s=(0.0, 0.005))
INSTANT = SimulatedMeter(
    _channel("nvml", "power_instant_w", GAUGE, 0.1, 0.02, resolution=1e-3), (0.08, 0.12), (0.0, 0.02)
)
AVERAGE = SimulatedMeter(
    _channel("nvml", "power_average_w", GAUGE, 0.1, 0.02, resolution=1e-3, average_s=1.0),
    (0.08, 0.12),
    (0.0, 0.02),
    average_s=1.0,
)
SMI = SimulatedMeter(
    _channel("nvidia-smi", "power_average_w", GAUGE, 0.1, 1.0, resolution=0.01, average_most_s=1.0),
    (0.08, 0.12),
    (0.0, 0.02),
    1.0,
    late_s=0.01,
)
SMI_INSTANT = replace(SMI, average_s=0.0)

METERS = {
    "rapl": RAPL,
    "perf, DRAM of 4 W": PERF_DRAM,
    "perf before 6.0, DRAM of 4 W": PERF_CSV,
    "nvml counter": NVML_COUNTER,
    "nvml counter, 20 ms": NVML_QUICK,
    "nvml instant power": INSTANT,
    "nvml averaged power": AVERAGE,
    "nvidia-smi 1 Hz, averaging GPU": SMI,
    "nvidia-smi 1 Hz, older GPU": SMI_INSTANT,
}
"""Each at framewatt's defaults."""


def late(meter: SimulatedMeter, lag_s: float, average_s: float = 0.0, **channel: float) -> SimulatedMeter:
    """The same meter with another lag, averaging span and channel.

    Args:
        meter: that it is made of.
        lag_s: seconds by which it is late.
        average_s: seconds over which its values are means.
        channel: fields of its channel that differ.
    """
    return replace(meter, lag_s=(lag_s, lag_s), average_s=average_s, channel=replace(meter.channel, **channel))
