"""One call of snakemake on the machine of the faults: started, watched, struck, waited for."""

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from checkout import command, heed_interrupts
from stand_ins import CONFIG

from framewatt.host.lock import VARIABLE as LOCK
from soak.bench import Bench

STUDY = "soak"
_LOOK_S = 0.01
_LONGEST_S = 300.0


@dataclass
class Call:
    """A call.

    Attributes:
        bench: the machine.
        targets: what is asked for.
        process: snakemake's.
        struck_by: process id by which the moment was told, 0 where it was told by time.
        others: exit code and words of further calls beside it.
    """

    bench: Bench
    targets: tuple[str, ...]
    process: "subprocess.Popen[bytes]"
    said_in: Path
    struck_by: int = 0
    others: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def start(cls, bench: Bench, targets: tuple[str, ...], name: str = "said") -> "Call":
        """Begin a call."""
        said = bench.folder / name
        return cls(bench, targets, _start(bench, targets, said), said)

    def second(self) -> "Call":
        """The same once more beside it."""
        return Call.start(self.bench, self.targets, "said-by-others")

    @property
    def said(self) -> str:
        """What it printed so far."""
        return self.said_in.read_text(errors="replace")

    def comes(self, process: str, number: int, delay_s: float) -> bool:
        """Wait for a moment, see kinds.Moment; False where the call ended before it."""
        began_s = time.monotonic()
        seen: dict[int, float] = {0: began_s} if not process else {}
        while self.process.poll() is None:
            now_s = time.monotonic()
            if process:
                for pid, words in self.bench.processes().items():
                    if process in words and pid not in seen:
                        seen[pid] = now_s
            if len(seen) >= number:
                self.struck_by, appeared_s = list(seen.items())[number - 1]
                if now_s - appeared_s >= delay_s:
                    return True
            time.sleep(_LOOK_S)
        return False

    def ended(self) -> bool:
        """Wait for its end; False where it takes too long and was killed."""
        try:
            self.process.wait(timeout=_LONGEST_S)
        except subprocess.TimeoutExpired:
            self.bench.end(list(self.bench.processes()))
            self.process.wait()
            return False
        return True

    @property
    def code(self) -> int:
        """Its exit code, negative for a signal."""
        return self.process.returncode


def environment(bench: Bench) -> Mapping[str, str]:
    """Of a call: every file that is written lies on the machine's own disks."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    scratch, cache = bench.root / "scratch", bench.folder / "cache"
    return {**kept, LOCK: str(bench.lock), "TMPDIR": str(scratch), "XDG_CACHE_HOME": str(cache)}


def _start(bench: Bench, targets: tuple[str, ...], said: Path) -> "subprocess.Popen[bytes]":
    with said.open("wb") as file:
        return subprocess.Popen(
            command(*targets, config=f"study={STUDY} {CONFIG}"),
            cwd=bench.root,
            env=environment(bench),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=heed_interrupts,  # noqa: PLW1509  # nothing here has threads
        )
