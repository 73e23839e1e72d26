"""Operators of a program alone: which ones it calls, which of them can be called, and loops of each.

`python -m framewatt.runs.repeat_worker <job.json>` runs inside a framework's environment, as the worker does. The job's
`step` is one of three, each in a process of its own:

- CAPTURE writes down which operators a step of the cell's program calls, with which arguments.
- TRY calls each once, so that operators that fail are known before any is sampled. It ends at the first failure that
  may have left the framework or its device in an unknown state, and is then started again for the rest.
- REPEAT calls each in loops of its own, and is sampled. It goes over all operators several times, in alternating
  directions, so that a drift is seen and affects all of them alike.
"""

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from framewatt.base.files import read_json, write_json
from framewatt.datasets.storing import load_arrays
from framewatt.runs.events import Events
from framewatt.workloads import make_inference, make_training
from framewatt.workloads.contract import Workload, spec_of
from framewatt.workloads.repeaters import CANNOT, Case, Repeater, UnrepeatableError, make_repeater

STEPS = 3
"""Steps that are looked at: so many from a pass's beginning, and its last one, which may be smaller."""

FAR = 200
"""Steps of a pass from which on its last step is not looked at, since all batches before it would have to be made."""

_WARM = 1


def capture(job_path: str) -> None:
    """Write the cases, or why there are none, to `job["result"]`."""
    job = read_json(Path(job_path))
    folder = Path(job["captured"])
    try:
        repeater = make_repeater(job["engine"], spec_of(job), folder)
        workload = _warm(job)
        cases = repeater.captured(workload, _batches(workload, int(job["phase"] == "train")))
        captured: dict[str, Any] = {"cases": [case.to_dict() for case in cases], "cannot": None}
        workload.close()
    except UnrepeatableError as error:
        captured = {"cases": [], "cannot": f"{CANNOT}{error}"}
    write_json(Path(job["result"]), captured)


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
    """Yield the first batches of a pass and its last."""
    last = len(workload.steps(epoch)) - 1
    batches = workload.batches(epoch)
    for place, batch in enumerate(batches if last < FAR else itertools.islice(batches, STEPS)):
        if place < STEPS or place == last:
            yield batch


STARTED = "started"
"""The outcome of a case until its call has returned or raised."""


def try_each(job_path: str) -> None:
    """Call the cases of `job["cases"]` at `job["left"]`; append the outcome of each to `job["tried"]` at once."""
    job = read_json(Path(job_path))
    repeater = make_repeater(job["engine"], spec_of(job), Path(job["captured"]))
    with Path(job["tried"]).open("a", encoding="utf-8") as file:

        def write_outcome(place: int, outcome: str | None) -> None:
            file.write(json.dumps({"case": place, "outcome": outcome}) + "\n")
            file.flush()

        for place in job["left"]:
            write_outcome(place, STARTED)
            try:
                repeater.make_call(Case.from_dict(job["cases"][place]))()
                repeater.synchronize()
            except UnrepeatableError as error:
                write_outcome(place, f"{CANNOT}{error}")
            # Whatever a framework raises is why this operator has no number.
            except Exception as error:
                write_outcome(place, f"{CANNOT}{type(error).__name__}: {_line(error)}")
                break
            else:
                write_outcome(place, None)
    write_json(Path(job["result"]), {})


def reasons_of(path: Path) -> dict[int, str | None]:
    """Return why each tried case cannot be repeated, by its place; None if it can, STARTED if the process ended in it.

    Args:
        path: the file that `try_each` appends to; a line that was cut short is left out.
    """
    outcomes: dict[int, Any] = {}
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else ():
        if line.endswith("\n"):
            entry = json.loads(line)
            outcomes[entry["case"]] = entry["outcome"]
    return outcomes


def _line(error: BaseException) -> str:
    """Return the first line of an error's text, which may be a whole traceback of C++."""
    return (str(error).strip().splitlines() or ["without a word"])[0][:300]


ROUNDS = 3
"""Loops of each operator."""

_WARM_S = 0.1
_LOOK_S = 0.002
"""Seconds between two looks at the clock."""


def window_of(case: int, turn: int) -> str:
    """Return the name of the window of a loop."""
    return f"repeat-{case}-{turn}"


def repeat(job_path: str) -> None:
    """Make the loops of `job["cases"]`, each of `job["loop_s"]` seconds; write their calls to `job["result"]`."""
    job = read_json(Path(job_path))
    repeater = make_repeater(job["engine"], spec_of(job), Path(job["captured"]))
    cases = [Case.from_dict(case) for case in job["cases"]]
    calls: list[list[int]] = [[] for _ in cases]
    waited: list[list[float]] = [[] for _ in cases]
    with Path(job["events"]).open("a", encoding="utf-8") as file:
        events = Events(file)
        for turn in range(ROUNDS):
            for place in _order(len(cases), turn):
                call = repeater.make_call(cases[place])
                chunk = _warmed(call, repeater)
                count, waited_s = _loop(call, repeater, chunk, job["loop_s"], events, window_of(place, turn))
                calls[place].append(count)
                waited[place].append(waited_s)
    loops = [{"calls": calls[place], "waited_s": waited[place]} for place in range(len(cases))]
    write_json(Path(job["result"]), {"cases": loops})


def _order(cases: int, turn: int) -> Sequence[int]:
    return range(cases) if turn % 2 == 0 else range(cases - 1, -1, -1)


def _warmed(call: Callable[[], object], repeater: Repeater) -> int:
    """Call until it is warm; return how many calls to make between two looks at the clock."""
    call()
    repeater.synchronize()
    count, started = 0, time.monotonic()
    while (took_s := time.monotonic() - started) < _WARM_S:
        call()
        count += 1
        repeater.synchronize()
    return max(1, round(count * _LOOK_S / took_s))


def _loop(
    call: Callable[[], object], repeater: Repeater, chunk: int, loop_s: float, events: Events, window: str
) -> tuple[int, float]:
    """Call for `loop_s` seconds; return the number of calls, and the seconds of waiting for the last of them."""
    count, loop_ns, now_ns = 0, round(loop_s * 1e9), time.monotonic_ns
    chunked = range(chunk)
    repeater.synchronize()
    start_ns = now_ns()
    while now_ns() - start_ns < loop_ns:
        for _ in chunked:
            call()
        count += chunk
    called_ns = now_ns()
    repeater.synchronize()
    end_ns = now_ns()
    # Nothing is written within a window.
    events.mark(window, "start", start_ns)
    events.mark(window, "end", end_ns)
    return count, 1e-9 * (end_ns - called_ns)


CAPTURE, TRY, REPEAT = "capture", "try", "repeat"

_BY_STEP = {CAPTURE: capture, TRY: try_each, REPEAT: repeat}


def main(job_path: str) -> None:
    """Make the step of a job."""
    _BY_STEP[read_json(Path(job_path))["step"]](job_path)


if __name__ == "__main__":
    main(sys.argv[1])
