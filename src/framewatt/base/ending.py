"""Termination signals are handled like Ctrl-C, so that a process cleans up its folders and children."""

import contextlib
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

_DEFAULT_HANDLERS = {
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
}
"""Signals of a scheduler, `kill`, a closing terminal or a user, with Python's default handlers. Those end the process
at once, without cleaning up."""

_SAME_SIGNAL_S = 2.0
"""Seconds within which a repeated signal counts as the same signal: shell, make and timeout each forward it."""


class Ended(KeyboardInterrupt):
    """The process received a signal to end.

    Args:
        number: the signal's number.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class _Endings:
    """Signals that this process has received, and whether they are held back now."""

    def __init__(self) -> None:
        self.unbroken = 0
        self.waiting: int | None = None
        self._requested_s = -_SAME_SIGNAL_S

    @property
    def requested(self) -> bool:
        """Return whether its end was requested."""
        return self._requested_s > 0

    def hear(self, number: int, _frame: FrameType | None) -> None:
        if self.unbroken:
            self.waiting = number
            return
        before_s, self._requested_s = self._requested_s, time.monotonic()
        if self._requested_s - before_s >= _SAME_SIGNAL_S:
            raise Ended(number)


_ENDINGS = _Endings()


@contextlib.contextmanager
def endings_heeded() -> Iterator[None]:
    """Inside the block, termination signals raise Ended, unless they are ignored (as under nohup) or handled already.

    After the first signal the process is already ending, and further SIGTERM or SIGHUP are ignored.

    Raises:
        Ended: the process received a signal to end.
    """
    ours = {number: handler for number, handler in _DEFAULT_HANDLERS.items() if signal.getsignal(number) is handler}
    for number in ours:
        signal.signal(number, _ENDINGS.hear)
    try:
        yield
    finally:
        for number, handler in ours.items():
            # The default handlers would end the process before it has cleaned up.
            ignored = _ENDINGS.requested and handler is signal.SIG_DFL
            signal.signal(number, signal.SIG_IGN if ignored else handler)


@contextlib.contextmanager
def unbroken() -> Iterator[None]:
    """Inside the block, termination signals are deferred; for short operations that must not be interrupted.

    Raises:
        Ended: the process received a signal to end meanwhile.
    """
    _ENDINGS.unbroken += 1
    try:
        yield
    finally:
        _ENDINGS.unbroken -= 1
        number, _ENDINGS.waiting = _ENDINGS.waiting, None
        if number is not None:
            _ENDINGS.hear(number, None)


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a temporary folder; its removal is completed even if a termination signal arrives meanwhile."""
    folder = tempfile.TemporaryDirectory(prefix="framewatt-")
    try:
        yield Path(folder.name)
    finally:
        with unbroken():
            folder.cleanup()
