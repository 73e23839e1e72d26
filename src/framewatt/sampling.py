"""The sampling process: reads meters at fixed times and appends every reading to a file.

It is a process of its own so that the measured program's interpreter never waits for it. It ends when its standard
input closes, so that it cannot outlive whoever started it. `python -m framewatt.sampling REQUEST` is the process; see
sampler.py for who starts and stops it.
"""

import dataclasses
import gc
import json
import math
import os
import select
import signal
import sys
import threading
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.errors import FramewattError
from framewatt.meters import make_meter
from framewatt.meters.contract import Channel, Meter, Polled, Streamed
from framewatt.raw import RawReadings, RawRows
from framewatt.witness.instrument import WITNESS_PERIOD_S, Witness, witness_channels

_FLUSH_S = 0.5
_LONGEST_WAIT_NS = 10**9
_LOOK_NS = 10_000_000
"""How often the events of the measured process are looked at: so late may the witness be at an edge of a window."""

_UNKNOWN_PERIODS = 10
"""A call that took as many periods read at an instant that nobody knows: its values count as failed."""

_SLOW_S = 0.001
"""A meter that takes longer to answer, as drivers of several GPUs do, would keep the others waiting."""


class OnTime:
    """Reads a meter at fixed times. A late reading does not shift the later ones; periods slept through are missed.

    Args:
        meter: opened.
        file: takes its readings.
        takes_s: seconds that it takes to answer when nothing holds it up.
    """

    def __init__(self, meter: Polled, file: RawRows, takes_s: float = 0.0) -> None:
        self.meter = meter
        self.file = file
        self.slow = takes_s > _SLOW_S
        self.due_ns = 0
        self.lateness_ns = array("q")  # a list would take five times the memory, and runs can last for days
        self.missed = 0
        self._period_ns = round(meter.period_s * 1e9)
        self._held_up_ns = max(self._period_ns, round(2 * takes_s * 1e9))

    def turn(self) -> None:
        """Read now."""
        began_ns = before_ns = time.monotonic_ns()
        values = self.meter.values()
        after_ns = time.monotonic_ns()
        if after_ns - before_ns > self._held_up_ns:
            # The process was held up in the middle, and nobody knows on which side of that it read: read again.
            before_ns = after_ns
            values = self.meter.values()
            after_ns = time.monotonic_ns()
        if after_ns - before_ns >= _UNKNOWN_PERIODS * self._held_up_ns:
            values = [math.nan] * len(values)
        # The reading happened somewhere between the two stamps; the middle is the best guess.
        self.file.append((before_ns + after_ns) // 2, values)
        self.lateness_ns.append(began_ns - self.due_ns)
        self.due_ns += self._period_ns
        if self.due_ns < after_ns:
            behind = (after_ns - self.due_ns) // self._period_ns + 1
            self.missed += behind
            self.due_ns += behind * self._period_ns

    def finish(self) -> None:
        """Read once more, and let go."""
        self.file.append(time.monotonic_ns(), self.meter.values())
        self.meter.close()
        self.file.close()


class _WhenReady:
    """Takes a meter's readings when its stream has some; on time where it has no stream.

    Args:
        meter: opened.
        file: takes its readings.
    """

    def __init__(self, meter: Streamed, file: RawReadings) -> None:
        self.meter = meter
        self.file = file
        self.due_ns = 0
        self._period_ns = round(meter.period_s * 1e9)

    def turn(self) -> None:
        """Take what there is."""
        self.file.append(self.meter.read())
        self.due_ns = time.monotonic_ns() + self._period_ns

    def finish(self) -> None:
        """Take what there is, let go, and take what was under way."""
        self.file.append(self.meter.read())
        self.file.append(self.meter.end())
        self.file.close()


class _Apart(threading.Thread):
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


class _Witnessing:
    """Takes a reading of the witness soon after every edge of a window, and now and then between them.

    The measured process says nothing to this one: it writes its events to a file, whose size is looked at.

    Args:
        witness: what is read.
        events: the file of the measured process's events, which need not be there yet.
        file: takes the readings.
    """

    def __init__(self, witness: Witness, events: Path, file: RawRows) -> None:
        self.file = file
        self.due_ns = 0
        self._witness, self._events = witness, events
        self._size_b = 0
        self._next_ns = 0

    def turn(self) -> None:
        """Look at the events, and read where there are new ones, or where it is time to."""
        now_ns = time.monotonic_ns()
        self.due_ns = now_ns + _LOOK_NS
        try:
            size_b = self._events.stat().st_size
        except OSError:
            size_b = 0
        if size_b != self._size_b or now_ns >= self._next_ns:
            self._size_b = size_b
            self._next_ns = now_ns + round(WITNESS_PERIOD_S * 1e9)
            self.file.append(*self._witness.read())

    def finish(self) -> None:
        """Read once more."""
        self.file.append(*self._witness.read())
        self.file.close()


_Task = OnTime | _WhenReady | _Witnessing


class _Flush:
    """Hands over to the system, now and then, what was written."""

    def __init__(self, tasks: Sequence[_Task]) -> None:
        self.due_ns = 0
        self._files = [task.file for task in tasks]

    def turn(self) -> None:
        """Hand it over now."""
        for file in self._files:
            file.flush()
        self.due_ns = time.monotonic_ns() + round(_FLUSH_S * 1e9)


def main(request: str) -> int:
    """Sample until standard input closes; the body of the process.

    Args:
        request: JSON with `meters`, `options`, `path`, and `witnessed`: the events of the measured process, or None.
    """
    # Ctrl-C goes to all processes of a terminal; this one ends when whoever started it has ended its run.
    # (A handler, since programs that it starts would inherit that a signal is ignored.)
    signal.signal(signal.SIGINT, lambda *_: None)
    settings = json.loads(request)
    try:
        meters = [make_meter(name, settings["options"]) for name in settings["meters"]]
        channels, tasks = _open(meters, Path(settings["path"]))
        if settings.get("witnessed"):
            added, task = _witnessing(settings["witnessed"], Path(settings["path"]), len(channels))
            channels, tasks = [*channels, *added], [*tasks, task]
        _say({"channels": [channel.to_dict() for channel in channels]})
        summary = _sample(tasks)
    except (FramewattError, OSError) as error:
        _say({"error": f"the sampling process ended: {error}"})
        return 1
    _say(summary)
    return 0


def _say(what: dict[str, Any]) -> None:
    """A line for whoever started this process. Where that has died, nobody is left to be told, and so it ends."""
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        # At exit Python writes what is left once more: to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open(meters: Sequence[Meter], path: Path) -> tuple[list[Channel], list[_Task]]:
    """All meters ready to read, each with a file of its own."""
    channels: list[Channel] = []
    tasks: list[_Task] = []
    for meter in meters:
        first = len(channels)
        channels += [dataclasses.replace(channel, period_s=meter.period_s) for channel in meter.open()]
        if isinstance(meter, Polled):
            tasks.append(OnTime(meter, RawRows(path, first, len(channels) - first), _takes_s(meter)))
        elif isinstance(meter, Streamed):
            tasks.append(_WhenReady(meter, RawReadings(path, first)))
    return channels, tasks


def _takes_s(meter: Polled) -> float:
    """Seconds that a meter takes to answer, at its best."""
    tries = []
    for _ in range(3):
        began = time.perf_counter()
        meter.values()
        tries.append(time.perf_counter() - began)
    return min(tries)


def _witnessing(events: str, path: Path, first: int) -> tuple[list[Channel], _Witnessing]:
    """The witness of the process that started this one, with its channels."""
    channels = witness_channels()
    witness = Witness(os.getppid(), os.getpid())
    return channels, _Witnessing(witness, Path(events), RawRows(path, first, len(channels)))


def _sample(tasks: Sequence[_Task]) -> dict[str, Any]:
    """Read every meter at its times until standard input closes; then once more, and let go of all.

    The loop runs a hundred times a second beside the measurement: it does no more than it must.
    """
    # Nothing here makes cycles, and looking for them would come at a bad time.
    gc.disable()
    started_ns, cpu_started_ns = time.monotonic_ns(), time.process_time_ns()
    streams = {stream: task for task in tasks if isinstance(task, _WhenReady) and (stream := task.meter.stream())}
    slow = [task for task in tasks if isinstance(task, OnTime) and task.slow]
    apart = [_Apart(task, started_ns) for task in slow]
    for thread in apart:
        thread.start()
    on_time = [*(task for task in tasks if task not in streams.values() and task not in slow), _Flush(tasks)]
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
    for thread in apart:
        thread.end()
    summary = _summary([task for task in tasks if isinstance(task, OnTime)], started_ns, cpu_started_ns)
    for task in tasks:
        task.finish()
    return summary


def _summary(tasks: Sequence[OnTime], started_ns: int, cpu_started_ns: int) -> dict[str, Any]:
    """How the sampler did: reads, share of a core, lateness against the schedule in seconds, missed reads."""
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
