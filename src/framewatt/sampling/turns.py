"""What the sampling process does when it is the turn of a meter, of the witness, or of its files."""

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
"""How often the events of the measured process are looked at: so late may the witness be at an edge of a window."""

_UNKNOWN_PERIODS = 10
"""A call that took as many periods read at an instant that nobody knows: its values count as failed."""

_SLOW_S = 0.001
"""A meter that takes longer to answer, as drivers of several GPUs do, would keep the others waiting."""


class OnTime:
    """Reads a meter at fixed times. A late reading does not shift the later ones; periods slept through are missed.

    Args:
        meter: opened.
        file: takes its readings.
        takes_s: seconds that it takes to answer when nothing holds it up.
    """

    def __init__(self, meter: Polled, file: RawRows, takes_s: float = 0.0) -> None:
        self.meter = meter
        self.file = file
        self.slow = takes_s > _SLOW_S
        self.due_ns = 0
        self.lateness_ns = array("q")  # a list would take five times the memory, and runs can last for days
        self.missed = 0
        self._period_ns = round(meter.period_s * 1e9)
        self._held_up_ns = max(self._period_ns, round(2 * takes_s * 1e9))

    def turn(self) -> None:
        """Read now."""
        began_ns = before_ns = time.monotonic_ns()
        values = self.meter.values()
        after_ns = time.monotonic_ns()
        if after_ns - before_ns > self._held_up_ns:
            # The process was held up in the middle, and nobody knows on which side of that it read: read again.
            before_ns = after_ns
            values = self.meter.values()
            after_ns = time.monotonic_ns()
        if after_ns - before_ns >= _UNKNOWN_PERIODS * self._held_up_ns:
            values = [math.nan] * len(values)
        # The reading happened somewhere between the two stamps; the middle is the best guess.
        self.file.append((before_ns + after_ns) // 2, values)
        self.lateness_ns.append(began_ns - self.due_ns)
        self.due_ns += self._period_ns
        if self.due_ns < after_ns:
            behind = (after_ns - self.due_ns) // self._period_ns + 1
            self.missed += behind
            self.due_ns += behind * self._period_ns

    def finish(self) -> None:
        """Read once more, and let go."""
        self.file.append(time.monotonic_ns(), self.meter.values())
        self.meter.close()
        self.file.close()


class WhenReady:
    """Takes a meter's readings when its stream has some; on time where it has no stream.

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
        """Take what there is."""
        self.file.append(self.meter.read())
        self.due_ns = time.monotonic_ns() + self._period_ns

    def finish(self) -> None:
        """Take what there is, let go, and take what was under way."""
        self.file.append(self.meter.read())
        self.file.append(self.meter.end())
        self.file.close()


class Witnessing:
    """Takes a reading of the witness soon after every edge of a window, and now and then between them.

    The measured process says nothing to this one: it writes its events to a file, whose size is looked at.

    Args:
        witness: what is read.
        events: the file of the measured process's events, which need not be there yet.
        file: takes the readings.
    """

    def __init__(self, witness: Witness, events: Path, file: RawRows) -> None:
        self.file = file
        self.due_ns = 0
        self._witness, self._events = witness, str(events)
        self._size_b = 0
        self._next_ns = 0

    def turn(self) -> None:
        """Look at the events, and read where there are new ones, or where it is time to."""
        now_ns = time.monotonic_ns()
        # On the same grid as meters are read on: else the process would wake twice as often.
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
"""All that writes readings."""


class Flush:
    """Hands over to the system, now and then, what was written."""

    def __init__(self, tasks: Sequence[Turns]) -> None:
        self.due_ns = 0
        self._files = [task.file for task in tasks]

    def turn(self) -> None:
        """Hand it over now."""
        for file in self._files:
            file.flush()
        self.due_ns = time.monotonic_ns() + round(_FLUSH_S * 1e9)
