"""Answers of studies that looked at their results before they stopped: as right as those of studies that did not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from framewatt.statistics.answers import find_best
from framewatt.statistics.best_set import BestSet
from framewatt.statistics.stopping import ONCE, Looks, best_of, look_for_best
from framewatt.stopping.record import looks_of

ALPHA = 0.05
KNOWN = Looks(until_known=True)
BEST = {"repetitions": {"at_least": 5, "at_most": 30, "until": {"best": "energy"}}}
INTERVAL = {"repetitions": {"at_least": 5, "at_most": 30, "until": {"interval": 0.05}}}


def study(rng: np.random.Generator, *effects: float, blocks: int = 30) -> np.ndarray:
    """Logarithms, shape (cells, blocks): noise of a block and of a run, 5 % each."""
    noise = rng.normal(0, 0.05, (len(effects), blocks)) + rng.normal(0, 0.05, blocks)
    return noise + np.log1p(np.array(effects))[:, None]


def stopped(logs: np.ndarray, looks: Looks, at_least: int = 5) -> BestSet:
    """The answer of somebody who looks after each block, and stops when one cell is left."""
    for blocks in range(at_least, logs.shape[1] + 1):
        found = best_of(logs[:, :blocks], ALPHA, looks, paired=True)
        if found.inside.sum() == 1:
            break
    return found


def wrong(looks: Looks, cells: int, studies: int = 300) -> float:
    """Share of studies of equal cells that name one of them."""
    rng = np.random.default_rng(cells)
    return float(np.mean([stopped(study(rng, *[0.0] * cells), looks).inside.sum() == 1 for _ in range(studies)]))


@pytest.mark.parametrize("cells", [2, 4])
def test_who_looks_after_every_block_is_wrong_no_more_often_than_is_said(cells: int) -> None:
    assert wrong(KNOWN, cells) <= ALPHA
    if cells == 2:
        assert wrong(ONCE, cells) > 2 * ALPHA, "the t of a fixed number of blocks does not bear it"


def test_the_interval_at_the_stop_holds_the_ratio() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        found = stopped(study(rng, 0.0, 0.1), KNOWN)
        low, high = found.pairs.within(found.level)
        held += low[1, 0] <= 1.1 <= high[1, 0]
    assert held >= 190


def test_a_study_that_stopped_since_the_best_was_known_answers_with_that_best() -> None:
    rng = np.random.default_rng(4)
    stops = 0
    for _ in range(100):
        logs = study(rng, 0.0, 0.08, 0.3)
        for blocks in range(5, 31):
            look = look_for_best(logs[:, :blocks].T, ALPHA)
            found = best_of(logs[:, :blocks], ALPHA, KNOWN, paired=True)
            if look.settled:
                assert list(np.flatnonzero(found.inside)) == [look.leader]
                stops += 1
                break
            assert found.inside.sum() > 1
    assert stops > 80


def test_a_run_that_is_missing_is_left_out_of_its_pairs() -> None:
    logs = study(np.random.default_rng(5), 0.0, 0.5)
    logs[1, ::2] = np.nan
    found = best_of(logs, ALPHA, KNOWN, paired=True)
    assert list(found.inside) == [True, False]
    assert found.pairs.runs[1, 0] == 15


def test_one_block_and_a_cell_without_runs_say_nothing() -> None:
    logs = study(np.random.default_rng(6), 0.0, 1.0, 1.0, blocks=1)
    logs[2] = np.nan
    found = best_of(logs, ALPHA, KNOWN, paired=True)
    assert list(found.inside) == [True, True, False]
    assert np.isnan(found.pairs.within(found.level)[0][1, 0])


FIXED = Looks(most=3, at=(5, 8, 12), confirmed=True)
EVERY = Looks(until_known=True, confirmed=True)


@pytest.mark.parametrize("cells", [2, 4])
def test_who_looks_at_fixed_blocks_is_wrong_no_more_often_than_is_said(cells: int) -> None:
    rng = np.random.default_rng(cells)
    named = 0
    for _ in range(2000):
        logs = study(rng, *[0.0] * cells, blocks=12)
        found = (best_of(logs[:, :blocks], ALPHA, FIXED, paired=True) for blocks in FIXED.at)
        named += any(one.inside.sum() == 1 for one in found)
    assert named <= ALPHA * 2000


@pytest.mark.parametrize("looks", [FIXED, EVERY])
def test_intervals_are_those_of_the_last_look_and_hold_what_is_printed_with_them(looks: Looks) -> None:
    """An intersection of all looks' intervals would leave out the ratio itself in one study of a hundred."""
    drifting = study(np.random.default_rng(8), 0.0, 0.1, blocks=12)
    drifting[1] += np.linspace(0, 0.2, 12)
    found = best_of(drifting, ALPHA, looks, paired=True)
    alone = best_of(drifting, ALPHA, replace(looks, at=(), confirmed=False), paired=True)
    ends = [end[1, 0] for end in found.pairs.within(found.level)]
    assert ends == pytest.approx([end[1, 0] for end in alone.pairs.within(alone.level)])
    assert ends[0] < found.pairs.ratio[1, 0] < ends[1]


