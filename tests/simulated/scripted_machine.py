"""The machine around a simulated process: files of the kernel, pynvml, perf, nvidia-smi and a disk, all by a script."""

import errno
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hardware import script as script_module
from hardware.case import LOGGER_AHEAD_S, LOGGER_PERIOD_S
from hardware.powercap import Tree, stat_line
from hardware.printed import gpu_line, gpu_list, perf_lines
from hardware.script import VARIABLE, Script

from framewatt.meters import estimate, external, make_meter, nvidia_smi, perf, rapl
from framewatt.meters.contract import Meter
from framewatt.sampling import __main__ as process
from framewatt.sampling import loop, opening, raw, turns
from simulated.process_clock import EPOCH_NS, ORIGIN_NS, S, Time

_STDIN = 1_000_000
"""Descriptor of standard input; those of programs follow it. No real one is as large."""

_PRINT_S = 2e-4
"""Mean time by which a program prints late."""

_PAGE_B = 4096
_MODULES = Path(script_module.__file__).parent / "modules"


class _Program:
    """Takes the place of `subprocess_lines.Lines`: a program that prints as the scripted one does, when it is due."""

    def __init__(self, machine: "Machine", command: Sequence[str]) -> None:
        self._machine = machine
        self._rest: list[str] = []
        self.ended = False
        self.stream = _STDIN + 1 + len(machine.programs)
        now_s = self._began_s = self._last_s = machine.time.now_s
        if command[0] == "perf":
            self._period_s = int(command[command.index("-I") + 1]) / 1000
            events = command[command.index("-e") + 1].split(",")
            self._events = [name.removeprefix("power/").removesuffix("/") for name in events]
            self._in_json = "-j" in command
            self._next_s = now_s + self._period_s
        else:
            options = dict(word.split("=", 1) for word in command if "=" in word)
            self._period_s, self._events = int(options["--loop-ms"]) / 1000, []
            self._fields = options["--query-gpu"].split(",")
            self._next_s = now_s
        self._due_s = self._next_s
        machine.programs.append(self)

    @property
    def next_ns(self) -> int:
        """When its next line comes, or now where one waits."""
        return ORIGIN_NS + round(self._next_s * S)

    def take(self) -> list[str]:
        """Return the lines up to now."""
        now_s = self._machine.time.now_s
        while self._next_s <= now_s:
            self._print(self._next_s)
            self._due_s += self._period_s
            self._next_s = max(self._due_s, self._next_s) + self._machine.rng.exponential(_PRINT_S)
        lines, self._rest = self._rest, []
        return lines

    def stop(self) -> list[str]:
        """End it: perf prints its last, shorter interval."""
        lines = self.take()
        if self._events:
            self._print(self._machine.time.now_s)
        self.ended = True
        rest, self._rest = self._rest, []
        return lines + rest

    def _print(self, second: float) -> None:
        script = self._machine.script
        if self._events:
            self._rest += perf_lines(script, self._began_s, self._last_s, second, self._events, in_json=self._in_json)
            self._last_s = second
        else:
            self._rest.append(gpu_line(script, second, self._fields))


class Disk:
    """A disk of some pages, of which each file takes whole ones."""

    def __init__(self, size_b: int | None) -> None:
        self.free = np.inf if size_b is None else size_b // _PAGE_B

    def place(self, path: Path, first: int, count: int) -> Any:
        """Take the place of `raw._path`: where a file of readings is opened."""
        return SimpleNamespace(
            open=lambda _mode: io.BufferedWriter(_OnDisk(self, path.with_name(f"{path.name}.{first}-{count}")))
        )


class _OnDisk(io.FileIO):
    def __init__(self, disk: Disk, path: Path) -> None:
        super().__init__(path, "wb")
        self._disk, self._pages = disk, 0

    def write(self, data: Any) -> int:
        """Write as much as fits; nothing more is an error, as on a real disk."""
        at_b, data = self.tell(), bytes(data)
        wanted = -(-(at_b + len(data)) // _PAGE_B)
        taken = int(min(max(wanted - self._pages, 0), self._disk.free))
        self._disk.free -= taken
        self._pages += taken
        fits_b = min(self._pages * _PAGE_B - at_b, len(data))
        if not fits_b:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data[:fits_b])


