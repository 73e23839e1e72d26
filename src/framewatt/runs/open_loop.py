"""Inference under an open loop: requests arrive at a rate of their own, whether or not the model keeps up.

One process, one session: whenever it is free, it answers the requests that wait, up to a batch of them. A request's
latency counts from its arrival in the schedule, not from when the loop came to it: a loop that measured from there
would leave out the waiting that it caused itself (coordinated omission; Tene, "How not to measure latency", 2013).
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.runs.events import Events, write_phases
from framewatt.study.records import Latency
from framewatt.tasks.contract import Step
from framewatt.tasks.phases import needs_outputs, work_done
from framewatt.tasks.quality import quality_of
from framewatt.workloads.contract import Inference

FEWEST = 20
"""Requests of a run at least, at however low a rate."""

_READY = 64
"""Samples in the batches of one size that are prepared before the window, and used in turn."""


@dataclass(frozen=True)
class Served:
    """What became of the requests of a run.

    Attributes:
        start_ns: when the first request could have arrived.
        end_ns: when the time for arrivals was over and the last answer was there.
        arrived_ns: shape (n,), arrival of each, in the schedule.
        answered_ns: shape (n,), when its answer was on the host.
        sizes: requests answered together, one number a batch.
        busy_ns: time in which a batch was being answered.
    """

    start_ns: int
    end_ns: int
    arrived_ns: NDArray[np.int64]
    answered_ns: NDArray[np.int64]
    sizes: tuple[int, ...]
    busy_ns: int

    def latency(self, rate_per_s: float) -> Latency:
        """The record's `latency`: quantiles over requests, and how the loop went.

        Args:
            rate_per_s: requests a second that were asked for.
        """
        seconds = (self.answered_ns - self.arrived_ns) * 1e-9
        p50, p95, p99 = np.quantile(seconds, [0.5, 0.95, 0.99])
        return {
            "batches": len(self.sizes),
            "mean_s": float(seconds.mean()),
            "p50_s": float(p50),
            "p95_s": float(p95),
            "p99_s": float(p99),
            "max_s": float(seconds.max()),
            "open_loop": {
                "rate_per_s": rate_per_s,
                "requests": len(seconds),
                "busy_share": self.busy_ns / (self.end_ns - self.start_ns),
                "largest_batch": max(self.sizes),
            },
        }


def length_s(rate_per_s: float, minimum_s: float) -> float:
    """Seconds during which requests arrive: at least `minimum_s`, and as many as FEWEST or a whole number take."""
    return requests_of(rate_per_s, minimum_s) / rate_per_s


def arrivals_s(rate_per_s: float, minimum_s: float, seed: Sequence[int]) -> NDArray[np.float64]:
    """Seconds at which requests arrive: a Poisson process, of which so many arrivals in that time are given.

    Given their number, the arrivals of a Poisson process are uniform over the time (Ross, Stochastic Processes, theorem
    2.3.1). So the rate of every run is the one that was asked for, and joules per request are those of that rate.

    Args:
        rate_per_s: requests a second.
        minimum_s: seconds that they take at least.
        seed: of the study, and the block.

    Returns:
        shape (n,), ascending, from 0 to `length_s`.
    """
    count = requests_of(rate_per_s, minimum_s)
    return np.sort(np.random.default_rng(list(seed)).random(count)) * length_s(rate_per_s, minimum_s)


def requests_of(rate_per_s: float, minimum_s: float) -> int:
    """Number of requests of a run at a rate, for some seconds at least."""
    return max(math.ceil(rate_per_s * minimum_s), FEWEST)


def serve(
    answer: Callable[[int], None],
    arrivals: NDArray[np.float64],
    largest_batch: int,
    start_ns: int,
    length: float,
    now_ns: Callable[[], int] = time.monotonic_ns,
    sleep: Callable[[float], None] = time.sleep,
) -> Served:
    """Answer requests as they arrive, as many at a time as wait, up to `largest_batch`.

    Between requests the process sleeps, as a server does; its waking up late is part of the latency.

    Args:
        answer: answers so many requests, and returns when the answers are on the host.
        arrivals: shape (n,), seconds from the start, ascending.
        largest_batch: most requests of one call of `answer`.
        start_ns: when the first request could have arrived.
        length: seconds during which requests arrive; until then, a server waits for more.
        now_ns: the clock.
        sleep: waits for some seconds.
    """
    due_ns = start_ns + np.round(arrivals * 1e9).astype(np.int64)
    answered_ns = np.empty_like(due_ns)
    sizes: list[int] = []
    done, busy_ns, count = 0, 0, len(due_ns)
    while done < count:
        began_ns = now_ns()
        wait_ns = int(due_ns[done]) - began_ns
        if wait_ns > 0:
            sleep(wait_ns * 1e-9)
            continue
        waiting = int(np.searchsorted(due_ns, began_ns, side="right")) - done
        size = min(waiting, largest_batch)
        answer(size)
        end_ns = now_ns()
        busy_ns += end_ns - began_ns
        answered_ns[done : done + size] = end_ns
        sizes.append(size)
        done += size
    end_ns = start_ns + round(length * 1e9)
    while (left_ns := end_ns - now_ns()) > 0:
        sleep(left_ns * 1e-9)
    return Served(start_ns, now_ns(), due_ns, answered_ns, tuple(sizes), busy_ns)


def infer_open(
    workload: Inference, window: Mapping[str, Any], events: Events, rate_per_s: float, block: int
) -> dict[str, Any]:
    """Time requests at a rate; quality is judged afterwards, over the whole test set and outside of the window.

    Args:
        workload: not yet set up; its batch size is the most requests that are answered together.
        window: `warm_up_batches` and `minimum_s`.
        events: of the run.
        rate_per_s: requests a second.
        block: of the run, for the arrivals' seed.

    Returns:
        the result as worker.infer gives it.

    Raises:
        FramewattError: samples of the data set follow each other, so that no request can come alone.
    """
    workload.check_apart(f"load {workload.spec.level('load')}", "closed")
    # No batch is larger than the test set, in a closed loop either.
    largest = min(workload.spec.batch_size, len(workload.data.x_test))
    with events.window("setup"):
        workload.setup()
        ready = {size: workload.whole_batches(size, max(_READY // size, 1)) for size in range(1, largest + 1)}
    minimum_s = window["minimum_s"]
    arrivals = arrivals_s(rate_per_s, minimum_s, (workload.spec.seed, block))
    run, synchronize = workload.run, workload.synchronize
    with events.window("warm_up"):
        workload.warm_up(window["warm_up_batches"])
        # Frameworks prepare at the first batch of a size.
        for batches in ready.values():
            run(batches[0][0])
        synchronize()
    keeps = needs_outputs(workload.task)
    steps: list[Step] = []
    outputs: list[Any] = []

    def answer(size: int) -> None:
        batch, step = ready[size][len(steps) % len(ready[size])]
        returned = run(batch)
        synchronize()
        steps.append(step)
        if keeps:
            outputs.append(returned)

    start_ns = time.monotonic_ns()
    events.mark("steady", "start", start_ns)
    served = serve(answer, arrivals, largest, start_ns, length_s(rate_per_s, minimum_s))
    events.mark("steady", "end", served.end_ns)
    work = work_done(workload.task, steps, outputs, len(steps))
    write_phases(events, work)
    with events.window("evaluate"):
        judged = workload.task.judge(workload.evaluate(), workload.data)
    return {
        "primary_window": "steady",
        **work.facts(workload.task),
        "latency": served.latency(rate_per_s),
        "quality": quality_of(judged),
        "right": judged.right,
        "epochs": [],
    }
