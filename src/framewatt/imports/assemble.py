"""Merges the logs of one run on one clock into a trace and its windows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.energy.accounts import energy_channels
from framewatt.imports.contract import Epoch, Log
from framewatt.meters.trace import Trace, joined

STEADY, PROCESS = "steady", "process"

LARGEST_STRETCH = 0.05
"""Largest relative deviation of the real sampling interval from the stated one, for readings without a clock."""

_WORTH_A_FLAG = 0.01
"""Relative deviation of the sampling interval from which on a flag reports it."""

FROM_THE_LOG = "epoch 1 begins with the log, so that setting up is in it"
"""The flag of every run that has epochs."""


@dataclass(frozen=True)
class Assembled:
    """A run, merged from its logs.

    Attributes:
        trace: the readings of all logs; times are nanoseconds since the start of the run.
        end_ns: end of the run, on the same clock.
        epochs: from the log that has epochs, with ends on the same clock.
        origin_ns: start of the run in nanoseconds since 1970, None where no log has a clock.
        flags: of all logs, and of merging them.
    """

    trace: Trace
    end_ns: int
    epochs: tuple[Epoch, ...]
    origin_ns: int | None
    flags: tuple[str, ...]

    @property
    def events(self) -> list[dict[str, Any]]:
        """Edges of the windows of the whole run and of its epochs, in order. The first epoch starts with the run."""
        edges = [0, *(epoch.end_ns for epoch in self.epochs)]
        inside = [
            {"window": f"epoch-{number}", "edge": edge, "monotonic_ns": edges[number - (edge == "start")]}
            for number in range(1, len(edges))
            for edge in ("start", "end")
        ]
        return [
            {"window": PROCESS, "edge": "start", "monotonic_ns": 0},
            *inside,
            {"window": PROCESS, "edge": "end", "monotonic_ns": self.end_ns},
        ]

    @property
    def primary_window(self) -> str:
        """Name of the window with the energy that is the run's result."""
        return STEADY if self.epochs else PROCESS


def assemble(logs: Sequence[Log]) -> Assembled:
    """Merge the logs of a run.

    The run has the duration that a log states; without one, it is the span that valid readings of all logs cover.
    Readings that share no clock with the log that sets the duration are stretched to it if they fit to within
    LARGEST_STRETCH and two intervals: they are taken to cover the whole run, at an interval slightly off the stated
    one. Others keep their times, and do not cover the run.

    Args:
        logs: at least one.

    Raises:
        FramewattError: no log has two valid readings, or logs do not overlap.
    """
    known = [(log, extent) for log in logs if (extent := _extent(log))]
    dated = any(log.dated for log, _ in known)
    if not dated and any(log.epochs for log in logs):
        raise FramewattError("epochs have times of day, and no log of power has any; allowed: a log with a clock")
    begin_ns, end_ns = _span(known)
    if end_ns <= 0:
        raise FramewattError("found no time that all logs span by good readings; allowed: logs of the same run")
    total_without_clock = any(log.duration_s and not log.dated for log, _ in known)
    flags = [flag for log in logs for flag in (*log.flags, *_failed_at_edges(log))]
    traces = []
    for log in logs:
        trace = _moved(log, begin_ns)
        if log.paced or (log.dated and total_without_clock and not log.duration_s):
            trace, flags_of_stretch = _spread(trace, end_ns)
            flags += flags_of_stretch
        traces.append(trace)
    epochs = tuple(Epoch(epoch.end_ns - begin_ns, epoch.metrics) for log in logs for epoch in log.epochs)
    if epochs and epochs[0].end_ns <= 0:
        raise FramewattError("epoch 1 ends before the first reading of power; allowed: logs of the same run")
    if epochs:
        flags.append(FROM_THE_LOG)
    return Assembled(joined(traces), end_ns, epochs, begin_ns if dated else None, tuple(flags))


def _span(known: Sequence[tuple[Log, tuple[int, int]]]) -> tuple[int, int]:
    """Return when a run started, on the clock of its logs (0 where they have none), and its duration; nanoseconds.

    Args:
        known: logs with power or energy, each with its extent.
    """
    stated = [(log, extent) for log, extent in known if log.duration_s]
    with_clock = [extent for log, extent in stated or known if log.dated] or [e for log, e in known if log.dated]
    begin_ns = max((start for start, _ in with_clock), default=0)
    if stated:
        return begin_ns, max(round((log.duration_s or 0) * 1e9) for log, _ in stated)
    sampled = [pair for pair in known if not pair[0].paced] or known
    return begin_ns, min((end - (begin_ns if log.dated else 0) for log, (_, end) in sampled), default=0)


def _extent(log: Log) -> tuple[int, int] | None:
    """Return the interval in which every domain of a log has valid readings of energy or power; None without one."""
    firsts, lasts = [], []
    for index in energy_channels(log.trace.channels).values():
        time_ns, value = log.trace.read_channel(index)
        good = time_ns[np.isfinite(value)]
        if len(good):
            firsts.append(int(good[0]))
            lasts.append(int(good[-1]))
    return (max(firsts), min(lasts)) if firsts else None


def _failed_at_edges(log: Log) -> list[str]:
    """Flags of failed readings before the first or after the last valid one of their channel, outside any window."""
    flags = []
    for domain, index in energy_channels(log.trace.channels).items():
        good = np.flatnonzero(np.isfinite(log.trace.read_channel(index)[1]))
        count = len(log.trace.read_channel(index)[1]) - (good[-1] - good[0] + 1) if len(good) else 0
        flags += [f"{domain}: {count} readings failed before the first or after the last good one"] if count else []
    return flags


def _moved(log: Log, begin_ns: int) -> Trace:
    """Return the trace of a log on a clock with its zero at `begin_ns`."""
    trace = log.trace
    return Trace(trace.channels, trace.monotonic_ns - begin_ns, trace.channel, trace.value) if log.dated else trace


def _spread(trace: Trace, end_ns: int) -> tuple[Trace, list[str]]:
    """Stretch readings to the run's duration, if they fit it; also returns flags."""
    last_ns = int(trace.monotonic_ns.max(initial=0))
    if not last_ns:
        return trace, []
    off_ns, interval_ns = abs(last_ns - end_ns), round(trace.channels[0].period_s * 1e9)
    if off_ns > LARGEST_STRETCH * end_ns + 2 * interval_ns:
        return trace, []
    time_ns = np.rint(trace.monotonic_ns * (end_ns / last_ns)).astype(np.int64)
    spread = Trace(trace.channels, time_ns, trace.channel, trace.value)
    if off_ns <= _WORTH_A_FLAG * end_ns + 2 * interval_ns:
        return spread, []
    slower = end_ns / last_ns - 1
    domain = trace.channels[0].domain
    return spread, [f"{domain}: readings came {100 * slower:+.1f} % off the stated interval, to fill the run"]
