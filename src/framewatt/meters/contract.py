"""The contract of meters: a meter has channels, and gives readings of them with timestamps."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from framewatt.base.errors import FramewattError

COUNTER = "counter"
GAUGE = "gauge"

WITNESS = "witness"
"""Instrument name of the witness's channels. The witness is no meter: no study names it, and it does not measure
energy."""

Reading = tuple[int, int, float]
"""CLOCK_MONOTONIC nanoseconds, index of the channel, value in the channel's unit (NaN where the read failed)."""


@dataclass(frozen=True)
class Channel:
    """One series of readings.

    Attributes:
        instrument: name of the meter.
        domain: what is metered: `cpu:package-0`, `cpu:dram-0`, `cpu:psys`, `gpu:0`, `cpu:estimate`, `external:wall`.
        quantity: name with its unit: `energy_j`, `power_w`, `utilization_percent`, …
        kind: `counter` (cumulative) or `gauge`.
        update_period_s: seconds between two updates of the source.
        estimated: True where the value is computed from something other than measured energy or power.
        resolution: smallest step (last digit) of the source, in the quantity's unit.
        wrap: value at which a counter wraps to 0, or None.
        max_power_w: watts that the domain cannot exceed, or None where unknown.
        period_s: planned seconds between two readings; the sampling process fills it in.
        note: a caveat for readers of this channel's numbers, or an empty text; it becomes a flag of every window.
        average_s: seconds over which each value of a gauge is a mean, where that is known; 0 for an instantaneous
            value.
        average_most_s: upper limit of `average_s` where that is unknown.
        fit_window_s: seconds of the shortest window that the meter measures to 5 %, by its characterisation on this
            machine; 0 where unknown.
        rounds_each: whether a counter's readings are sums of differences that were rounded one by one.
        late_s: seconds by which a counter may lag, by its characterisation on this machine; 0 where unknown, or where
            the lag is within what windows allow for anyway.
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
    period_s: float = 0.0
    note: str = ""
    average_s: float = 0.0
    average_most_s: float = 0.0
    rounds_each: bool = False
    fit_window_s: float = 0.0
    late_s: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the channel as JSON-ready values."""
        # All are plain values. A deep copy would take a fifth of the time of writing a trace.
        return dict(vars(self))

    @classmethod
    def from_dict(cls, content: Any) -> "Channel":
        """Return the channel that `to_dict` described, with checks, since a trace from elsewhere may have any content.

        Raises:
            ValueError: the content describes no channel, with the reason.
        """
        if not isinstance(content, dict) or not set(content) <= set(_KINDS) or not set(_REQUIRED) <= set(content):
            raise ValueError("a channel has unknown fields, or lacks some")
        for name, value in content.items():
            if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and _KINDS[name] is not bool):
                raise ValueError(f"a channel has {value!r:.40} as its {name}")
            if isinstance(value, int | float) and not 0 <= value < _LARGEST:
                raise ValueError(f"a channel has {value!r:.40} as its {name}")
        if content["kind"] not in (COUNTER, GAUGE):
            raise ValueError(f"a channel has {content['kind']!r:.40} as its kind")
        return cls(**content)


_REQUIRED = ("instrument", "domain", "quantity", "kind", "update_period_s")
_KINDS: dict[str, Any] = {
    **dict.fromkeys(("instrument", "domain", "quantity", "kind", "note"), str),
    **dict.fromkeys(
        ("update_period_s", "resolution", "period_s", "average_s", "average_most_s", "fit_window_s", "late_s"),
        int | float,
    ),
    **dict.fromkeys(("wrap", "max_power_w"), int | float | None),
    **dict.fromkeys(("estimated", "rounds_each"), bool),
}
_LARGEST = 1e30
"""More than any period, power or energy; its square is still finite."""


class Meter(Protocol):
    """An instrument. Constructing it does not touch the machine; `open` does.

    It implements one of the two protocols below: it is polled at fixed times, or it streams readings of its own.
    """

    name: str
    period_s: float
    """Seconds between two readings: the period that the study requests, or the longer one of the instrument."""

    def available(self) -> tuple[bool, str]:
        """Return whether the instrument can be read here, and why or why not, with a remedy."""

    def open(self) -> list[Channel]:
        """Get ready to read, and return the channels.

        Raises:
            FramewattError: the instrument turns out not to be available.
        """


@runtime_checkable
class Polled(Meter, Protocol):
    """A meter that is polled at fixed times, and returns a value of every channel at once."""

    def values(self) -> list[float]:
        """Return one value per channel, in the order of the channels, NaN where its read failed."""

    def close(self) -> None:
        """Release what `open` acquired."""


@runtime_checkable
class Streamed(Meter, Protocol):
    """A meter that sends readings at its own pace, with their timestamps."""

    def stream(self) -> int | None:
        """Return a file descriptor that becomes readable when there are readings; None once there will be no more.

        A source that cannot signal new data, such as a growing file, returns None from the start and is polled instead.
        """

    def read(self) -> Sequence[Reading]:
        """Return the readings since the last call, in the order of their times within each channel."""

    def end(self) -> Sequence[Reading]:
        """Release what `open` acquired, and return the readings that were still under way."""


def require(meter: Meter) -> None:
    """Raise unless a meter can be read here; the first line of every `open`.

    Raises:
        FramewattError: the meter cannot be read, with the reason and a remedy.
    """
    ready, reason = meter.available()
    if not ready:
        raise FramewattError(f"meter {meter.name}: {reason}")


def unreadable(path: str | os.PathLike[str]) -> str | None:
    """Return the message of the system if a file cannot be read, else None. A byte is read to be sure."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        return error.strerror
    try:
        os.pread(descriptor, 1, 0)
    except OSError as error:
        return error.strerror
    finally:
        os.close(descriptor)
    return None
