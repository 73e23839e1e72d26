"""A profiled run: the work of a cell under cProfile, and the same work without it, which shows the profiler's cost.

`python -m framewatt.runs.profiling <job.json>` runs inside a framework's environment. Neither pass is measured: no
meter is read, and its record is none of a run's.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.files import read_json, sha256_of, write_json
from framewatt.runs.events import is_primary

RECORD = "profile.json"
DUMP = "profile.prof"
"""Names of the files of a profiled run."""

PLAIN, PROFILED = "plain", "profiled"
"""The two passes."""

_MODULES = {PLAIN: "framewatt.runs.worker", PROFILED: "framewatt.runs.profiled_worker"}


def main(job_path: str) -> None:
    """Make both passes, in an order that differs from cell to cell, and write the record."""
    job = read_json(Path(job_path))
    dump = Path(job["folder"]) / DUMP
    passes = {which: one_pass(job, which, dump) for which in order_of(job["cell_id"])}
    record = {name: job[name] for name in ("cell_id", "cell", "engine", "phase", "profile")}
    write_json(Path(job["folder"]) / RECORD, {**record, "passes": passes, "dump_sha256": sha256_of(dump)})


def order_of(cell_id: str) -> tuple[str, str]:
    """Return the order of a cell's passes. The second has warmer caches, so half of the cells have it profiled."""
    first = hashlib.sha256(cell_id.encode()).digest()[0] % 2
    return (PROFILED, PLAIN) if first else (PLAIN, PROFILED)


def one_pass(job: Mapping[str, Any], which: str, dump: Path) -> dict[str, Any]:
    """Run the worker once.

    Args:
        job: of the profiled run.
        which: PLAIN or PROFILED.
        dump: where the profile goes.

    Returns:
        process_s: seconds from the start of the process to its end.
        windows_s: seconds of the primary windows together.
        units: what was done in them, `name` and `count`.
    """
    with tempfile.TemporaryDirectory() as scratch:
        files = {name: str(Path(scratch, name)) for name in ("events", "result")} | {"dump": str(dump)}
        path = Path(scratch, "job.json")
        path.write_text(json.dumps({**job, **files}), encoding="utf-8")
        started = time.monotonic()
        done = subprocess.run([sys.executable, "-m", _MODULES[which], str(path)], check=False)
        process_s = time.monotonic() - started
        if done.returncode > 0:
            # The worker's last line states why.
            sys.exit(done.returncode)
        if done.returncode < 0:
            sys.exit(f"the {which} pass was ended by signal {-done.returncode}")
        lines = Path(files["events"]).read_text(encoding="utf-8").splitlines()
        units = read_json(Path(files["result"]))["units"]
    return {"process_s": process_s, "windows_s": windows_s(map(json.loads, lines)), "units": units}


def windows_s(events: Iterable[Mapping[str, Any]]) -> float:
    """Return the seconds of the primary windows together, by their edges."""
    sign = {"start": -1, "end": 1}
    total_ns: int = sum(sign[e["edge"]] * e["monotonic_ns"] for e in events if is_primary(e["window"]))
    return 1e-9 * total_ns


if __name__ == "__main__":
    main(sys.argv[1])
