"""What a meter is: a set of channels that are read together."""

from dataclasses import asdict, dataclass
from typing import Any, Protocol

COUNTER = "counter"
GAUGE = "gauge"


@dataclass(frozen=True)
class Channel:
    """One series of readings.

    Attributes:
        instrument: name of the meter.
        domain: what is metered: `cpu:package-0`, `cpu:dram-0`, `cpu:psys`, `gpu:0`, `cpu:estimate`.
        quantity: name with its unit: `energy_j`, `power_w`, `utilization_percent`, …
        kind: `counter` (cumulative) or `gauge`.
        estimated: True where the value is computed from something other than energy or power.
        update_period_s: seconds between two updates of the source.
        resolution: last digit of the source, in the quantity's unit.
        wrap: value at which a counter starts again from 0, or None.
        max_power_w: watts that the domain cannot exceed, or None where unknown.
    """

    instrument: str
    domain: str
    quantity: str
    kind: str
    update_period_s: float
    estimated: bool = False
    resolution: float = 0.0
    wrap: float | None = None
    max_power_w: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The channel as JSON-ready values."""
        return asdict(self)


class Meter(Protocol):
    """An instrument. Made without touching the machine; `open` does that."""

    name: str
    update_period_s: float

    def available(self) -> tuple[bool, str]:
        """Whether the instrument can be read here, and why (not), with how to mend it."""

    def open(self) -> list[Channel]:
        """Get ready to read; the channels in the order in which `read` returns their values.

        Raises:
            FramewattError: the instrument is not there after all.
        """

    def read(self) -> list[float]:
        """One value a channel, NaN where its read failed."""

    def close(self) -> None:
        """Let go of what `open` took."""
