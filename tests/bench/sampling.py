"""What the sampling process costs, and what other tools cost: on four RAPL domains, of a tree that stands still.

`python -m bench.sampling` runs in a mount namespace, where it puts the tree; it prints rows as JSON.
"""

import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

from hardware.peers import PEERS
from hardware.powercap import install
from hardware.script import Script

from bench.paired import Loops, Ratio, compare
from framewatt.sampling.client import Sampler

DOMAINS = {f"cpu:{part}-{socket}": [[0.0, 10.0]] for part in ("package", "dram") for socket in (0, 1)}
OPTIONS = {"period_s": 0.01}
SEGMENT_S = 1.5
PAIRS = 40
PEER_PAIRS = 12
WATCH_S = 5.0
WATCHES = 5


def sampler(scratch: Path) -> Sampler:
    """The sampling process on RAPL at 10 ms, with its witness."""
    return Sampler(["rapl"], OPTIONS, scratch / "trace.bin", witnessed=scratch / "events")


def beside(loops: Loops, scratch: Path) -> Callable[[], float]:
    """A segment of the loop beside the sampling process."""

    def segment() -> float:
        process = sampler(scratch)
        process.start()
        rate = loops.rate("mobilenet", SEGMENT_S)
        process.stop()
        return rate

    return segment


def beside_tool(tool: str) -> Ratio:
    """Rates with and without a tool.

    Processes differ by more than a tool costs, so both ways run in one; what a tool leaves behind slows both.
    """
    loops = Loops()
    ratio = compare(
        lambda: loops.rate("mobilenet", SEGMENT_S, tool), lambda: loops.rate("mobilenet", SEGMENT_S), PEER_PAIRS
    )
    loops.close()
    return ratio


def slowdown_row(name: str, ratio: Ratio, target: str, met: bool | None) -> dict:
    """A slowdown in percent from the ratio of rates with and without."""
    return {
        "name": name,
        "framewatt": 100 * (1 - ratio.median),
        "peer": None,
        "ratio": ratio.median,
        "ratio_low": ratio.low,
        "ratio_high": ratio.high,
        "unit": "% slower",
        "target": target,
        "met": met,
        "pairs": ratio.pairs,
    }


def watched(scratch: Path) -> list[dict]:
    """The sampler left alone and, in turns, what no sampler can take less than: waking, and waking to read counters."""
    shares, late_s, waking, reading = [], [], [], []
    counters = [os.open(path, os.O_RDONLY) for path in sorted(Path("/sys/class/powercap").glob("*/energy_uj"))]
    for _ in range(WATCHES):
        process = sampler(scratch)
        process.start()
        time.sleep(WATCH_S)
        summary = process.stop()
        shares.append(100 * summary["core_share"])
        late_s.append(summary["lateness_p99_s"])
        waking.append(waking_share())
        reading.append(waking_share(lambda: [int(os.pread(file, 32, 0)) for file in counters]))
    share, late_ms = statistics.median(shares), 1e3 * max(late_s)
    bare = statistics.median(waking)
    only_waking = _plain("a loop that does nothing but wake at 10 ms: share of a core", None, "%")
    only_reading = _plain("a loop that wakes to read these counters, and keeps nothing: share of a core", None, "%")
    return [
        _plain("sampler: share of a core at 10 ms, four domains", share, "%"),
        {**only_waking, "peer": bare},
        {**only_reading, "peer": statistics.median(reading)},
        _plain("sampler over a loop that only wakes", share / bare, "times its share", "<= 1.5", share <= 1.5 * bare),
        _plain("sampler: p99 lateness at 10 ms, four domains", late_ms, "ms", "<= 2", late_ms <= 2),
    ]


def waking_share(work: Callable[[], object] = lambda: None) -> float:
    """Percent of a core that this machine takes for waking a process every 10 ms.

    Args:
        work: what it does then.
    """
    started_ns, cpu_started_ns = time.monotonic_ns(), time.process_time_ns()
    due_ns = started_ns
    while due_ns < started_ns + WATCH_S * 1e9:
        due_ns += round(OPTIONS["period_s"] * 1e9)
        time.sleep(max(0, due_ns - time.monotonic_ns()) * 1e-9)
        work()
    return 100 * (time.process_time_ns() - cpu_started_ns) / (time.monotonic_ns() - started_ns)


def main() -> None:
    """Print the rows."""
    scratch = Path(mkdtemp())
    script = Script(watts=DOMAINS)
    tree, _ = install(script, scratch)
    tree.show(0.0)
    rows = watched(scratch)
    loops = Loops()

    def bare() -> float:
        return loops.rate("mobilenet", SEGMENT_S)

    ratio = compare(beside(loops, scratch), bare, PAIRS)
    rows.append(
        slowdown_row("MobileNetV2 batch 1 beside the sampler at 10 ms", ratio, "<= 0.5", 1 - ratio.median <= 0.005)
    )
    loops.close()
    for tool in PEERS:
        ratio = beside_tool(tool)
        row = slowdown_row(f"MobileNetV2 batch 1 beside {tool}", ratio, "", None)
        rows.append({**row, "peer": row["framewatt"], "framewatt": None})
    print(json.dumps(rows))


def _plain(name: str, value: float | None, unit: str, target: str = "", met: bool | None = None) -> dict:
    return {"name": name, "framewatt": value, "peer": None, "ratio": None, "unit": unit, "target": target, "met": met}


if __name__ == "__main__":
    main()
