"""A thread of the sampling process for a slow meter, so that the others need not wait for it."""

import threading
import time

from framewatt.base.errors import FramewattError
from framewatt.sampling.turns import OnTime


class SlowMeter(threading.Thread):
    """Polls a slow meter in a thread of its own; a driver's call does not hold Python's GIL, so others need not wait.

    Args:
        task: reads the meter.
        started_ns: CLOCK_MONOTONIC at which all meters begin.
    """

    def __init__(self, task: OnTime, started_ns: int) -> None:
        super().__init__(daemon=True)
        self._task = task
        self._task.due_ns = started_ns
        self._ended = threading.Event()
        self.error: Exception | None = None

    def run(self) -> None:
        """Read until `end`."""
        try:
            while not self._ended.wait(max(self._task.due_ns - time.monotonic_ns(), 0) * 1e-9):
                self._task.turn()
        except (FramewattError, OSError) as error:
            self.error = error

    def end(self) -> None:
        """Read no more.

        Raises:
            FramewattError, OSError: the error that ended the thread early.
        """
        self._ended.set()
        self.join()
        if self.error:
            raise self.error
