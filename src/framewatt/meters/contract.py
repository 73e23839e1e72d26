"""What a meter is: a set of channels, and readings of them that carry their own times."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

from framewatt.base.errors import FramewattError

COUNTER = "counter"
GAUGE = "gauge"

WITNESS = "witness"
"""The instrument of the channels that a run's witness reads. It is no meter: no study names it, and it says nothing of
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
        estimated: True where the value is computed from something other than energy or power.
        resolution: last digit of the source, in the quantity's unit.
        wrap: value at which a counter starts again from 0, or None.
        max_power_w: watts that the domain cannot exceed, or None where unknown.
        period_s: seconds between two readings as planned; the sampling process fills it in.
        note: what a reader of this channel's numbers must know, or an empty text; it becomes a flag of every window.
        average_s: seconds over which each value of a gauge is a mean, where that is known; 0 for an instant.
        average_most_s: seconds over which it may be one, where that is not known.
        fit_window_s: seconds of the shortest window for which the meter is fit to 5 %, as it was characterised on this
            machine; 0 where that is not known.
        rounds_each: whether each reading of a counter is the one before and a difference that was rounded by itself.
        late_s: seconds by which what a counter shows may be late, as it was characterised on this machine; 0 where that
            is not known, or less than windows allow for anyhow.
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
        """The channel as JSON-ready values."""
        return asdict(self)

    @classmethod
    def of_dict(cls, content: Any) -> "Channel":
        """The channel that `to_dict` told of; a trace from elsewhere may tell of anything.

        Raises:
            ValueError: it is none, in words.
        """
        if not isinstance(content, dict) or not set(content) <= set(_KINDS) or not set(_REQUIRED) <= set(content):
            raise ValueError("a channel of other fields than a channel has")
        for name, value in content.items():
            if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and _KINDS[name] is not bool):
                raise ValueError(f"a channel whose {name} is {value!r:.40}")
            if isinstance(value, int | float) and not 0 <= value < _LARGEST:
                raise ValueError(f"a channel whose {name} is {value!r:.40}")
        if content["kind"] not in (COUNTER, GAUGE):
            raise ValueError(f"a channel of the kind {content['kind']!r:.40}")
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
"""Beyond any period, watt or joule; squares of it are still numbers."""


class Meter(Protocol):
    """An instrument. Made without touching the machine; `open` does that.

    It keeps one of the two contracts below: it is asked on time, or it tells when it has something to say.
    """

    name: str
    period_s: float
    """Seconds between two readings: what the study asks for, or the instrument's own pace where that is slower."""

    def available(self) -> tuple[bool, str]:
        """Whether the instrument can be read here, and why (not), with how to mend it."""

    def open(self) -> list[Channel]:
        """Get ready to read; the channels that the readings are of.

        Raises:
            FramewattError: the instrument is not there after all.
        """


@runtime_checkable
class Polled(Meter, Protocol):
    """A meter that is asked on time, and answers at once for all its channels together."""

    def values(self) -> list[float]:
        """One value a channel, in the channels' order, NaN where its read failed."""

    def close(self) -> None:
        """Let go of what `open` took."""


@runtime_checkable
class Streamed(Meter, Protocol):
    """A meter whose readings come when they come, with times of their own."""

    def stream(self) -> int | None:
        """A file descriptor that can be read once there are readings; None once there will be no more.

        A meter that nothing wakes, such as a file that grows, has none from the start: it is asked on time.
        """

    def read(self) -> Sequence[Reading]:
        """The readings since the last call, in the order of their times within each channel."""

    def end(self) -> Sequence[Reading]:
        """Let go of what `open` took; the readings that were still under way."""


def require(meter: Meter) -> None:
    """Go on only if a meter can be read here; the first line of every `open`.

    Raises:
        FramewattError: it cannot, and why.
    """
    ready, reason = meter.available()
    if not ready:
        raise FramewattError(f"meter {meter.name}: {reason}")


def unreadable(path: str | os.PathLike[str]) -> str | None:
    """Why a file cannot be read, in the system's words, or None where it can. Its content is really read."""
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
