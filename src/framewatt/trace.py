"""Raw readings of meters."""

from dataclasses import dataclass
from typing import Any

from framewatt.meters.contract import Channel


@dataclass(frozen=True)
class Trace:
    """Raw readings.

    Attributes:
        channels: what `channel` numbers.
        monotonic_ns: shape (n,), CLOCK_MONOTONIC of each reading.
        channel: shape (n,), index into `channels`.
        value: shape (n,), in the channel's unit, NaN where the read failed.
    """

    channels: tuple[Channel, ...]
    monotonic_ns: Any
    channel: Any
    value: Any

    def of(self, index: int) -> tuple[Any, Any]:
        """Times and values of one channel."""
        if len(self.channels) == 1:
            return self.monotonic_ns, self.value
        mask = self.channel == index
        return self.monotonic_ns[mask], self.value[mask]
