"""Judges measured tests: when one fails, framewatt's witness says whether the machine was disturbed meanwhile.

A failure on a quiet machine is a failure. A failure on a disturbed machine says nothing of the code: the test is
repeated after the machine has become quiet, up to TRIES times. If it never passes, and the last try was disturbed too,
it is skipped as "not judged: machine busy"; with STRICT=1 in the environment it fails.

tests/conftest.py makes these hooks a part of pytest.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

from framewatt.witness.instrument import Witness, witness_channels
from framewatt.witness.window import witnessed

TRIES = 3
NOT_JUDGED = "not judged: machine busy"

WAIT_S = 60.0
"""Longest wait for quiet before a repetition."""

WAITS_S = 180.0
"""Longest wait for quiet in all repetitions of a session, so that a machine that is always busy does not stop it."""

_LOOK_S = 2.0
"""Length of a look at whether the machine is quiet; the witness can detect 2 % of one processor in it."""

_READ_EVERY_S = 0.2

_LATE_S = 0.03
"""A process that only sleeps and wakes up later than this was stopped by others, whatever the kernel's counters say.

On a quiet virtual machine of two processors it is less than 10 ms late, also when the test keeps both busy.
"""

_HEARTBEAT = """
import time
while True:
    due = time.monotonic() + 0.005
    time.sleep(0.005)
    late = time.monotonic() - due
    if late > 0.01:
        print(late, flush=True)
