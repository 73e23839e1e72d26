"""Raw readings of meters."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from framewatt.meters.contract import Channel


class Readings(ABC):
    """Readings of several channels, which can be read channel by channel.

    Attributes:
        channels: all of them.
    """

    channels: tuple[Channel, ...]

    @abstractmethod
    def read_channel(self, index: int) -> tuple[Any, Any]:
        """Return times and values of a channel, shape (n,): CLOCK_MONOTONIC nanoseconds, NaN where a read failed."""

    def inside(self, index: int, spans: Sequence[tuple[int, int]]) -> Any:
        """Return the good readings of a channel inside the parts of a window.

        Args:
            index: of the channel.
            spans: start and end of each part in nanoseconds.
        """
        time_ns, value = self.read_channel(index)
        starts, ends = np.array(spans, np.int64).T
        first, behind = np.searchsorted(time_ns, starts, side="left"), np.searchsorted(time_ns, ends, side="right")
        values = np.concatenate([value[a:b] for a, b in zip(first, behind, strict=True)])
        return values[np.isfinite(values)]


@dataclass(frozen=True)
class Trace(Readings):
    """Raw readings in memory.

    Attributes:
        channels: the channels; `channel` is an index into them.
        monotonic_ns: shape (n,), CLOCK_MONOTONIC of each reading.
        channel: shape (n,), index into `channels`.
        value: shape (n,), in the channel's unit, NaN where the read failed.
    """

    channels: tuple[Channel, ...]
    monotonic_ns: Any
    channel: Any
    value: Any

    def read_channel(self, index: int) -> tuple[Any, Any]:
        """Return times and values of a channel, see Readings."""
        if len(self.channels) == 1:
            return self.monotonic_ns, self.value
        if (bounds := self._bounds) is not None:
            its = slice(bounds[index], bounds[index + 1])
            return self.monotonic_ns[its], self.value[its]
        mask = self.channel == index
        return self.monotonic_ns[mask], self.value[mask]

    @cached_property
    def _bounds(self) -> Any:
        """Return the index at which each channel starts, and the end, shape (channels + 1,); None where mixed."""
        channel = np.asarray(self.channel)
        if (channel[1:] < channel[:-1]).any():
            return None
        return np.searchsorted(channel, np.arange(len(self.channels) + 1))


def joined(traces: Sequence[Trace]) -> Trace:
    """Return several traces as one trace, channels in their order; traces without channels add nothing.

    Args:
        traces: at least one that has a channel.
    """
    traces = [trace for trace in traces if trace.channels]
    if len(traces) == 1:
        return traces[0]
    firsts = np.cumsum([0, *(len(trace.channels) for trace in traces[:-1])])
    return Trace(
        tuple(channel for trace in traces for channel in trace.channels),
        np.concatenate([trace.monotonic_ns for trace in traces]),
        np.concatenate([trace.channel + np.int32(first) for trace, first in zip(traces, firsts, strict=True)]),
        np.concatenate([trace.value for trace in traces]),
    )
