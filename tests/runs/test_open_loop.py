"""Requests that arrive at a rate: a queue whose answers are known, and what a loop must not hide."""

import numpy as np
import pytest

from framewatt.runs.batches import FEWEST, Served, arrivals_s, length_s, serve


class Clock:
    """Time that passes only while somebody sleeps or answers; waking up is late by `late_s`."""

    def __init__(self, answer_s: float, a_request_s: float = 0.0, late_s: float = 0.0) -> None:
        self.ns = 1_000
        self.asked: list[int] = []
        self._answer_s, self._a_request_s, self._late_s = answer_s, a_request_s, late_s

    def now_ns(self) -> int:
        return self.ns

    def sleep(self, seconds: float) -> None:
        self.ns += round((seconds + self._late_s) * 1e9)

    def answer(self, size: int) -> None:
        self.asked.append(size)
        self.ns += round((self._answer_s + size * self._a_request_s) * 1e9)

    def serve(self, arrivals: list[float] | np.ndarray, largest: int, length: float = 0.0) -> Served:
        return serve(self.answer, np.asarray(arrivals), largest, self.ns, length, self.now_ns, self.sleep)


def waited_s(served: Served) -> list[float]:
    return ((served.answered_ns - served.arrived_ns) * 1e-9).round(6).tolist()


def test_a_request_that_finds_the_model_free_takes_as_long_as_its_answer() -> None:
    served = Clock(0.01).serve([0.1, 0.2, 0.5], 1)
    assert waited_s(served) == [0.01, 0.01, 0.01]
    assert served.busy_ns == 30_000_000


def test_a_request_that_waits_counts_from_its_arrival() -> None:
    assert waited_s(Clock(0.1).serve([0.0, 0.01, 0.02, 1.0], 1)) == [0.1, 0.19, 0.28, 0.1]


def test_requests_that_wait_are_answered_together_up_to_a_batch() -> None:
    clock = Clock(0.1, 0.01)
    served = clock.serve([0.0, 0.01, 0.02, 0.03, 0.04], 3)
    assert clock.asked == [1, 3, 1]
    assert waited_s(served) == [0.11, 0.23, 0.22, 0.21, 0.31]
    assert served.latency(100)["open_loop"]["largest_batch"] == 3


def test_no_request_is_answered_before_it_arrives_and_each_once() -> None:
    arrivals = arrivals_s(80, 20, (0, 1))
    clock = Clock(0.008, 0.001)
    served = clock.serve(arrivals, 4)
    assert sum(clock.asked) == len(arrivals) == 1600
    assert min(waited_s(served)) >= 0.009
    assert (np.diff(served.answered_ns) >= 0).all()


def test_waking_up_late_is_part_of_the_latency() -> None:
    assert waited_s(Clock(0.01, late_s=0.002).serve([0.1], 1)) == [0.012]


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_the_mean_wait_is_that_of_the_queue_whose_answers_take_equally_long(load: float) -> None:
    # Pollaczek and Khinchine: of an M/D/1 queue, the mean wait is load * time / (2 * (1 - load)).
    answer_s = 0.01
    served = Clock(answer_s).serve(arrivals_s(load / answer_s, 4000, (3, 1)), 1)
    latency = served.latency(load / answer_s)
    assert latency["mean_s"] == pytest.approx(answer_s * (1 + load / (2 * (1 - load))), rel=0.03)
    assert latency["open_loop"]["busy_share"] == pytest.approx(load, rel=0.02)


def test_more_requests_than_can_be_answered_keep_the_model_busy() -> None:
    served = Clock(0.01).serve(arrivals_s(150, 30, (0, 1)), 1)
    assert served.latency(150)["open_loop"]["busy_share"] > 0.99
    longer = Clock(0.01).serve(arrivals_s(150, 60, (0, 1)), 1)
    assert longer.latency(150)["p99_s"] > 1.8 * served.latency(150)["p99_s"]


def test_arrivals_are_a_poisson_process_that_choices_of_a_block_share() -> None:
    found = arrivals_s(50, 400, (7, 1))
    gaps = np.diff(found)
    assert (gaps.mean(), gaps.std()) == (pytest.approx(0.02, rel=0.02), pytest.approx(0.02, rel=0.03))
    # Of a Poisson process, the number in a second varies by its root, here 7.1 of 50.
    assert np.histogram(found, np.arange(401))[0].std() == pytest.approx(50**0.5, rel=0.1)
    assert np.array_equal(found, arrivals_s(50, 400, (7, 1)))
    assert not np.array_equal(found, arrivals_s(50, 400, (7, 2)))


@pytest.mark.parametrize(("rate_per_s", "minimum_s"), [(50, 2), (0.5, 1), (3, 7.1)])
def test_the_rate_of_every_run_is_the_one_that_was_asked_for(rate_per_s: float, minimum_s: float) -> None:
    arrivals, length = arrivals_s(rate_per_s, minimum_s, (0, 1)), length_s(rate_per_s, minimum_s)
    assert len(arrivals) / length == pytest.approx(rate_per_s)
    assert length >= minimum_s
    assert len(arrivals) >= FEWEST
    assert 0 <= arrivals[0] <= arrivals[-1] <= length
    served = Clock(0.001).serve(arrivals, 1, length)
    # The window lasts as long as requests may arrive, and longer only where they wait for their answers.
    assert (served.end_ns - served.start_ns) * 1e-9 == pytest.approx(length, abs=0.001)
    late = Clock(10.0).serve(arrivals, 1, length)
    assert late.end_ns == late.answered_ns[-1]
