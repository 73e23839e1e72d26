"""A thread of the sampling process in which a slow meter is read, and the others need not wait."""

import threading
import time

from framewatt.base.errors import FramewattError
from framewatt.sampling.turns import OnTime


class Apart(threading.Thread):
    """Reads a slow meter at its times, and the others need not wait: a driver's call holds no lock of Python's.

    Args:
        task: of the meter.
        started_ns: when all begin.
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
            FramewattError, OSError: what ended it before.
        """
        self._ended.set()
        self.join()
        if self.error:
            raise self.error
