"""A run that other processes disturbed is measured once more as soon as the machine is quiet; the second try counts.

It counts even if it was disturbed, too: choosing between both tries would be choosing a result.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.files import sha256_of
from framewatt.runs.aside import MOST, SHARES, after_load, to_repeat
from framewatt.runs.job import RunJob
from framewatt.runs.records import read_run
from framewatt.witness.judgement import MOST_STOLEN, most_of_others
from framewatt.witness.machine_wide import processor_times
from framewatt.witness.policy import REPEATING, disturbance_of
from framewatt.witness.usable import processors_allowed, quotas_of

_LOOK_S = 1.0
_GLANCE_S, _WAIT_S = 0.2, 10.0
"""Before a first try: how long the machine is looked at, and how long it gets for others to end what is too much."""


def measured_once_more(
    measure: Callable[[RunJob], str | None],
    job: RunJob,
    path: Path,
    at_rest: float | None,
) -> str | None:
    """Measure a run; retry it once where other processes disturbed it and the study repeats such runs.

    Args:
        measure: measures a job and leaves its record; None where the run is ok, else why it is not.
        job: of the run.
        path: of the record.
        at_rest: processors that other processes used while idle power was measured.

    Returns:
        what `measure` returned for the last try.
    """
    if disturbance_of(job) in REPEATING:
        began_s = time.monotonic()
        wait_until_quiet(_WAIT_S, at_rest, most=MOST, look_s=_GLANCE_S)
        waited_s = time.monotonic() - began_s
        job = job if waited_s < 2 * _GLANCE_S else {**job, "waited_s": waited_s}
    reason = measure(job)
    record = read_run(path)
    if not to_repeat(job, (record["windows"].get(record["primary_window"]) or {}).get("witness")):
        return reason
    first = _told_of(record, path)
    process = record["windows"]["process"]
    wait_until_quiet(process["duration_s"], at_rest)
    return measure({**job, "attempt": job["attempt"] + 1, "first_try": first})


def wait_until_quiet(
    timeout_s: float,
    at_rest: float | None,
    root: Path = Path("/"),
    *,
    most: float | None = None,
    look_s: float = _LOOK_S,
) -> bool:
    """Wait until other processes and the hypervisor take no more than they may, over one look; False on timeout.

    Args:
        timeout_s: seconds to wait at most.
        at_rest: processors that other processes used while idle power was measured.
        root: the file system, or a copy of its /proc and /sys.
        most: share of the processors that each may take; None is what a window allows.
        look_s: seconds of a look.
    """
    usable = processors_allowed(quotas_of(root))
    most_stolen = (MOST_STOLEN if most is None else most) * usable
    most = (most_of_others(at_rest, usable) if most is None else most) * usable
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        began_s, before = time.monotonic(), processor_times(root)
        time.sleep(look_s)
        elapsed_s, after = time.monotonic() - began_s, processor_times(root)
        if before is None or after is None:
            return False
        worked_s, stolen_s = after.worked_s(before, elapsed_s), after.steal_s - before.steal_s
        if worked_s <= most * elapsed_s and stolen_s <= most_stolen * elapsed_s:
            return True
    return False


def _told_of(record: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Facts about the first try, for the record of the second."""
    primary = record["windows"].get(record["primary_window"]) or {}
    witness = primary.get("witness") or {}
    return {
        "attempt": record["attempt"],
        "sequence": record["chain"]["sequence"],
        "run_sha256": sha256_of(path),
        "duration_s": primary.get("duration_s"),
        "energy_gross_j": {name: one["energy_gross_j"] for name, one in primary.get("domains", {}).items()},
        "disturbed": list(witness.get("disturbed") or []),
        **{name: witness.get(name) for name in SHARES},
        "after_load": after_load(record),
    }