class Machine:
    """The scripted machine around the process.

    Args:
        script: its hardware.
        scratch: an empty folder, for the files that the meters read.
        time: its clock.
        rng: of everything that is by chance.
        stands_still: see sample_script.
    """

    def __init__(
        self,
        script: Script,
        scratch: Path,
        time: Time,
        rng: np.random.Generator,
        stands_still: Sequence[tuple[float, float]],
    ) -> None:
        self.script, self.time, self.rng, self._scratch = script, time, rng, scratch
        self._stands_still = stands_still
        self.programs: list[_Program] = []
        self.wall = scratch / "wall.csv"
        self._powercap = scratch / "sys/class/powercap"
        self._powercap.mkdir(parents=True)
        self._tree = Tree(self._powercap, script)
        self._stat = os.open(scratch / "stat", os.O_RDWR | os.O_CREAT)
        self._log = self.wall.open("w")
        self._log.write("when,watts\n")
        self._logged_s, self._shown_ms = 0.0, -1
        for name, text in self._files().items():
            path = scratch / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        time.moved = self._show
        self._show(time.now_s)

    def _files(self) -> dict[str, str]:
        """Return files of the kernel that never change, by name."""
        sockets = len([domain for domain in self.script.watts if domain.startswith("cpu:package-")])
        topology = "sys/devices/system/cpu"
        files = {f"{topology}/cpu{n}/topology/physical_package_id": f"{n % sockets}\n" for n in range(2)}
        files |= {f"{topology}/present": "0-1\n", "paranoid": "-1\n", "events/energy-pkg": "event=0x02\n"}
        if any(domain.startswith("cpu:dram") for domain in self.script.watts):
            files["events/energy-ram"] = "event=0x03\n"
        return files

    def _show(self, second: float) -> None:
        """Let all files show what they do at a second; counters are refreshed each millisecond, as RAPL's are."""
        held_up = any(begin <= second < end for begin, end in self._stands_still)
        if (ms := int(second * 1000)) != self._shown_ms and not held_up:
            self._shown_ms = ms
            self._tree.show(ms / 1000)
            # A joule of the script is a second of work, as in hardware.powercap.
            os.pwrite(self._stat, stat_line(self.script.joules("cpu:package-0", 0, second)).encode(), 0)
        if "external:wall" in self.script.watts:
            while self._logged_s <= second:
                when = (ORIGIN_NS + EPOCH_NS) / S + self._logged_s + LOGGER_AHEAD_S
                self._log.write(f"{when:.6f},{self.script.watts_at('external:wall', self._logged_s)}\n")
                self._logged_s += LOGGER_PERIOD_S
            self._log.flush()

    @contextmanager
    def installed(self, end_s: float, disk: Disk) -> Iterator[None]:
        """Put the machine around the process in this one.

        Args:
            end_s: second at which standard input closes.
            disk: takes the trace.
        """
        self.script.save(self._scratch / "script.json")
        end_ns = ORIGIN_NS + round(end_s * S)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(VARIABLE, str(self._scratch / "script.json"))
            patch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
            for module in (loop, opening, turns, estimate, external, perf, nvidia_smi, script_module):
                patch.setattr(module, "time", self.time)
            patch.setattr(loop, "gc", SimpleNamespace(disable=lambda: None))
            patch.setattr(loop, "sys", SimpleNamespace(stdin=SimpleNamespace(fileno=lambda: _STDIN)))
            patch.setattr(loop, "select", SimpleNamespace(select=self._select(end_ns)))
            patch.setattr(process, "signal", SimpleNamespace(signal=lambda *_: None, SIGINT=2))
            patch.setattr(process, "make_meter", self._make_meter)
            patch.setattr(raw, "_path", disk.place)
            for module in (perf, nvidia_smi):
                patch.setattr(module, "shutil", SimpleNamespace(which=lambda name: name))
                patch.setattr(module, "subprocess", SimpleNamespace(run=self._answer, DEVNULL=None))
                patch.setattr(module, "Lines", lambda command, _signal: _Program(self, command))
            patch.setitem(sys.modules, "pynvml", _scripted_nvml())
            self._redirect_pyrapl(patch)
            try:
                yield
            finally:
                os.close(self._stat)
                self._log.close()
                for file in self._tree.counters.values():
                    os.close(file)

    def _make_meter(self, name: str, options: dict[str, Any]) -> Meter:
        """Make a meter that finds its files where the scripted machine has them."""
        if name == "rapl":
            return rapl.Rapl(self._powercap, options["period_s"])
        if name == "perf":
            return perf.Perf(options["perf_period_s"], self._scratch / "events", self._scratch / "paranoid")
        if name == "estimate":
            watts = options["estimate_idle_w_per_core"], options["estimate_busy_w_per_core"]
            return estimate.Estimate(*watts, options["period_s"], self._scratch / "stat")
        return make_meter(name, options)

    def _answer(self, command: Sequence[str], **_: object) -> Any:
        """Answer a command that ends at once: whether perf knows JSON, and which GPUs there are."""
        lines = gpu_list(self.script) if command[0] == "nvidia-smi" else []
        return SimpleNamespace(returncode=0, stdout="\n".join(lines), stderr="")

    def _select(self, end_ns: int) -> Callable[..., tuple[list[int], list[int], list[int]]]:
        def select(waiting: Sequence[int], _write: object, _error: object, seconds: float) -> tuple[list[int], ...]:
            streams = {one.stream: one for one in self.programs if one.stream in waiting}
            until_ns = min([self.time.now_ns + round(seconds * S), end_ns, *(one.next_ns for one in streams.values())])
            if until_ns > self.time.now_ns:
                self.time.wait_until(until_ns)
            else:
                self.time.monotonic_ns()
            ready = [number for number, one in streams.items() if one.next_ns <= self.time.now_ns]
            return ready + ([_STDIN] if self.time.now_ns >= end_ns else []), [], []

        return select

    def _redirect_pyrapl(self, patch: pytest.MonkeyPatch) -> None:
        """Let pyRAPL read this machine's /sys."""
        import pyRAPL
        from pyRAPL import device_api

        def here(path: str) -> Path:
            return self._scratch / path.lstrip("/")

        exists = SimpleNamespace(exists=lambda path: here(path).exists())
        patch.setattr(device_api, "open", lambda path, mode="r": here(path).open(mode), raising=False)
        patch.setattr(device_api, "os", SimpleNamespace(path=exists))
        patch.setattr(pyRAPL, "_sensor", None, raising=False)


def _scripted_nvml() -> ModuleType:
    """Load the scripted pynvml anew: it reads the script that the environment names when it is loaded."""
    spec = importlib.util.spec_from_file_location("pynvml", _MODULES / "pynvml.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
