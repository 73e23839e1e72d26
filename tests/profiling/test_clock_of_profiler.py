"""The clock of a profiler beside the program's: offset and drift from steps that both saw."""

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.profiling.timeline import clock_of

OFFSET_NS, START_NS = -1.7e18, 4_000_000_000_000


def steps(rng: np.random.Generator, count: int = 300, drift: float = 3e-5, slack_ns: float = 40_000) -> tuple:
    """Steps of 10 ms as the profiler saw them, and what the program saw around them, later and earlier by chance."""
    begin = START_NS + 12e6 * np.arange(count)
    end = begin + 10e6
    # The program reads its clock some time before the profiler's span begins, and after it ends: never within it.
    before = begin - rng.exponential(slack_ns, count) - 2_000
    after = end + rng.exponential(slack_ns, count) + 2_000
    seen = np.column_stack([(begin - START_NS) * (1 + drift) - OFFSET_NS, (end - START_NS) * (1 + drift) - OFFSET_NS])
    return seen, np.column_stack([before, after]).astype(np.int64), begin


@pytest.mark.parametrize("seed", range(5))
def test_offset_and_drift_are_found_to_within_what_is_said(seed: int) -> None:
    seen, around, begin = steps(np.random.default_rng(seed))
    clock = clock_of(seen, around)
    off_s = np.abs(clock.monotonic_s(seen[:, 0]) - 1e-9 * begin)
    assert off_s.max() <= 3 * 1e-9 * clock.uncertainty_ns
    assert clock.uncertainty_ns < 20_000
    assert clock.drift == pytest.approx(-3e-5, abs=5e-6)


def test_without_any_slack_it_is_exact() -> None:
    seen, around, begin = steps(np.random.default_rng(0), slack_ns=0)
    assert np.abs(clock_of(seen, around).monotonic_s(seen[:, 0]) - 1e-9 * begin).max() < 2e-6


def test_a_clock_that_was_set_meanwhile_is_told() -> None:
    seen, around, _ = steps(np.random.default_rng(0))
    seen[150:] += 5e6
    with pytest.raises(FramewattError, match=r"the profiler's clock is \d+ us off in some steps"):
        clock_of(seen, around)


def test_a_step_that_one_of_them_missed_is_told() -> None:
    seen, around, _ = steps(np.random.default_rng(0))
    with pytest.raises(FramewattError, match="the profile has 299 steps, the run 300"):
        clock_of(seen[1:], around)


def test_a_single_step_tells_no_drift() -> None:
    seen, around, _ = steps(np.random.default_rng(0), count=1)
    with pytest.raises(FramewattError, match="at least 2"):
        clock_of(seen, around)