@pytest.mark.parametrize("looks", [FIXED, EVERY])
def test_what_all_blocks_together_do_not_confirm_is_no_answer_and_is_said(looks: Looks) -> None:
    first = np.array([[1.0, 1.02, 0.99, 1.0, 1.01], [1.3, 1.35, 1.28, 1.31, 1.3]])
    turned = np.hstack([first, np.tile([[3.0], [1.3]], 3) * np.array([1.0, 1.1, 0.9])])
    values = pd.DataFrame(turned.T, columns=["a", "b"], index=range(1, 9))
    early = find_best(values[:5], ALPHA, paired=True, looks=looks)
    assert early is not None
    assert (early.settled, early.best, early.unconfirmed) == (True, ["a"], [])
    later = find_best(values, ALPHA, paired=True, looks=looks)
    assert later is not None
    assert (later.settled, set(later.best), later.reference) == (False, {"a", "b"}, "b")
    assert later.unconfirmed == [("a", "b")]
    # A package from before that rule says what its earlier look showed.
    before = find_best(values, ALPHA, paired=True, looks=KNOWN)
    assert before is not None
    assert before.settled


@pytest.mark.parametrize("looks", [FIXED, EVERY])
def test_a_run_that_is_missing_beside_a_disturbed_one_changes_no_answer(looks: Looks) -> None:
    """In the mean over other cells, from other blocks, the second cell would lead."""
    scatter = 0.002 * np.random.default_rng(10).normal(size=(3, 8))
    logs = np.log1p(np.array([0.0, 0.05, 0.3]))[:, None] + scatter
    logs[0, 6] = np.nan
    logs[2, 6] += np.log(8)
    found = best_of(logs, ALPHA, looks, paired=True)
    assert list(found.inside) == [True, False, False]
    assert int(found.reference) == 0


def test_cells_that_each_cost_more_than_another_over_different_blocks_all_stay() -> None:
    logs, scatter = np.full((3, 24), np.nan), 0.001 * np.random.default_rng(2).normal(size=(3, 24))
    for blocks, (low, high) in ((range(8), (0, 1)), (range(8, 16), (1, 2)), (range(16, 24), (2, 0))):
        logs[low, list(blocks)], logs[high, list(blocks)] = 0.0, 1.0
    found = best_of(logs + scatter, ALPHA, EVERY, paired=True)
    assert list(found.inside) == [True] * 3


def test_a_ratio_that_changes_its_size_and_not_its_direction_stays_settled() -> None:
    ratios = np.r_[np.full(5, 2.0), np.full(7, 1.5)] * (1 + 0.01 * np.random.default_rng(1).normal(size=12))
    found = best_of(np.log(np.vstack([np.ones(12), ratios])), ALPHA, FIXED, paired=True)
    assert list(found.inside) == [True, False]
    assert np.isfinite(found.pairs.within(found.level)[0][1, 0])


def test_a_look_goes_by_the_number_of_its_block_also_where_a_block_is_missing() -> None:
    logs = study(np.random.default_rng(9), 0.0, 0.2, blocks=7)
    found = best_of(logs, ALPHA, FIXED, paired=True, repetitions=[1, 2, 4, 5, 6, 7, 8])
    first = best_of(logs[:, :4], ALPHA / 3, ONCE, paired=True)
    assert found.pairs.looks[0].mean[1, 0] == pytest.approx(first.pairs.mean[1, 0])
    assert len(found.pairs.looks) == 2


def test_looks_at_an_interval_share_alpha() -> None:
    logs = study(np.random.default_rng(7), 0.0, 0.1)
    several = best_of(logs, ALPHA, looks_of(INTERVAL), paired=True)
    assert several.level == pytest.approx(best_of(logs, ALPHA, ONCE, paired=True).level / 6)


def test_how_a_study_looks_is_what_it_says() -> None:
    assert looks_of({"repetitions": 8}) == ONCE
    assert looks_of(BEST) == KNOWN
    fixed = {"at_least": 5, "at_most": 12, "until": {"best": "energy"}, "looks": "fixed"}
    assert looks_of({"repetitions": fixed}) == FIXED
    assert looks_of({"repetitions": {**fixed, "looks": "every_block"}}) == EVERY
    assert looks_of(INTERVAL) == Looks(most=6)
    assert ONCE.words == ""
    assert "after every block" in KNOWN.words
    assert looks_of(INTERVAL).words == "at one of 6 looks"
