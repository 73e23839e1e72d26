"""The sampling process: reads meters at fixed times and appends every reading to a file.

It is a process of its own so that the measured program's interpreter never waits for it. `Sampler` starts and
stops one; `python -m framewatt.sampler` is the process. It ends when its standard input closes, so that it
cannot outlive whoever started it.
"""

import json
import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.errors import FramewattError
from framewatt.meters import make_meter
from framewatt.meters.contract import Channel, Meter
from framewatt.trace import Trace

_READING = struct.Struct("<qid")
_READING_DTYPE = np.dtype([("monotonic_ns", "<i8"), ("channel", "<i4"), ("value", "<f8")])
_FLUSH_S = 0.5
_START_TIMEOUT_S = 30.0
_STOP_TIMEOUT_S = 10.0


class Sampler:
    """Starts, watches and stops the sampling process.

    Args:
        meters: names of the meters to read.
        options: the study's `instruments`.
        path: where the process writes its readings.
    """

    def __init__(self, meters: Sequence[str], options: Mapping[str, Any], path: Path) -> None:
        self.path = path
        self.channels: tuple[Channel, ...] = ()
        self._request = json.dumps({"meters": list(meters), "options": dict(options), "path": str(path)})
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the process and wait until it samples.

        Raises:
            FramewattError: a meter cannot be opened, or the process says nothing in time.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-m", "framewatt.sampler", self._request],
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
    def pid(self) -> int:
        """Process id of the sampling process."""
        assert self._process is not None
        return self._process.pid

    def stop(self) -> dict[str, Any] | None:
        """End the process; how it did (see `_summary`), or None where it had died or hung."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.close()
            summary = self._answer(_STOP_TIMEOUT_S)
            process.wait(timeout=_STOP_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired):
            summary = None
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        return summary

    def trace(self) -> Trace:
        """What was sampled, also by a process that died; a reading cut short at the end of the file is left out."""
        data = self.path.read_bytes() if self.path.exists() else b""
        whole = len(data) // _READING_DTYPE.itemsize * _READING_DTYPE.itemsize
        readings = np.frombuffer(data[:whole], dtype=_READING_DTYPE)
        return Trace(self.channels, readings["monotonic_ns"], readings["channel"], readings["value"])

    def _answer(self, timeout_s: float) -> dict[str, Any] | None:
        assert self._process is not None
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], timeout_s)
        line = self._process.stdout.readline() if ready else ""
        return dict(json.loads(line)) if line.strip() else None


@dataclass
class _Schedule:
    """A meter and when it is read next."""

    meter: Meter
    first_channel: int
    period_ns: int
    next_ns: int


def main(request: str) -> int:
    """Sample until standard input closes; the body of the process.

    Args:
        request: JSON with `meters`, `options` and `path`.
    """
    settings = json.loads(request)
    meters = [make_meter(name, settings["options"]) for name in settings["meters"]]
    channels: list[Channel] = []
    schedules: list[_Schedule] = []
    try:
        for meter in meters:
            first = len(channels)
            channels += meter.open()
            period_ns = round(max(settings["options"]["period_s"], meter.update_period_s) * 1e9)
            schedules.append(_Schedule(meter, first, period_ns, time.monotonic_ns()))
    except FramewattError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return 1
    with Path(settings["path"]).open("wb") as file:
        print(json.dumps({"channels": [channel.to_dict() for channel in channels]}), flush=True)
        summary = _sample(schedules, file)
        file.flush()
        os.fsync(file.fileno())
    for meter in meters:
        meter.close()
    print(json.dumps(summary), flush=True)
    return 0


def _sample(schedules: list[_Schedule], file: Any) -> dict[str, Any]:
    """Read every meter at its times until standard input closes."""
    lateness_ns: list[int] = []
    missed = 0
    started_ns, cpu_started_ns = time.monotonic_ns(), time.process_time_ns()
    flush_at_ns = started_ns
    while True:
        due_ns = min(schedule.next_ns for schedule in schedules)
        wait_s = max(due_ns - time.monotonic_ns(), 0) * 1e-9
        if select.select([sys.stdin], [], [], wait_s)[0]:
            break
        now_ns = time.monotonic_ns()
        for schedule in schedules:
            if schedule.next_ns > now_ns:
                continue
            lateness_ns.append(now_ns - schedule.next_ns)
            _read(schedule, file)
            # Keep to the grid: a late sample does not shift the later ones, whole periods slept through are missed.
            behind = (time.monotonic_ns() - schedule.next_ns) // schedule.period_ns
            missed += behind
            schedule.next_ns += (behind + 1) * schedule.period_ns
        if now_ns >= flush_at_ns:
            file.flush()
            flush_at_ns = now_ns + round(_FLUSH_S * 1e9)
    for schedule in schedules:
        _read(schedule, file)
    return _summary(started_ns, cpu_started_ns, lateness_ns, missed)


def _read(schedule: _Schedule, file: Any) -> None:
    before_ns = time.monotonic_ns()
    values = schedule.meter.read()
    # The reading happened somewhere between the two stamps; the middle is the best guess.
    stamp_ns = (before_ns + time.monotonic_ns()) // 2
    for index, value in enumerate(values, schedule.first_channel):
        file.write(_READING.pack(stamp_ns, index, value))


def _summary(started_ns: int, cpu_started_ns: int, lateness_ns: list[int], missed: int) -> dict[str, Any]:
    """How the sampler did: reads, share of a core, lateness against the schedule in seconds, missed reads."""
    elapsed_ns = max(time.monotonic_ns() - started_ns, 1)
    late_s = np.sort(np.array(lateness_ns or [0])) * 1e-9
    return {
        "reads": len(lateness_ns),
        "missed_reads": missed,
        "duration_s": elapsed_ns * 1e-9,
        "rate_per_s": len(lateness_ns) / (elapsed_ns * 1e-9),
        "core_share": (time.process_time_ns() - cpu_started_ns) / elapsed_ns,
        "lateness_p50_s": float(np.quantile(late_s, 0.5)),
        "lateness_p99_s": float(np.quantile(late_s, 0.99)),
        "lateness_max_s": float(late_s[-1]),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