"""


@dataclass
class Needs:
    """What a measured test needs of the machine, and the test that does without: the arguments of its marker.

    Attributes:
        twin: the deterministic test of the same property, `path::name`.
        processors: how many processors the tests may use at least.
        late_s: longest time that a process may wait for a processor.
        disks: whether it needs quiet disks; not where it writes itself, since the kernel does not count who waited.
    """

    twin: str
    processors: int = 1
    late_s: float = _LATE_S
    disks: bool = True

    @classmethod
    def of(cls, item: pytest.Item) -> "Needs":
        """The needs of a test.

        Raises:
            pytest.UsageError: the test has no marker `measured`, or one with other arguments.
        """
        marker = item.get_closest_marker("measured")
        try:
            return cls(*marker.args, **marker.kwargs) if marker else cls()  # type: ignore[call-arg]
        except TypeError as error:
            raise pytest.UsageError(
                f'{item.nodeid}: {error}. Write @pytest.mark.measured(twin="path::test") above the test.'
            ) from None


@dataclass
class Lookout:
    """Watches what others do on this machine while its block runs; everything that this process starts is not others.

    Attributes:
        late_s: see Needs.
        disks: see Needs.
        causes: after the block, how others disturbed it, in words; empty where they did not, or where nobody can tell.
    """

    late_s: float = _LATE_S
    disks: bool = True
    causes: tuple[str, ...] = ()
    _stamps_ns: list[int] = field(default_factory=list)
    _rows: list[list[float]] = field(default_factory=list)

    def __enter__(self) -> "Lookout":
        self._beats = tempfile.TemporaryFile("w+")
        self._heart = subprocess.Popen([sys.executable, "-c", _HEARTBEAT], stdout=self._beats)
        self._witness = Witness(os.getpid(), sampler=-1)
        self._ended = threading.Event()
        self._read()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._read()
        self._heart.kill()
        self._heart.wait()
        self._beats.seek(0)
        late_s = max(map(float, self._beats.read().split()), default=0.0)
        self._beats.close()
        held_up = [f"a process that only waits was {late_s:.2g} s late"] if late_s > self.late_s else []
        self.causes = (*self._disturbed(), *held_up)

    def _watch(self) -> None:
        while not self._ended.wait(_READ_EVERY_S):
            self._read()

    def _read(self) -> None:
        stamp_ns, row = self._witness.read()
        self._stamps_ns.append(stamp_ns)
        self._rows.append(row)

    def own_cpu_s(self) -> float:
        """Processor seconds of everything that this process started, after the block."""
        window = self._window()
        return float(window["run_cpu_s"])

    def _disturbed(self) -> list[str]:
        causes = self._window()["disturbed"] or ()
        return [cause for cause in causes if self.disks or "disks" not in cause]

    def _window(self) -> dict[str, Any]:
        """What the witness reports of the block, see witness.window.witnessed."""
        stamps_ns, columns = np.array(self._stamps_ns), np.array(self._rows).T
        readings = {
            (channel.domain, channel.quantity): (channel, stamps_ns, column)
            for channel, column in zip(witness_channels(), columns, strict=True)
        }
        window = witnessed(readings, [(self._stamps_ns[0], self._stamps_ns[-1])])
        assert window is not None  # it is None without readings
        return window


class Patience:
    """Waits for a quiet machine, in all no longer than a limit.

    Args:
        total_s: seconds of all waits together.
    """

    def __init__(self, total_s: float = WAITS_S) -> None:
        self.left_s = total_s

    def wait(self, late_s: float, *, disks: bool = True) -> None:
        """Return when nothing disturbs the machine, or after WAIT_S, or when no time is left."""
        for _ in range(int(min(WAIT_S, self.left_s) / _LOOK_S)):
            self.left_s -= _LOOK_S
            with Lookout(late_s, disks) as lookout:
                threading.Event().wait(_LOOK_S)
            if not lookout.causes:
                return


def judged(item: pytest.Item, needs: Needs, patience: Patience) -> list[pytest.TestReport]:
    """Run a measured test until its outcome says something of the code.

    Returns:
        the reports of the last try; a failure that nobody can judge is a skip, or a failure with STRICT=1.
    """
    for number in range(1, TRIES + 1):
        with Lookout(needs.late_s, needs.disks) as lookout:
            # Without a next test all fixtures are torn down, so that a repetition measures anew.
            reports = runtestprotocol(item, log=False, nextitem=None)
        failed = [report for report in reports if report.failed]
        if not failed or not lookout.causes:
            for report in reports:
                report.user_properties += [("tries", number)]
                report.user_properties += [("disturbed", "; ".join(lookout.causes))] if lookout.causes else []
            return reports
        if number < TRIES:
            patience.wait(needs.late_s, disks=needs.disks)
    message = f"{NOT_JUDGED} ({'; '.join(lookout.causes)}; {TRIES} tries)"
    for report in failed:
        if _strict():
            report.sections.append(("STRICT=1", message))
        else:
            report.sections.append(("the failure", report.longreprtext))
            report.outcome = "skipped"
            report.longrepr = (str(item.path), (item.location[1] or 0) + 1, f"Skipped: {message}")
    return reports


def _strict() -> bool:
    return os.environ.get("STRICT") == "1"


def missing(needs: Needs, usable: int) -> str | None:
    """Why a test cannot be judged on this machine; None where it can."""
    if usable < needs.processors:
        return f"{NOT_JUDGED} (this process may use {usable} processor, the test needs {needs.processors})"
    return None


_patience = pytest.StashKey[Patience]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_patience] = Patience()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("measured"):
        why = missing(Needs.of(item), len(os.sched_getaffinity(0)))
        if why:
            (pytest.fail if _strict() else pytest.skip)(why)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    if not item.get_closest_marker("measured"):
        return None
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in judged(item, Needs.of(item), item.config.stash[_patience]):
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@contextmanager
def busy(processes: int, *, writer: Path | None = None, duty: float = 1.0) -> Iterator[None]:
    """Keep the machine busy meanwhile.

    Args:
        processes: how many processes spin.
        writer: a folder in which one more process writes 64 MB to the disk over and over.
        duty: share of each 0.2 s in which a process spins.
    """
    spin = f"""
import time
while True:
    until = time.monotonic() + {0.2 * duty}
    while time.monotonic() < until: pass
    time.sleep({0.2 * (1 - duty)})
"""
    write = """
import os, sys
block = bytes(1 << 20)
while True:
    with open(sys.argv[1], "wb") as file:
        for _ in range(64): file.write(block)
        file.flush(); os.fsync(file.fileno())
"""
    commands: list[Sequence[str]] = [[sys.executable, "-c", spin]] * processes
    if writer is not None:
        commands.append([sys.executable, "-c", write, str(writer / "written")])
    started = [subprocess.Popen(command) for command in commands]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()
