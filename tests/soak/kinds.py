"""The faults: at which moment each strikes, what it does, and how it is over."""

import contextlib
import os
import random
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from soak.bench import mount, unmount

if TYPE_CHECKING:
    from soak.call import Call

WORKER, SAMPLER, JOB = "framewatt.runs.worker", "framewatt.sampling", "scripts/"
STEP = "clock-step"
"""File in the checkout that says by how many seconds the jobs' wall clock is ahead."""


@dataclass(frozen=True)
class Moment:
    """When a fault strikes.

    Attributes:
        process: part of a command line; empty for the time since the start.
        number: of the process, among those with that command line.
        delay_s: after it appeared.
    """

    process: str
    number: int
    delay_s: float

    def __str__(self) -> str:
        what = f"process {self.number} of {self.process}" if self.process else "the start"
        return f"{self.delay_s:.2f} s after {what}"


@dataclass(frozen=True)
class Fault:
    """A kind of fault.

    Attributes:
        name: in words.
        moment: when it strikes, drawn.
        strike: does it; returns what it did in words, and what undoes it, if anything has to.
        ends_the_call: whether the call cannot say anything, since it was killed.
        heals: whether it is over while the call still runs, or only after it: `during`, `after` or, drawn, `either`.
    """

    name: str
    moment: Callable[[random.Random], Moment]
    strike: Callable[["Call", random.Random], tuple[str, Callable[[], None] | None]]
    ends_the_call: bool = False
    heals: str = "after"


def _of(process: str, most: int, delay_s: float) -> Callable[[random.Random], Moment]:
    return lambda chance: Moment(process, chance.randint(1, most), chance.uniform(0, delay_s))


def _anywhere(chance: random.Random) -> Moment:
    """At the start, or by any process that measures or makes something."""
    process = chance.choice(["", WORKER, SAMPLER, "scripts/measure.py", "scripts/calibrate.py", JOB])
    most = {"": 1, WORKER: 4, SAMPLER: 6, "scripts/measure.py": 4, "scripts/calibrate.py": 2, JOB: 8}[process]
    return Moment(process, chance.randint(1, most), chance.uniform(0, 8.0 if not process else 1.5))


def _kill(process: str) -> Callable[["Call", random.Random], tuple[str, None]]:
    def strike(call: "Call", chance: random.Random) -> tuple[str, None]:
        pid = call.struck_by if process in call.bench.processes().get(call.struck_by, "") else None
        if pid is None:
            return f"no process of {process} to kill any more", None
        call.bench.end([pid])
        return f"killed {process}", None

    return strike


def _kill_snakemake(call: "Call", chance: random.Random) -> tuple[str, None]:
    call.process.kill()
    return "killed snakemake alone", None


def _kill_all(call: "Call", chance: random.Random) -> tuple[str, None]:
    while there := call.bench.processes():
        call.bench.end(list(there))
    return "killed every process", None


def _stop(call: "Call", chance: random.Random) -> tuple[str, None]:
    sign = chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    whole = sign != signal.SIGTERM or chance.random() < 0.5
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if whole else os.kill)(call.process.pid, sign)
    return f"{sign.name} to {'all' if whole else 'snakemake'}", None


def _fill(call: "Call", chance: random.Random) -> tuple[str, Callable[[], None]]:
    """The disk of the checkout, the one of the results, or both: all of them hold something that is written."""
    places = chance.choice([[call.bench.root], [call.bench.results], [call.bench.root, call.bench.results]])
    ballast = [place / "ballast" for place in places]
    for path in ballast:
        with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
            while True:
                file.write(b"\0" * (1 << 20))
        with contextlib.suppress(OSError), path.open("ab", buffering=0) as file:
            while True:
                file.write(b"\0")

    def heal() -> None:
        for path in ballast:
            path.unlink()

    return f"filled the disk of {' and '.join(place.name for place in places)}", heal


def _read_only(call: "Call", chance: random.Random) -> tuple[str, Callable[[], None]]:
    place = call.bench.root / "results"
    mount("-o", "remount,ro,bind", place)
    return "made results read-only", lambda: mount("-o", "remount,rw,bind", place)


def _away(call: "Call", chance: random.Random) -> tuple[str, Callable[[], None]]:
    """Of a network's disk that is dropped, the empty folder below remains, in which anyone may write."""
    place = call.bench.root / "results"
    unmount("--lazy", place)
    return "took the folder of results away", lambda: mount("--bind", call.bench.results, place)


def _second(call: "Call", chance: random.Random) -> tuple[str, Callable[[], None]]:
    other = call.second()

    def ended() -> None:
        other.ended()
        call.others.append((other.code, other.said))

    return "started a second snakemake", ended


def _step(call: "Call", chance: random.Random) -> tuple[str, Callable[[], None]]:
    step_s = chance.choice([-86400, -3600, -5, 5, 3600, 86400])
    path = call.bench.root / STEP
    path.write_text(str(step_s))
    return f"set the jobs' wall clock by {step_s:+d} s", path.unlink


def _nothing(call: "Call", chance: random.Random) -> tuple[str, None]:
    return "nothing", None


KINDS = (
    Fault("nothing", _of(WORKER, 1, 0), _nothing),
    Fault("workload killed", _of(WORKER, 4, 0.7), _kill(WORKER)),
    Fault("sampler killed", _of(SAMPLER, 6, 1.0), _kill(SAMPLER)),
    Fault("job killed", _of(JOB, 8, 1.0), _kill(JOB)),
    Fault("snakemake killed", _anywhere, _kill_snakemake, ends_the_call=True),
    Fault("all killed", _anywhere, _kill_all, ends_the_call=True),
    Fault("stopped", _anywhere, _stop),
    Fault("disk full", _anywhere, _fill, heals="either"),
    Fault("read-only results", _anywhere, _read_only, heals="either"),
    Fault("two snakemakes", _anywhere, _second, heals="after"),
    Fault("clock set", _anywhere, _step, heals="either"),
    Fault("folder away", _anywhere, _away, heals="either"),
)
