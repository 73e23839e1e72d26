"""Readers of the sampling process: each `turn` reads a meter or the witness, or flushes the files."""

import math
import os
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

from framewatt.meters.contract import Polled, Streamed
from framewatt.sampling.raw import RawReadings, RawRows
from framewatt.witness.instrument import WITNESS_PERIOD_S, Witness

_FLUSH_S = 0.5
_LOOK_NS = 10_000_000
"""Period at which the file of events is polled, and so how late the witness may read at an edge of a window."""

_UNKNOWN_PERIODS = 10
"""The read time of a call that took this many periods is unknown: its values count as failed."""

_SLOW_S = 0.001
"""A meter that takes longer to answer, such as drivers of several GPUs, would delay the others."""


class OnTime:
    """Polls a meter at fixed times. A late reading does not shift later ones; skipped periods count as missed.

    Args:
        meter: opened.
        file: where its readings go.
        takes_s: seconds that it takes to answer when undisturbed.
    """

    def __init__(self, meter: Polled, file: RawRows, takes_s: float = 0.0) -> None:
        self.meter = meter
        self.file = file
        self.slow = takes_s > _SLOW_S
        self.due_ns = 0
        self.lateness_ns = array("q")  # a list takes five times the memory, and runs can last for days
        self.missed = 0
        self._period_ns = round(meter.period_s * 1e9)
        self._delayed_ns = max(self._period_ns, round(2 * takes_s * 1e9))

    def turn(self) -> None:
        """Read now."""
        started_ns = before_ns = time.monotonic_ns()
        values = self.meter.values()
        after_ns = time.monotonic_ns()
        if after_ns - before_ns > self._delayed_ns:
            # The process was delayed, before or after the actual read: read again.
            before_ns = after_ns
            values = self.meter.values()
            after_ns = time.monotonic_ns()
        if after_ns - before_ns >= _UNKNOWN_PERIODS * self._delayed_ns:
            values = [math.nan] * len(values)
        # The read happened between the two timestamps; the middle is the best estimate.
        self.file.append((before_ns + after_ns) // 2, values)
        self.lateness_ns.append(started_ns - self.due_ns)
        self.due_ns += self._period_ns
        if self.due_ns < after_ns:
            behind = (after_ns - self.due_ns) // self._period_ns + 1
            self.missed += behind
            self.due_ns += behind * self._period_ns

    def finish(self) -> None:
        """Read once more, and close."""
        self.file.append(time.monotonic_ns(), self.meter.values())
        self.meter.close()
        self.file.close()


class WhenReady:
    """Takes a meter's readings when its stream has some; without a stream, once per period.

    Args:
        meter: opened.
        file: takes its readings.
    """

    def __init__(self, meter: Streamed, file: RawReadings) -> None:
        self.meter = meter
        self.file = file
        self.due_ns = 0
        self._period_ns = round(meter.period_s * 1e9)

    def turn(self) -> None:
        """Take the readings that have arrived."""
        self.file.append(self.meter.read())
        self.due_ns = time.monotonic_ns() + self._period_ns

    def finish(self) -> None:
        """Take the readings that have arrived, close the meter, and take its last ones."""
        self.file.append(self.meter.read())
        self.file.append(self.meter.end())
        self.file.close()


class Witnessing:
    """Reads the witness soon after every edge of a window, and every `WITNESS_PERIOD_S` between them.

    The measured process does not signal this one: it writes its events to a file; its size is polled here.

    Args:
        witness: what is read.
        events: the file of the measured process's events, which need not exist yet.
        file: where its readings go.
    """

    def __init__(self, witness: Witness, events: Path, file: RawRows) -> None:
        self.file = file
        self.due_ns = 0
        self._witness, self._events = witness, str(events)
        self._size_b = 0
        self._next_ns = 0

    def turn(self) -> None:
        """Read the witness if the file of events has grown or a reading is due."""
        now_ns = time.monotonic_ns()
        # On the same time grid as the meters: otherwise the process would wake twice as often.
        self.due_ns += _LOOK_NS * max((now_ns - self.due_ns) // _LOOK_NS + 1, 1)
        try:
            size_b = os.stat(self._events).st_size  # noqa: PTH116 # twice as quick, a hundred times a second
        except OSError:
            size_b = 0
        if size_b != self._size_b or now_ns >= self._next_ns:
            self._size_b = size_b
            self._next_ns = now_ns + round(WITNESS_PERIOD_S * 1e9)
            self.file.append(*self._witness.read())

    def finish(self) -> None:
        """Read once more."""
        self.file.append(*self._witness.read())
        self.file.close()


Turns = OnTime | WhenReady | Witnessing
"""Everything that writes readings."""


class Flush:
    """Flushes the files to the operating system twice a second."""

    def __init__(self, tasks: Sequence[Turns]) -> None:
        self.due_ns = 0
        self._files = [task.file for task in tasks]

    def turn(self) -> None:
        """Flush now."""
        for file in self._files:
            file.flush()
        self.due_ns = time.monotonic_ns() + round(_FLUSH_S * 1e9)
