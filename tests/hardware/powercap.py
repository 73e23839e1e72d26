"""A powercap tree that follows a script, and what else of /sys and /proc goes with it.

`python -m hardware.powercap SCRIPT` builds the tree over the real places, in a mount namespace of its own, and plays it
until it is ended.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from hardware.script import Script, load

STEP_S = 0.004
"""How often the counters move on."""

HELD_UP = "delayed_s"
"""Name of the file that tells the longest time in which they did not."""

_CLASS = Path("/sys/class")
_EVENTS = Path("/sys/bus/event_source/devices")
_TOPOLOGY = Path("/sys/devices/system/cpu")


class Tree:
    """The files of a powercap tree.

    Args:
        root: `/sys/class/powercap`, or a folder in its place.
        script: what it shows.
    """

    def __init__(self, root: Path, script: Script) -> None:
        self.root = root
        self.script = script
        self.counters: dict[str, int] = {}
        (root / "intel-rapl").mkdir()
        (root / "intel-rapl" / "subsystem").symlink_to(root)
        sockets = sorted(d.removeprefix("cpu:package-") for d in script.watts if d.startswith("cpu:package-"))
        for number, socket in enumerate(sockets):
            zone = self._zone(f"intel-rapl:{number}", f"package-{socket}", f"cpu:package-{socket}")
            (zone / "constraint_0_max_power_uw").write_text(f"{round(script.limit_w * 1e6)}\n")
            inner = [part for part in ("core", "uncore", "dram") if f"cpu:{part}-{socket}" in script.watts]
            for place, part in enumerate(inner):
                self._zone(f"intel-rapl:{number}/intel-rapl:{number}:{place}", part, f"cpu:{part}-{socket}")
        if "cpu:psys" in script.watts:
            self._zone(f"intel-rapl:{len(sockets)}", "psys", "cpu:psys")

    def _zone(self, folder: str, label: str, domain: str) -> Path:
        """A zone under the control type, and the link to it that the class folder holds."""
        path = self.root / "intel-rapl" / folder
        path.mkdir(parents=True)
        (path / "name").write_text(f"{label}\n")
        (path / "enabled").write_text("1\n")
        wrap_j = self.script.wrap_j.get(domain, 262_143.328_85)
        (path / "max_energy_range_uj").write_text(f"{round(wrap_j * 1e6)}\n")
        (path / "energy_uj").write_text("0" * 20 + "\n")
        (self.root / path.name).symlink_to(path)
        self.counters[domain] = os.open(path / "energy_uj", os.O_WRONLY)
        return path

    def show(self, second: float) -> None:
        """Let every counter show what it does at that second; one that cannot be read shows no number."""
        for domain, file in self.counters.items():
            if self.script.readable(domain, second):
                # As wide as ever, so that a reader never finds half a number.
                os.pwrite(file, f"{round(self.script.counter(domain, second) * 1e6):020d}\n".encode(), 0)
            else:
                os.pwrite(file, b"-" * 20 + b"\n", 0)


def mount_over(target: Path) -> None:
    """An empty folder in memory over a real one, in this mount namespace only."""
    subprocess.run(["mount", "-t", "tmpfs", "none", str(target)], check=True)


def bind_file(source: Path, target: Path) -> None:
    """A file over a real one, in this mount namespace only."""
    subprocess.run(["mount", "--bind", str(source), str(target)], check=True)


def install(script: Script, scratch: Path) -> tuple[Tree, Path]:
    """Put the scripted machine over the real one: powercap, perf's events, two sockets, and /proc/stat.

    Returns:
        the tree, and the file that lies over /proc/stat.
    """
    mount_over(_CLASS)
    (_CLASS / "powercap").mkdir()
    tree = Tree(_CLASS / "powercap", script)
    mount_over(_EVENTS)
    events = _EVENTS / "power" / "events"
    events.mkdir(parents=True)
    (events / "energy-pkg").write_text("event=0x02\n")
    if any(domain.startswith("cpu:dram") for domain in script.watts):
        (events / "energy-ram").write_text("event=0x03\n")
    for number, processor in enumerate(sorted(_TOPOLOGY.glob("cpu[0-9]*"))):
        socket = scratch / f"socket-{number}"
        socket.write_text(f"{number % 2 if 'cpu:package-1' in script.watts else 0}\n")
        bind_file(socket, processor / "topology" / "physical_package_id")
    stat = scratch / "stat"
    stat.write_text(stat_line(0.0))
    bind_file(stat, Path("/proc/stat"))
    return tree, stat


def stat_line(busy_s: float) -> str:
    """/proc/stat of a machine whose processors have worked that long together; as long a text whatever the number."""
    processors = "".join(f"cpu{number} 0 0 0 999 50 0 0 0 0 0\n" for number in range(os.cpu_count() or 1))
    busy = f"cpu  {round(busy_s * os.sysconf('SC_CLK_TCK')):020d} 0 0 999 50 0 0 0 0 0\n"
    return f"{busy}{processors}intr 0\nctxt 0\nbtime 1700000000\nprocesses 1\n"


def play(tree: Tree, stat: Path, script: Path) -> None:
    """Follow the script for ever, and keep in `delayed_s` beside it how long the counters once stood still.

    The script's start is read from its file once that names one.
    """
    while (known := load(script)).start_ns == 0:
        time.sleep(0.001)
    tree.script = known
    file = os.open(stat, os.O_WRONLY)
    domain = "cpu:package-0"
    due_s = shown_s = known.now_s()
    delayed_s = 0.0
    held_up = os.open(script.parent / HELD_UP, os.O_WRONLY | os.O_CREAT)
    while True:
        now_s = known.now_s()
        if now_s - shown_s > delayed_s:
            delayed_s = now_s - shown_s
            os.pwrite(held_up, f"{delayed_s:020.9f}".encode(), 0)
        shown_s = now_s
        tree.show(now_s)
        # A joule of the script is a second of work, so that an estimate of 1 W a busy processor finds its joules.
        os.pwrite(file, stat_line(known.joules(domain, 0, now_s)).encode(), 0)
        due_s += STEP_S
        time.sleep(max(due_s - known.now_s(), 0))


if __name__ == "__main__":
    path = Path(sys.argv[1])
    tree, stat = install(load(path), path.parent)
    print("installed", flush=True)
    play(tree, stat, path)
