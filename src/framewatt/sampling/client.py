"""Starts, watches and stops the sampling process."""

import json
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import WITNESS, Channel
from framewatt.meters.trace import Trace
from framewatt.sampling.raw import read_raw

_START_TIMEOUT_S = 30.0
_STOP_TIMEOUT_S = 15.0

_SHORTEST_SETTLE_S = 0.2
_SETTLE_PERIODS = 2
"""Periods to wait for a last reading: a program that prints every period may be late by part of one."""


class Sampler:
    """Starts, watches and stops the sampling process.

    Args:
        meters: names of the meters to read.
        options: the study's `instruments`.
        path: where the process writes its readings.
        witnessed: the file to which the measured process will write its events; with None there is no witness.
    """

    def __init__(
        self, meters: Sequence[str], options: Mapping[str, Any], path: Path, witnessed: Path | None = None
    ) -> None:
        self.path = path
        self.channels: tuple[Channel, ...] = ()
        request = {"meters": list(meters), "options": dict(options), "path": str(path)}
        self._request = json.dumps({**request, "witnessed": str(witnessed) if witnessed else None})
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the process and wait until it is sampling.

        Raises:
            FramewattError: a meter cannot be opened, or the process does not answer in time.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-m", "framewatt.sampling", self._request],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self._answer(_START_TIMEOUT_S)
        if line is None or "error" in line:
            self._process.kill()
            self._process.wait()
            raise FramewattError(line["error"] if line else "the sampling process did not start")
        self.channels = tuple(Channel(**channel) for channel in line["channels"])

    @property
    def settle_s(self) -> float:
        """Return the seconds until every meter has read once more, since a window needs readings after its end."""
        periods_s = [channel.period_s for channel in self.channels if channel.instrument != WITNESS]
        return max([_SHORTEST_SETTLE_S, *(_SETTLE_PERIODS * period_s for period_s in periods_s)])

    @property
    def pid(self) -> int:
        """Return the process id of the sampling process."""
        assert self._process is not None
        return self._process.pid

    def stop(self) -> dict[str, Any]:
        """End the process; its summary (see loop.py), or `error` if it died or hung."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        summary = None
        try:
            process.stdin.close()
            summary = self._answer(_STOP_TIMEOUT_S)
            process.wait(timeout=_STOP_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired):
            pass
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        return summary or {"error": "the sampling process died or hung"}

    def trace(self) -> Trace:
        """Return the readings so far, also of a process that died; an incomplete last reading is left out."""
        return read_raw(self.path, self.channels)

    def _answer(self, timeout_s: float) -> dict[str, Any] | None:
        assert self._process is not None
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], timeout_s)
        line = self._process.stdout.readline() if ready else ""
        return dict(json.loads(line)) if line.strip() else None
