"""Signs that runs are not what the tests of an answer take them for."""

import itertools

import numpy as np
import pandas as pd
import pytest

from framewatt.statistics.assumptions import SIGN_P, doubts, follow_p


def frame(cells: dict[str, list[float]]) -> pd.DataFrame:
    """Values by block (rows) and cell."""
    return pd.DataFrame(cells, index=range(1, len(next(iter(cells.values()))) + 1))


STEADY = [10.0, 10.1, 9.9, 10.05, 9.95, 10.02, 9.97, 10.08]
RISING = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 10.7]


def test_the_p_is_the_share_of_orders_that_are_as_smooth() -> None:
    logs = np.array([0.0, 0.1, 0.2, 0.4, 0.3])
    values = np.exp(np.stack([logs, np.zeros(5)]))
    left = (logs - logs.mean()) / 2
    orders = itertools.permutations(range(5))
    smooth = [sum(left[a] * left[b] for a, b in itertools.pairwise(order)) for order in orders]
    right = np.mean([one >= smooth[0] - 1e-12 for one in smooth])
    assert follow_p(values) == pytest.approx(right)
    assert follow_p(values) < 0.1


def test_a_ratio_that_rises_is_seen_and_one_that_whole_blocks_share_is_not() -> None:
    both = frame({"a": RISING, "b": [2 * one for one in RISING]})
    assert list(doubts(both, paired=True)) == []
    assert follow_p(both.to_numpy().T) == 1.0
    (sign,) = doubts(frame({"a": RISING, "b": STEADY}), paired=True)
    assert sign.startswith("From one block to the next, the ratios of these cells change less than by chance")
    assert list(doubts(frame({"a": RISING, "b": STEADY}), paired=False)) == [], "runs without blocks have no order"


def test_missing_runs_and_few_blocks_say_nothing() -> None:
    holes = np.array([[1.0, np.nan, 1.2, np.nan], [np.nan, 1.0, np.nan, 1.1]])
    assert follow_p(holes) == 1.0
    assert follow_p(np.array([[1.0], [2.0]])) == 1.0
    assert follow_p(np.full((2, 5), np.nan)) == 1.0


def test_independent_blocks_have_such_a_p_no_more_often_than_said() -> None:
    rng = np.random.default_rng(3)
    ps = [follow_p(np.exp(rng.normal(0, 0.05, (3, 8)))) for _ in range(1500)]
    assert np.mean([p <= SIGN_P for p in ps]) <= SIGN_P + 3 * np.sqrt(SIGN_P / 1500)
    assert np.mean([p <= 0.2 for p in ps]) == pytest.approx(0.2, abs=0.04)


def test_a_cell_that_is_rarely_slow_is_named_and_one_that_is_rarely_fast_is_not() -> None:
    slow = frame({"quick": STEADY, "other": [*STEADY[:5], 31.0, *STEADY[6:]]})
    (sign,) = doubts(slow, paired=True)
    assert sign.startswith("1 of 8 runs of other took far more than its others (up to 3.1x)")
    assert list(doubts(frame({"quick": STEADY, "other": [*STEADY[:5], 3.1, *STEADY[6:]]}), paired=True)) == []
