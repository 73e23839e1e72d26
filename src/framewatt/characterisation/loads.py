"""Puts the machine under known loads, one after the other: idle, one core, all cores, the GPUs."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.characterisation.schedule import (
    ALL_CORES,
    GPU,
    GPU_CLOSED,
    IDLE,
    ONE_CORE,
    Stretch,
    period_of,
    square_wave,
)
from framewatt.preflight.checks import busy_s

_READY_S = 60.0
"""Longest time in seconds that a framework may take to load."""

_LATE_S = 5.0
_SETTLE_NS = 10**9
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_LEAST_LENGTH = 0.5
"""Least share of its planned time that a load must have run; with less it shows nothing."""

_LENGTHS = (1.0, 1.07, 0.93, 1.13)
"""Factors of stretches' lengths: with unequal lengths, stretches start at all phases of a meter's updates."""


def planned(loads: Sequence[str], repeats: int, step_s: float) -> list[tuple[str, float]]:
    """Return loads and seconds of all stretches: each load several times, with idle before and after each.

    Args:
        loads: their names, in order.
        repeats: how often each load runs.
        step_s: seconds of a stretch, about.
    """
    names = [IDLE] + [name for load in loads for _ in range(repeats) for name in (load, IDLE)]
    return [(name, step_s * _LENGTHS[number % len(_LENGTHS)]) for number, name in enumerate(names)]


PERIODS_S = (0.005, 0.02, 0.05, 0.1, 0.15, 0.3)
"""Periods of square waves, around the times in which GPUs update their readings (20 to 100 ms)."""

_CLOSED_S = 10.0
"""Seconds that a GPU gets to reach its power at rest; the second half counts."""


def square_waves(seconds: float) -> list[tuple[str, float]]:
    """Return the loads and seconds of square waves on the GPU, and of the GPU at rest at the end.

    A sensor that observes part of the time shows it under square waves near its update period. The process that loads
    the GPU ends before the last stretch, so no other load can follow.

    Args:
        seconds: of each wave.
    """
    waves = [(square_wave(period_s), seconds) for period_s in PERIODS_S]
    return [part for wave in waves for part in (wave, (IDLE, seconds / 2))] + [(GPU_CLOSED, _CLOSED_S)]


class Loads:
    """Processes that compute on command.

    Attributes:
        missing: why a requested load is not available, by its name.
    """

    def __init__(self, burners: dict[str, "list[_Burner]"], missing: dict[str, str]) -> None:
        self._burners = burners
        self.missing = missing

    @property
    def names(self) -> list[str]:
        """Return the available loads."""
        return list(self._burners)

    def run(self, plan: Sequence[tuple[str, float]], begin_ns: int | None = None) -> list[Stretch]:
        """Run a plan, and return the actual stretches.

        Args:
            plan: see `planned`.
            begin_ns: CLOCK_MONOTONIC of its start; None starts it soon.

        Raises:
            FramewattError: a process that should compute has ended or was delayed, or `begin_ns` has passed.
        """
        if begin_ns is not None and begin_ns < time.monotonic_ns():
            past_s = (time.monotonic_ns() - begin_ns) * 1e-9
            raise FramewattError(f"begin_ns is {past_s:.3g} s in the past. Use a time that is still to come.")
        planned_ns = time.monotonic_ns() + _SETTLE_NS if begin_ns is None else begin_ns
        stretches: list[Stretch] = []
        for load, seconds in plan:
            # If a stretch overruns, the next one is shorter: the plan's times stay fixed.
            from_ns = max(planned_ns, stretches[-1].end_ns if stretches else 0)
            planned_ns += round(seconds * 1e9)
            stretches.append(self._stretch(load, from_ns, planned_ns))
            if stretches[-1].duration_s < _LEAST_LENGTH * seconds:
                raise FramewattError(
                    f"load {load} ran for {stretches[-1].duration_s:.3g} s instead of {seconds:.3g} s: other work "
                    "delayed it. End other work and start again."
                )
        return stretches

    def _stretch(self, load: str, begin_ns: int, end_ns: int) -> Stretch:
        period_s = period_of(load)
        burners = self._burners.get(load if period_s is None else GPU, [])
        if load == GPU_CLOSED:
            for burner in self._burners.pop(GPU, []):
                burner.end()
        for burner in burners:
            burner.send(begin_ns, end_ns, round((period_s or 0.0) * 1e9))
        time.sleep(max(begin_ns - time.monotonic_ns(), 0) * 1e-9)
        before_s, own_before_s = busy_s(Path("/")), self._own_s()
        time.sleep(max(end_ns - time.monotonic_ns(), 0) * 1e-9)
        after_s, own_after_s = busy_s(Path("/")), self._own_s()
        others = None
        if before_s is not None and after_s is not None:
            others = (after_s - before_s - (own_after_s - own_before_s)) / ((end_ns - begin_ns) * 1e-9)
            # What is no number of processors comes from a kernel that counts otherwise.
            others = max(others, 0.0) if others <= (os.cpu_count() or 1) else None
        if not burners:
            return Stretch(load, begin_ns, end_ns, others=others)
        started, ended, worked_ns = zip(*(burner.answer() for burner in burners), strict=True)
        unsure_s = (max(started) - min(started)) * 1e-9
        start_ns, stop_ns = sum(started) // len(started), max(*ended, begin_ns + 1)
        busy = sum(worked_ns) / len(worked_ns) / (stop_ns - start_ns) if stop_ns > start_ns else None
        return Stretch(load, start_ns, stop_ns, unsure_s, others, busy)

    def _own_s(self) -> float:
        """Return the processor seconds of all processes that compute, and of this one."""
        pids = [burner.pid for burners in self._burners.values() for burner in burners]
        return sum(_processor_s(pid) for pid in {*pids, os.getpid()})


@contextmanager
def loads(names: Sequence[str], gpu_pythons: Sequence[str] = ()) -> Iterator[Loads]:
    """Yield the loads, ready to run; their processes end with the block.

    Args:
        names: ONE_CORE, ALL_CORES, GPU.
        gpu_pythons: interpreters that may have PyTorch, best first.
    """
    processors = sorted(os.sched_getaffinity(0))
    burners: list[_Burner] = []
    try:
        cores = [_Burner(sys.executable, "cpu", str(number)) for number in processors] if set(names) - {GPU} else []
        burners += cores
        available: dict[str, list[_Burner]] = {}
        missing: dict[str, str] = {}
        for name in names:
            if name == GPU:
                burner, why = _gpu_burner(gpu_pythons, burners)
                if burner is None:
                    missing[GPU] = why
                else:
                    available[GPU] = [burner]
                continue
            reasons = [reason for core in cores if (reason := core.ready())]
            if reasons:
                missing[name] = reasons[0]
            elif name == ALL_CORES or len(cores) > 1:
                available[name] = cores if name == ALL_CORES else cores[-1:]
            else:
                missing[ONE_CORE] = "this process may use one core only, which is all of them"
        yield Loads(available, missing)
    finally:
        for burner in burners:
            burner.end()


def _gpu_burner(pythons: Sequence[str], started: "list[_Burner]") -> "tuple[_Burner | None, str]":
    why = "no interpreter with PyTorch was named"
    for python in dict.fromkeys(pythons):
        try:
            burner = _Burner(python, "gpu")
        except OSError as error:
            why = f"{python}: {error.strerror}"
            continue
        started.append(burner)
        why = burner.ready()
        if not why:
            return burner, ""
    return None, why


class _Burner:
    """One process, see burn.py."""

    def __init__(self, python: str, *arguments: str) -> None:
        source = str(Path(__file__).parents[2])
        self._ready: str | None = None
        self._process = subprocess.Popen(
            [python, "-m", "framewatt.characterisation.burn", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={
                **os.environ,
                **_ONE_THREAD,
                "PYTHONPATH": os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")])),
            },
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def ready(self) -> str:
        """Return why it cannot compute; empty once it can."""
        if self._ready is None:
            line = self._line(_READY_S)
            self._ready = "" if line == "ready" else line.removeprefix("cannot: ") or "it did not start"
        return self._ready

    def send(self, begin_ns: int, end_ns: int, period_ns: int) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{begin_ns} {end_ns} {period_ns}\n")
            self._process.stdin.flush()
        except OSError as error:
            raise FramewattError("load: a process that should compute has ended. Start again.") from error

    def answer(self) -> tuple[int, int, int]:
        """When it started and ended, and for how many nanoseconds it computed."""
        line = self._line(_LATE_S)
        if not line:
            raise FramewattError("load: a process that should compute has ended. Start again.")
        started, ended, worked_ns = line.split()
        return int(started), int(ended), int(worked_ns)

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _line(self, timeout_s: float) -> str:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], timeout_s)
        return self._process.stdout.readline().strip() if ready else ""


def _processor_s(pid: int) -> float:
    """Return the seconds that a process has worked, 0 once it is gone (proc(5), fields 14 and 15)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
