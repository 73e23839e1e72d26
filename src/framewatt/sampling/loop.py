"""The loop of the sampling process: runs whichever reader is due, until standard input closes."""

import gc
import select
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from framewatt.sampling.slow_meter import SlowMeter
from framewatt.sampling.turns import Flush, OnTime, Turns, WhenReady

_LONGEST_WAIT_NS = 10**9


def sample(tasks: Sequence[Turns]) -> dict[str, Any]:
    """Read every meter at its times until standard input closes; then once more, and close all.

    The loop runs a hundred times a second at the same time as the measurement, so it does as little as possible.
    """
    # No reference cycles are made here, and garbage collection would disturb the schedule.
    gc.disable()
    started_ns, cpu_started_ns = time.monotonic_ns(), time.process_time_ns()
    streams = {stream: task for task in tasks if isinstance(task, WhenReady) and (stream := task.meter.stream())}
    slow = [task for task in tasks if isinstance(task, OnTime) and task.slow]
    threads = [SlowMeter(task, started_ns) for task in slow]
    for thread in threads:
        thread.start()
    on_time = [*(task for task in tasks if task not in streams.values() and task not in slow), Flush(tasks)]
    for task in on_time:
        task.due_ns = started_ns
    end = sys.stdin.fileno()
    waiting = [end, *streams]
    next_ns = started_ns
    while True:
        wait_ns = next_ns - time.monotonic_ns()
        ready, _, _ = select.select(waiting, (), (), wait_ns * 1e-9 if wait_ns > 0 else 0)
        if ready:
            if end in ready:
                break
            for stream in ready:
                streams[stream].turn()
                if streams[stream].meter.stream() is None:
                    waiting.remove(stream)
        now_ns = time.monotonic_ns()
        next_ns = now_ns + _LONGEST_WAIT_NS
        for task in on_time:
            if task.due_ns <= now_ns:
                task.turn()
            next_ns = min(next_ns, task.due_ns)
    for thread in threads:
        thread.end()
    summary = _summary([task for task in tasks if isinstance(task, OnTime)], started_ns, cpu_started_ns)
    for task in tasks:
        task.finish()
    return summary


def _summary(tasks: Sequence[OnTime], started_ns: int, cpu_started_ns: int) -> dict[str, Any]:
    """Return a summary of the sampling: reads, share of a core, lateness in seconds, missed reads."""
    elapsed_ns = max(time.monotonic_ns() - started_ns, 1)
    lateness_ns = np.concatenate([np.array(task.lateness_ns) for task in tasks] or [np.array([])])
    late_s = np.sort(lateness_ns if len(lateness_ns) else np.zeros(1)) * 1e-9
    return {
        "reads": len(lateness_ns),
        "missed_reads": sum(task.missed for task in tasks),
        "duration_s": elapsed_ns * 1e-9,
        "rate_per_s": len(lateness_ns) / (elapsed_ns * 1e-9),
        "core_share": (time.process_time_ns() - cpu_started_ns) / elapsed_ns,
        "lateness_p50_s": float(np.quantile(late_s, 0.5)),
        "lateness_p99_s": float(np.quantile(late_s, 0.99)),
        "lateness_max_s": float(late_s[-1]),
    }
