"""`make scale TRACE=100000000`: what one trace of so many readings takes: written, and counted in fifty windows.

It is counted as it is opened, a channel at a time, and held in memory whole: the windows must be the same to the last
digit.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from framewatt.energy.accounting import windows_of
from framewatt.meters import trace_file
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import open_trace, write_trace
from scale.stages import cost_of

_COUNTERS, _WINDOWS, _WRAP_J = 4, 50, 262143.32885
_PERIOD_NS = 1_000_000
_LEAST = 40_000


def main() -> None:
    """Write a trace, count it both ways, each in a process of its own, and tell what each took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readings", type=int, default=100_000_000, help="of four counters together")
    parser.add_argument("--do", choices=_STEPS, help="one step, in this process")
    parser.add_argument("--folder", type=Path, help="where the trace lies, or is to lie")
    args = parser.parse_args()
    if args.readings < _LEAST:
        parser.error(f"--readings: found {args.readings}; allowed: at least {_LEAST}, so that every window has some")
    if args.do:
        _STEPS[args.do](args.folder / "power.parquet", args.readings // _COUNTERS)
        return
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        words = [sys.executable, "-m", "scale.long_trace", f"--readings={args.readings}", f"--folder={folder}"]
        for step in _STEPS:
            cost = cost_of(
                [*words, f"--do={step}"], Path(folder), PYTHONPATH=os.pathsep.join(map(os.path.abspath, sys.path))
            )
            print(f"{step}: {cost.cpu_s:.1f} s of processor time, {cost.memory_mb:.0f} MB", flush=True)
        told = {path.name: path.read_text() for path in Path(folder).glob("*.sha256")}
    if len(set(told.values())) != 1:
        sys.exit(f"scale: found other windows by another way of reading: {told}")
    print(f"the same {_WINDOWS} windows both ways: {told.popitem()[1]}")


def _write(path: Path, each: int) -> None:
    """Counters of about 75 W, read each millisecond, of which the sampling process writes one behind the other."""
    rng = np.random.default_rng(1)
    channels = tuple(
        Channel("rapl", f"cpu:package-{number}", "energy_j", COUNTER, 0.001, False, 61e-6, _WRAP_J, 500.0, 0.001)
        for number in range(_COUNTERS)
    )
    value = np.empty(_COUNTERS * each)
    for number in range(_COUNTERS):
        joules = np.rint(np.cumsum(rng.uniform(0.05, 0.1, each)) * 1e6) * 1e-6
        value[number * each : (number + 1) * each] = joules % _WRAP_J
    time_ns = np.arange(each) * _PERIOD_NS
    number = np.repeat(np.arange(_COUNTERS, dtype=np.int32), each)
    write_trace(path, Trace(channels, np.tile(time_ns, _COUNTERS), number, value))


def _open(path: Path, each: int) -> None:
    trace_file._FEW_ROWS = 0
    _tell(path.with_name("opened.sha256"), windows_of(_spans(each), open_trace(path), {"domains": {}}))


def _hold(path: Path, each: int) -> None:
    trace_file._FEW_ROWS = _COUNTERS * each
    _tell(path.with_name("held.sha256"), windows_of(_spans(each), open_trace(path), {"domains": {}}))


_STEPS = {"written": _write, "counted, a channel at a time": _open, "counted, all in memory": _hold}


def _spans(each: int) -> dict[str, list[tuple[int, int]]]:
    """Windows one behind the other, with a bit before the first and after the last."""
    edges = np.linspace(0, each * _PERIOD_NS, _WINDOWS + 3).astype(np.int64)[1:-1].tolist()
    return {f"window {number}": [(edges[number], edges[number + 1])] for number in range(_WINDOWS)}


def _tell(path: Path, windows: dict) -> None:
    assert all(energy["valid"] for window in windows.values() for energy in window["domains"].values())
    path.write_text(hashlib.sha256(json.dumps(windows, sort_keys=True).encode()).hexdigest())


if __name__ == "__main__":
    main()
