"""What a run works on: batches made before its window or within it, or requests that arrive at a rate.

In a closed loop each batch follows the one before. In an open loop, requests arrive whether or not the model keeps up:
whenever the process is free, it answers the waiting requests, up to a batch of them. The latency of a request counts
from its arrival in the schedule, not from when the loop came to it: a loop that measured from there would leave out the
waiting that it caused itself (coordinated omission; Tene, "How not to measure latency", 2013).
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays
from framewatt.runs.events import Events
from framewatt.study.factors import CLOSED, rate_of
from framewatt.study.records import Batches, Latency
from framewatt.tasks.contract import TEST, Step
from framewatt.tasks.phases import PHASE, Work, needs_outputs, work_done
from framewatt.tasks.quality import quality_of
from framewatt.workloads.contract import Inference, Workload

AHEAD: Final = "ahead"
STREAMED: Final = "streamed"
"""How batches are made: before the window, so that it has no part in them; or within it."""

PASSES = 1
"""Default of the whole passes over the test set that a window of inference spans at least."""

AHEAD_GB = 8
"""Most gigabytes of a pass that is made before its window, by default; the study's schema has the same number."""

_WAITING = 2
"""Batches that are made, or in the making, while a model works on another."""

_END = object()


class Supply:
    """The batches of a workload's passes over its data.

    Whether they stay in memory depends on the data and the study alone, so that all frameworks do the same.

    Args:
        workload: makes them.
        ahead_gb: most gigabytes (1e9 bytes) of a pass that is made before a window.

    Attributes:
        mode: AHEAD or STREAMED.
        pass_b: bytes of the data of a pass, as they are stored.
    """

    def __init__(self, workload: Workload, ahead_gb: float) -> None:
        self._workload = workload
        self._stored: list[Any] | None = None
        self.pass_b = pass_b(workload.data, workload.split)
        self.mode = choose_mode(self.pass_b, ahead_gb)

    def batches(self, epoch: int = 0) -> Iterable[Any]:
        """Return the batches of a pass: all of them ready, or an iterator that makes them and has not started yet.

        Passes of inference, of epoch 0, are all alike, and made once.
        """
        if self.mode == STREAMED:
            return streamed(self._workload.batches(epoch))
        if epoch:
            # Not stored here: two epochs need not fit into memory.
            return list(self._workload.batches(epoch))
        if self._stored is None:
            self._stored = list(self._workload.batches())
        return self._stored

    def summary(self) -> Batches:
        """Return how batches were made, for the run's record."""
        return {"made": self.mode, "pass_b": self.pass_b}


def always_ahead(options: Mapping[str, Any]) -> bool:
    """Return whether batches are made ahead whatever their size: for requests at a rate, and for Node.js.

    Args:
        options: of a cell, that are not at their default.
    """
    return options.get("client") == "node" or rate_of(options.get("load", CLOSED)) is not None


def choose_mode(size_b: int, ahead_gb: float) -> Literal["ahead", "streamed"]:
    """Return how the batches of a pass are made.

    Args:
        size_b: bytes of the pass.
        ahead_gb: most gigabytes (1e9 bytes) that are made before a window.
    """
    return AHEAD if size_b <= ahead_gb * 1e9 else STREAMED


def pass_b(data: Arrays, split: str) -> int:
    """Return the bytes of the samples of a split; in training with their labels."""
    if split == TEST:
        return sum(values.nbytes for values in data.inputs_test.values())
    return sum(values.nbytes for values in (*data.inputs_train.values(), data.y_train))


def streamed(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the same batches, made by a thread while earlier ones are worked on. It starts with the first request.

    An exception in the making of a batch is raised where that batch is requested.
    """
    maker = ThreadPoolExecutor(1)
    try:
        waiting = deque(maker.submit(next, batches, _END) for _ in range(_WAITING))
        while (batch := waiting.popleft().result()) is not _END:
            waiting.append(maker.submit(next, batches, _END))
            yield batch
    finally:
        maker.shutdown(cancel_futures=True)


def write_phases(events: Events, work: Work) -> None:
    """Write the phases of steps as windows, after the timed window: one name for each phase, with many spans.

    Args:
        events: of the run.
        work: what its steps did.
    """
    for mark in work.marks:
        events.mark(f"{PHASE}{mark.phase}", "start", mark.start_ns)
        events.mark(f"{PHASE}{mark.phase}", "end", mark.end_ns)


FEWEST = 20
"""Requests of a run at least, at however low a rate."""

_READY = 64
"""Samples in the batches of one size that are prepared before the window, and used in turn."""


@dataclass(frozen=True)
class Served:
    """Arrivals and answers of the requests of a run.

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
        """Return the record's `latency`: quantiles over requests, and how the loop went.

        Args:
            rate_per_s: requests a second, as the cell requests.
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
    """Return the seconds during which requests arrive: at least `minimum_s`, for a whole number of at least FEWEST."""
    return requests_of(rate_per_s, minimum_s) / rate_per_s


def arrivals_s(rate_per_s: float, minimum_s: float, seed: Sequence[int]) -> NDArray[np.float64]:
    """Return the seconds at which requests arrive: a Poisson process with a given number of arrivals in the time.

    Given their number, the arrivals of a Poisson process are uniform over the time (Ross, Stochastic Processes, theorem
    2.3.1). So every run has exactly the requested rate, and joules per request are those of that rate.

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
    """Return the number of requests of a run at a rate, for at least `minimum_s` seconds."""
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
        started_ns = now_ns()
        wait_ns = int(due_ns[done]) - started_ns
        if wait_ns > 0:
            sleep(wait_ns * 1e-9)
            continue
        waiting = int(np.searchsorted(due_ns, started_ns, side="right")) - done
        size = min(waiting, largest_batch)
        answer(size)
        end_ns = now_ns()
        busy_ns += end_ns - started_ns
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
    workload.check_apart(f"load: {workload.spec.level('load')}", "load: closed")
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
