"""Calls operators alone, each in loops of its own: the sampled process.

`python -m framewatt.runs.repeat_worker <job.json>` runs inside a framework's environment. It goes over all operators
several times, in turns of the two directions, so that what drifts meanwhile is seen and falls on all of them alike.
"""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from framewatt.base.files import read_json, write_json
from framewatt.runs.events import Events
from framewatt.workloads.contract import spec_of
from framewatt.workloads.repeaters import Case, Repeater, make_repeater

ROUNDS = 3
"""Loops of each operator."""

_WARM_S = 0.1
_LOOK_S = 0.002
"""Seconds between two looks at the clock."""


def window_of(case: int, turn: int) -> str:
    """Name of the window of a loop."""
    return f"repeat-{case}-{turn}"


def main(job_path: str) -> None:
    """Make the loops of `job["cases"]`, each of `job["loop_s"]` seconds; write their calls to `job["result"]`."""
    job = read_json(Path(job_path))
    repeater = make_repeater(job["engine"], spec_of(job), Path(job["captured"]))
    cases = [Case.of(case) for case in job["cases"]]
    calls: list[list[int]] = [[] for _ in cases]
    waited: list[list[float]] = [[] for _ in cases]
    with Path(job["events"]).open("a", encoding="utf-8") as file:
        events = Events(file)
        for turn in range(ROUNDS):
            for place in _order(len(cases), turn):
                made = repeater.made(cases[place])
                chunk = _warmed(made, repeater)
                count, waited_s = _loop(made, repeater, chunk, job["loop_s"], events, window_of(place, turn))
                calls[place].append(count)
                waited[place].append(waited_s)
    told = [{"calls": calls[place], "waited_s": waited[place]} for place in range(len(cases))]
    write_json(Path(job["result"]), {"cases": told})


def _order(cases: int, turn: int) -> Sequence[int]:
    return range(cases) if turn % 2 == 0 else range(cases - 1, -1, -1)


def _warmed(call: Callable[[], object], repeater: Repeater) -> int:
    """Call until it is warm; how many calls are made between two looks at the clock."""
    call()
    repeater.synchronize()
    count, began = 0, time.monotonic()
    while (took_s := time.monotonic() - began) < _WARM_S:
        call()
        count += 1
        repeater.synchronize()
    return max(1, round(count * _LOOK_S / took_s))


def _loop(
    call: Callable[[], object], repeater: Repeater, chunk: int, loop_s: float, events: Events, window: str
) -> tuple[int, float]:
    """Call for so many seconds: the number of calls, and how long the last of them were waited for."""
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


if __name__ == "__main__":
    main(sys.argv[1])
