"""Lines of a program that runs at the same time as the measurement and prints readings."""

import os
import subprocess
from collections.abc import Sequence

from framewatt.base.errors import FramewattError

_STOP_TIMEOUT_S = 5.0


class Lines:
    """A program with output that is taken line by line, without blocking.

    Args:
        command: the program and its arguments.
        stop_signal: the signal on which it prints its remaining output and ends.
    """

    def __init__(self, command: Sequence[str], stop_signal: int) -> None:
        self._stop_signal = stop_signal
        self._rest = b""
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                # Numbers with a decimal point, whatever the user's language.
                env={**os.environ, "LC_ALL": "C"},
                start_new_session=True,
            )
        except OSError as error:
            raise FramewattError(
                f"{command[0]} cannot be started ({error.strerror}). Install it, or name another meter."
            ) from error
        assert self._process.stdout is not None
        self._descriptor = self._process.stdout.fileno()
        self._at_end = False
        os.set_blocking(self._descriptor, False)

    @property
    def ended(self) -> bool:
        """Return whether the program has ended by itself."""
        return self._process.poll() is not None

    @property
    def stream(self) -> int | None:
        """Return the descriptor of its output; None once there will be no more."""
        return None if self._at_end else self._descriptor

    def take(self) -> list[str]:
        """Return the whole lines since the last call."""
        chunks = [self._rest]
        while True:
            try:
                chunk = os.read(self._descriptor, 65536)
            except BlockingIOError:
                break
            if not chunk:
                self._at_end = True
                break
            chunks.append(chunk)
        *lines, self._rest = b"".join(chunks).split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def stop(self) -> list[str]:
        """End the program, and return its remaining lines."""
        if not self.ended:
            self._process.send_signal(self._stop_signal)
        try:
            self._process.wait(timeout=_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        lines = self.take()
        assert self._process.stdout is not None
        self._process.stdout.close()
        return lines
