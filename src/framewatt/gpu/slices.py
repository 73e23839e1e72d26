"""Runs Snakemake for a limited time and stops it so that nothing is lost but the job that runs at the very end."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.runs.verdict import OK
from framewatt.stopping.expected import span_s

PACKING_S = 12.0
"""Seconds at the end of a slice in which nothing runs any more and results are packed."""

FIRST_S = 45.0
"""Longest run that is expected before any was measured, seconds."""

_BETWEEN_S = 2.0
"""What Snakemake takes between two runs, at most."""

_ENDING_S = 5.0
"""Seconds that jobs get to end after an interrupt."""

_LOOK_S = 10.0
"""Seconds between two looks at how long runs take; more looks would disturb them."""


def seconds_of(text: str) -> float:
    """Return the seconds of a length of time such as `8m`, `90s` or `1h`.

    Raises:
        FramewattError: it is none.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h)", text.strip())
    if not match or not float(match[1]):
        raise FramewattError(f"SLICE: {text!r} is not a length of time. Use 8m, 90s or 1h.")
    return float(match[1]) * {"s": 1, "m": 60, "min": 60, "h": 3600}[match[2]]


@dataclass(frozen=True)
class Slice:
    """The time that there is.

    Attributes:
        end_s: on `time.monotonic`, infinite where there is no limit.
    """

    end_s: float

    @property
    def left_s(self) -> float:
        """Seconds until results are packed."""
        return self.end_s - PACKING_S - time.monotonic()

    def run(self, words: Sequence[str | Path], longest_s: Callable[[], float]) -> int | None:
        """Run Snakemake; return its exit code, or None where the slice ended first.

        When the time that is left is shorter than the longest job, Snakemake gets SIGTERM, after which it starts no
        further job and waits for the one that runs. A job that still runs at the end is interrupted, and the next call
        makes it again.

        Args:
            words: of Snakemake's command line.
            longest_s: the longest job so far, seconds.
        """
        # A group of its own, so that the end of a slice ends the jobs, too.
        process = subprocess.Popen([sys.executable, "-m", "snakemake", "--cores", "1", *words], start_new_session=True)
        ended = threading.Event()

        def wait() -> None:
            process.wait()
            ended.set()

        threading.Thread(target=wait, daemon=True).start()
        try:
            while not ended.wait(min(max(self.left_s - longest_s(), 0.0), _LOOK_S)):
                if self.left_s > longest_s():
                    continue
                process.terminate()
                if not ended.wait(max(self.left_s, 0.0)):
                    _interrupt(process, ended)
                return None
        except BaseException:
            _interrupt(process, ended)
            raise
        return process.returncode


def _interrupt(process: "subprocess.Popen[bytes]", ended: threading.Event) -> None:
    """Interrupt Snakemake and its jobs, as Ctrl-C does, and wait until they have ended."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if not ended.is_set():
            os.killpg(process.pid, number)
            ended.wait(_ENDING_S)


def longest_run_s(results: Path, study: str) -> float:
    """Return how long the longest run of a study takes with its rest, seconds.

    Before its first run it is that of any other study, and before any run what is expected.

    Args:
        results: the folder of all results.
        study: its name.
    """
    of_any = (filter(None, map(_took_s, results.glob(f"{name}/measure/*/*/run.json"))) for name in (study, "*"))
    return next((max(spans_s) for runs in of_any if (spans_s := list(runs))), FIRST_S) + _BETWEEN_S


def _took_s(path: Path) -> float | None:
    """Return seconds of a run that went well: one that hung until its time limit is no guide to the next."""
    try:
        record = read_json(path)
        start_s, end_s = span_s(record)
        return end_s - start_s if record["status"] == OK else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
