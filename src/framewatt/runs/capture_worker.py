"""Writes down which operators a step of a cell's program calls, with which arguments; nothing is measured.

`python -m framewatt.runs.capture_worker <job.json>` runs inside a framework's environment, as the worker does.
"""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from framewatt.base.files import read_json, write_json
from framewatt.datasets.storing import load_arrays
from framewatt.workloads import make_inference, make_training
from framewatt.workloads.contract import Workload, spec_of
from framewatt.workloads.repeaters import CANNOT, UnrepeatableError, make_repeater

STEPS = 3
"""Steps that are looked at: so many from a pass's beginning, and its last one, which may be smaller."""

FAR = 200
"""Steps of a pass whose last one is not looked at, since all batches before it would have to be made."""

_WARM = 1


def main(job_path: str) -> None:
    """Write the cases, or why there are none, to `job["result"]`."""
    job = read_json(Path(job_path))
    folder = Path(job["captured"])
    try:
        repeater = make_repeater(job["engine"], spec_of(job), folder)
        workload = _warm(job)
        cases = repeater.captured(workload, _batches(workload, int(job["phase"] == "train")))
        found: dict[str, Any] = {"cases": [case.to_dict() for case in cases], "cannot": None}
        workload.close()
    except UnrepeatableError as error:
        found = {"cases": [], "cannot": f"{CANNOT}{error}"}
    write_json(Path(job["result"]), found)


def _warm(job: dict[str, Any]) -> Workload:
    data = load_arrays(Path(job["data"]))
    make = make_training if job["phase"] == "train" else make_inference
    workload: Workload = make(job["engine"], spec_of(job), data)
    workload.setup()
    for batch in itertools.islice(workload.batches(int(job["phase"] == "train")), _WARM):
        workload.run(batch)
    workload.synchronize()
    return workload


def _batches(workload: Workload, epoch: int) -> Iterator[Any]:
    """The first batches of a pass and its last."""
    last = len(workload.steps(epoch)) - 1
    batches = workload.batches(epoch)
    for place, batch in enumerate(batches if last < FAR else itertools.islice(batches, STEPS)):
        if place < STEPS or place == last:
            yield batch


if __name__ == "__main__":
    main(sys.argv[1])
