"""A machine of its own for the faults: namespaces, a disk of its own, scripted load, and what runs on it.

Everything is below one folder, in namespaces of mounts and processes: whatever is mounted or left running is gone with
them, and a process that a fault leaves behind is seen, since nothing else runs there.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hardware.namespaces import ROOT
from hardware.powercap import bind_file, stat_line

BUSY = 1.0
"""Processors that are busy by the scripted /proc/stat, always: the estimate's power is the same all the time."""

_UNSHARE = ("unshare", "--map-root-user", "--mount", "--mount-proc", "--pid", "--fork", "--kill-child")
_STEP_S = 0.004
_INSIDE = "FRAMEWATT_SOAK_INSIDE"
_DISK = "size=256m"
_AGE_OF_A_CHILD_S = 60.0


def go_inside(module: str, words: list[str]) -> None:
    """Begin this module again in namespaces of its own and end with its exit code; return at once inside of them."""
    if os.environ.get(_INSIDE):
        return
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}:{os.environ.get('PYTHONPATH', '')}"}
    with tempfile.TemporaryDirectory(prefix="framewatt-soak-") as folder:
        done = subprocess.run(
            [*_UNSHARE, sys.executable, "-m", module, *words],
            cwd=ROOT,
            env={**environment, _INSIDE: folder},
            check=False,
        )
    sys.exit(done.returncode)


@dataclass(frozen=True)
class Bench:
    """The machine.

    Attributes:
        folder: everything of it.
        player: process id of what plays the load.
    """

    folder: Path
    player: int
    _known: set[int] = field(default_factory=set)

    @property
    def root(self) -> Path:
        """The checkout, a disk of its own."""
        return self.folder / "checkout"

    @property
    def results(self) -> Path:
        """Where the results really are, on a disk of their own; bound into the checkout."""
        return self.folder / "store"

    @property
    def lock(self) -> Path:
        """Folder of this machine's lock of measurements."""
        return self.folder / "lock"

    def processes(self) -> dict[int, str]:
        """Command lines of all processes but this one and the player, by id; those that have ended are left out."""
        found = {}
        for entry in os.listdir("/proc"):  # noqa: PTH208 # looked at every 10 ms
            if not entry.isdigit() or int(entry) in (os.getpid(), self.player):
                continue
            with contextlib.suppress(OSError):
                words = Path("/proc", entry, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if words:  # a zombie has none
                    found[int(entry)] = words.strip()
        return found

    def reap(self) -> None:
        """Take leave of children that were adopted, as the first process of a machine does."""
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def all_ended(self, within_s: float) -> dict[int, str]:
        """Wait until no process is left; those that still are after some seconds."""
        deadline = time.monotonic() + within_s
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left

    def end(self, pids: Iterator[int] | list[int]) -> None:
        """Kill processes of this machine."""
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def bench() -> Iterator[Bench]:
    """The machine, once inside its namespaces."""
    folder = Path(os.environ[_INSIDE])
    for name in ("checkout", "store"):
        (folder / name).mkdir()
        mount("-t", "tmpfs", "-o", _DISK, "none", folder / name)
    (folder / "lock").mkdir()
    stat = folder / "stat"
    stat.write_text(stat_line(0.0))
    bind_file(stat, Path("/proc/stat"))
    player = subprocess.Popen([sys.executable, "-m", "soak.bench", str(stat)])
    try:
        yield Bench(folder, player.pid)
    finally:
        player.kill()
        player.wait()


def mount(*words: str | Path) -> None:
    """Mount something in this namespace."""
    subprocess.run(["mount", *words], check=True)


def unmount(*words: str | Path) -> None:
    """Undo it."""
    subprocess.run(["umount", *words], check=True)


def play(stat: Path) -> None:
    """Let the scripted processors work for ever."""
    file = os.open(stat, os.O_WRONLY)
    began_s = time.monotonic()
    while True:
        os.pwrite(file, stat_line(BUSY * (time.monotonic() - began_s)).encode(), 0)
        time.sleep(_STEP_S)


if __name__ == "__main__":
    play(Path(sys.argv[1]))
