"""A run that others disturbed is measured once more, at once, when the machine is quiet; the second try counts.

It counts whatever came of it, also where it was disturbed, too: to choose between both is to choose a result.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from framewatt.files import sha256_of
from framewatt.records import read_run
from framewatt.witness.judgement import MOST_OTHERS
from framewatt.witness.machine_wide import processor_times
from framewatt.witness.policy import REPEAT, disturbance_of
from framewatt.witness.usable import processors_allowed, quotas_of

_LOOK_S = 1.0


def measured_once_more(
    measure: Callable[[Mapping[str, Any]], str | None], job: Mapping[str, Any], path: Path
) -> str | None:
    """Measure a run, and once more where others disturbed it and the study has such runs repeated.

    Args:
        measure: measures a job and leaves its record; None where the run is ok, else why it is not.
        job: see runner.measure.
        path: of the record.

    Returns:
        what the last try gave.
    """
    reason = measure(job)
    record = read_run(path)
    first = _told_of(record, path)
    if disturbance_of(job) != REPEAT or not first["disturbed"]:
        return reason
    process = record["windows"]["process"]
    wait_until_quiet(process["duration_s"])
    return measure({**job, "attempt": job["attempt"] + 1, "first_try": first})


def wait_until_quiet(timeout_s: float, root: Path = Path("/")) -> bool:
    """Wait until nobody works for a second, but for what a window allows; whether it came to that in time.

    Args:
        timeout_s: seconds to wait at most.
        root: the file system, or a copy of its /proc and /sys.
    """
    most = MOST_OTHERS * processors_allowed(quotas_of(root))
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        before = time.monotonic(), *processor_times(root)
        time.sleep(_LOOK_S)
        after = time.monotonic(), *processor_times(root)
        elapsed_s, idle_s, steal_s = (
            b - a if a is not None and b is not None else None for a, b in zip(before[:3], after[:3], strict=True)
        )
        if elapsed_s is None or idle_s is None or steal_s is None or after[3] is None:
            return False
        if after[3] - (idle_s + steal_s) / elapsed_s <= most:
            return True
    return False


def _told_of(record: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """What the record of the second try says of the first one."""
    primary = record["windows"].get(record["primary_window"]) or {}
    witness = primary.get("witness") or {}
    return {
        "attempt": record["attempt"],
        "sequence": record["chain"]["sequence"],
        "run_sha256": sha256_of(path),
        "duration_s": primary.get("duration_s"),
        "energy_gross_j": {name: one["energy_gross_j"] for name, one in primary.get("domains", {}).items()},
        "disturbed": list(witness.get("disturbed") or []),
    }
