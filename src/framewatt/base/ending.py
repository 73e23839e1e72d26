"""Told to end: a signal takes the way out that Ctrl-C takes, so that folders and children go with the process."""

import contextlib
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

_UNTAKEN = {
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
}
"""What a scheduler, a `kill`, a terminal that closes or a user says, and what Python does then if nobody cares: it ends
at once, and leaves what it has made."""

_ONE_WORD_S = 2.0
"""Seconds within which a signal says the same again: shell, make and timeout each pass on what they get."""


class Ended(KeyboardInterrupt):
    """The process was told to end.

    Args:
        number: the signal's.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class _Endings:
    """What this process was told, and whether it may be told now."""

    def __init__(self) -> None:
        self.unbroken = 0
        self.waiting: int | None = None
        self._told_s = -_ONE_WORD_S

    @property
    def told(self) -> bool:
        """Whether it was told to end."""
        return self._told_s > 0

    def hear(self, number: int, _frame: FrameType | None) -> None:
        if self.unbroken:
            self.waiting = number
            return
        before_s, self._told_s = self._told_s, time.monotonic()
        if self._told_s - before_s >= _ONE_WORD_S:
            raise Ended(number)


_ENDINGS = _Endings()


@contextlib.contextmanager
def endings_heeded() -> Iterator[None]:
    """Within, these signals raise Ended, but for those that are ignored (as under nohup) or have a handler already.

    Once the process was told to end, it is on its way out, and SIGTERM or SIGHUP said again then is not heard.

    Raises:
        Ended: the process was told to end.
    """
    ours = {number: usual for number, usual in _UNTAKEN.items() if signal.getsignal(number) is usual}
    for number in ours:
        signal.signal(number, _ENDINGS.hear)
    try:
        yield
    finally:
        for number, usual in ours.items():
            # What would end it at once would leave what it has not yet tidied up.
            deaf = _ENDINGS.told and usual is signal.SIG_DFL
            signal.signal(number, signal.SIG_IGN if deaf else usual)


@contextlib.contextmanager
def unbroken() -> Iterator[None]:
    """Within, an ending that is heeded waits; it is for what is short and must be done as a whole.

    Raises:
        Ended: the process was told to end meanwhile.
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
    """A folder that is removed in the end, also where the process is told to end while it is being removed."""
    folder = tempfile.TemporaryDirectory(prefix="framewatt-")
    try:
        yield Path(folder.name)
    finally:
        with unbroken():
            folder.cleanup()
