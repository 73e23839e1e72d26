"""A /proc and /sys whose counters a test sets, and which a neighbour, a hypervisor or a disk can move."""

from dataclasses import dataclass, field
from pathlib import Path

from framewatt.witness.judgement import DISTURBED

TICKS = 100
"""Ticks a second, in which processor time is told."""

RUNNER, SAMPLER, WORKER = 50, 60, 70
"""Process ids of the parties of a run."""


def but_for_others(flags: list[str]) -> list[str]:
    """Flags of a run without those of what others did beside it: a test may run on a machine that is at work."""
    return [flag for flag in flags if not flag.startswith(DISTURBED)]


@dataclass
class Process:
    """What /proc tells of a process; processor time in ticks."""

    parent: int
    cpu: int = 0
    waited: int = 0
    started: int = 1000
    switches: int = 0
    major: int = 0
    read_b: int | None = 0
    name: str = "a (b) c"


@dataclass
class Kernel:
    """A kernel of some processors. `write` puts what it counts where a witness reads it.

    Attributes:
        root: where /proc and /sys are.
        idle, iowait, steal, ticked: ticks of all processors together; `ticked` found one at work.
        stall_us: microseconds in which tasks waited, by what they waited for; None is a kernel that does not count it.
        processes: by id.
    """

    root: Path
    processors: int = 2
    idle: int = 0
    iowait: int = 0
    steal: int = 0
    ticked: int = 0
    stall_us: dict[str, int] | None = field(default_factory=lambda: dict.fromkeys(("cpu", "memory", "io"), 0))
    swapped_pages: int = 0
    sectors: int = 0
    disks: tuple[str, ...] = ("sda", "sda1", "loop0")
    processes: dict[int, Process] = field(default_factory=dict)

    def write(self) -> "Kernel":
        """Put all counters in their files, and take those of processes away that are gone."""
        each = [divmod(total, self.processors) for total in (self.idle, self.iowait, self.steal, self.ticked)]
        rows = []
        for n in range(self.processors):
            idle, iowait, steal, ticked = (share + (n < rest) for share, rest in each)
            rows.append(f"cpu{n} {ticked} 0 1 {idle} {iowait} 0 0 {steal} 0 0")
        self.put("proc/stat", "\n".join(["cpu  9 0 9 9 9 0 0 9 0 0", *rows, "intr 7", ""]))
        for what, total in (self.stall_us or {}).items():
            line = f"some avg10=0.00 avg60=0.00 avg300=0.00 total={total}\nfull avg10=0.00 total=0\n"
            self.put(f"proc/pressure/{what}", line)
        self.put("proc/vmstat", f"nr_free 1\npswpin {self.swapped_pages}\npswpout 0\npgmajfault 3\n")
        disks = [f"8 {n} {name} 1 0 {self.sectors} 0 0 0 0 0 0 0 0\n" for n, name in enumerate(self.disks)]
        self.put("proc/diskstats", "".join(disks))
        for name in self.disks:
            if not name.endswith("1"):
                (self.root / "sys/block" / name).mkdir(parents=True, exist_ok=True)
        for path in (self.root / "proc").glob("[0-9]*/stat"):
            if int(path.parent.name) not in self.processes:
                path.unlink()
                path.parent.rename(
                    path.parent.with_name(f"gone-{path.parent.name}-{len(list(path.parents[1].iterdir()))}")
                )
        for pid, one in self.processes.items():
            stat = f"{pid} ({one.name}) S {one.parent} 0 0 0 0 0 5 0 {one.major} 0 {one.cpu} 0 {one.waited} 0"
            self.put(f"proc/{pid}/stat", f"{stat} 20 0 1 0 {one.started} 0 0")
            self.put(f"proc/{pid}/task/{pid}/status", f"Name:\tx\nnonvoluntary_ctxt_switches:\t{one.switches}\n")
            if one.read_b is not None:
                self.put(f"proc/{pid}/io", f"rchar: 9\nread_bytes: {one.read_b}\n")
        return self

    def put(self, name: str, text: str) -> None:
        """Write a file of the kernel's."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def kernel(root: Path, **change: object) -> Kernel:
    """A kernel with a run under way: its runner, sampling process and worker."""
    processes = {1: Process(0), RUNNER: Process(1), SAMPLER: Process(RUNNER), WORKER: Process(RUNNER)}
    return Kernel(root, processes=processes, **change)  # type: ignore[arg-type]
