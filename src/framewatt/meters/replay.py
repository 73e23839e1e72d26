"""A recorded trace as a meter: its readings are played back at the recorded or another pace.

It lets a study or a test run on a machine without power meters. The readings belong to the machine that recorded them,
so every channel's instrument is named `replay`.
"""

import dataclasses
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import WITNESS, Channel, require


class Replay:
    """The readings of a power.parquet.

    Args:
        path: the trace.
        speed: recorded seconds played per second; a counter's joules stay as recorded, so power scales with the speed.
        period_s: seconds between two readings.
    """

    name = "replay"

    def __init__(self, path: Path, speed: float = 1.0, period_s: float = 0.01) -> None:
        self.path = path
        self.speed = speed
        self.period_s = period_s
        self._series: list[tuple[Any, Any]] = []
        self._start_ns = 0

    def available(self) -> tuple[bool, str]:
        """Return whether the trace exists."""
        if not self.path.is_file():
            return False, f"instruments.replay_trace: {self.path} does not exist. Name a power.parquet."
        return True, f"replays {self.path}"

    def open(self) -> list[Channel]:
        """Load the trace and start its clock."""
        require(self)
        # Imported here since only a sampling process that replays needs parquet; others start faster without it.
        from framewatt.meters.trace_file import open_trace

        trace = open_trace(self.path)
        times_ns = [trace.read_channel(index)[0] for index in range(len(trace.channels))]
        starts_ns = [int(time_ns.min()) for time_ns in times_ns if len(time_ns)]
        if not starts_ns:
            raise FramewattError(f"meter replay: {self.path} has no readings. Use a trace with at least one.")
        first_ns = min(starts_ns)
        # The recorded witness saw the work of another machine or another time.
        for index, channel in enumerate(trace.channels):
            if channel.instrument != WITNESS:
                time_ns, value = trace.read_channel(index)
                self._series.append((time_ns - first_ns, value))
        self._start_ns = time.monotonic_ns()
        return [
            dataclasses.replace(
                channel,
                instrument=self.name,
                update_period_s=channel.update_period_s / self.speed,
                max_power_w=channel.max_power_w and channel.max_power_w * self.speed,
            )
            for channel in trace.channels
            if channel.instrument != WITNESS
        ]

    def close(self) -> None:
        """Release the trace."""
        self._series = []

    def values(self) -> list[float]:
        """Return the latest recorded reading of every channel, NaN before its first and after its last."""
        now_ns = (time.monotonic_ns() - self._start_ns) * self.speed
        values = []
        for time_ns, value in self._series:
            index = int(np.searchsorted(time_ns, now_ns, side="right")) - 1
            inside = index >= 0 and now_ns <= time_ns[-1]
            values.append(float(value[index]) if inside else math.nan)
        return values
