"""A clock that moves only while a simulated process waits, and what keeps that process from running."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hardware.script import Script

S = 1_000_000_000
ORIGIN_NS = 1_000 * S
"""CLOCK_MONOTONIC of the script's second 0."""

EPOCH_NS = 1_700_000_000 * S
"""Wall time less CLOCK_MONOTONIC."""

_CALL_S = 4e-6
"""Seconds that reading the clock takes."""

_WAKE_S = 1e-4
"""Mean time between an instant that the process waits for and the first thing that it then does."""


@dataclass(frozen=True)
class Disturbance:
    """What happens to the sampling process; seconds are the script's.

    Attributes:
        pauses: spans in which the process does not run; an infinite end is a kill.
        starved: span in which other programs take the processors from it again and again.
        clock_step_s: when the wall clock is set an hour ahead.
        disk_b: size of the disk that takes the trace; None is as large as need be.
    """

    pauses: tuple[tuple[float, float], ...] = ()
    starved: tuple[float, float] | None = None
    clock_step_s: float = np.inf
    disk_b: int | None = None


UNDISTURBED = Disturbance()
"""Nothing happens to the process."""


class Killed(BaseException):
    """SIGKILL: no handler of the process sees it."""


class Time:
    """Takes the place of the module `time`. It moves while the process waits, and a little with each call."""

    def __init__(self, script: Script, start_s: float, disturbance: Disturbance, rng: np.random.Generator) -> None:
        self.now_ns = script.start_ns + round(start_s * S)
        self.moved: Callable[[float], None] = lambda _: None
        self._origin_ns = script.start_ns
        self._disturbance, self._rng = disturbance, rng

    @property
    def now_s(self) -> float:
        """Second of the script."""
        return (self.now_ns - self._origin_ns) * 1e-9

    def advance_to(self, instant_ns: int) -> None:
        """Let time pass, and more of it where the process does not run."""
        before_s, after_s = self.now_s, max((instant_ns - self._origin_ns) * 1e-9, self.now_s)
        if (span := self._disturbance.starved) and span[0] <= after_s < span[1] and self._rng.random() < 0.01:
            after_s += self._rng.exponential(0.06)
        for begin_s, end_s in self._disturbance.pauses:
            if before_s < begin_s <= after_s:
                after_s = max(after_s, end_s)
        if after_s == np.inf:
            raise Killed
        self.now_ns = self._origin_ns + round(after_s * S)
        self.moved(after_s)

    def wait_until(self, instant_ns: int) -> None:
        """Let the process sleep; it wakes a little late."""
        self.advance_to(instant_ns + round(self._rng.exponential(_WAKE_S) * S))

    def sleep(self, seconds: float) -> None:
        self.wait_until(self.now_ns + round(seconds * S))

    def monotonic_ns(self) -> int:
        self.advance_to(self.now_ns + round(_CALL_S * S))
        return self.now_ns

    def monotonic(self) -> float:
        return self.monotonic_ns() * 1e-9

    def perf_counter(self) -> float:
        return self.monotonic_ns() * 1e-9

    def process_time_ns(self) -> int:
        return self.now_ns // 100

    def time_ns(self) -> int:
        """Wall time, as whoever sets the clock lets this process see it."""
        step_s = 3600 if self.now_s > self._disturbance.clock_step_s else 0
        return self.monotonic_ns() + EPOCH_NS + step_s * S
