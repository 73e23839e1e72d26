"""The t-test that may be looked at after every block, and the looks fixed ahead: against integrals and null studies."""

import functools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from simulated.stopping import (
    ALPHA,
    KINDS,
    Case,
    logarithms,
    row_of_best,
    row_of_interval,
    stopped_by_t,
    stopped_for_best,
    stopped_naively,
)

from framewatt.base.errors import FramewattError
from framewatt.statistics.stopping import (
    PRIOR_PRECISION,
    critical_t,
    evidence,
    look_at_interval,
    look_for_best,
    look_for_best_by_t,
    threshold_of,
)
from framewatt.study.stopping_rule import EVERY_BLOCK, FIXED, Rule, check_rule, most_blocks, rule_of, with_looks

BEST = {"at_least": 5, "at_most": 30, "until": {"best": "energy"}}
CERTAIN = np.log([[1.0, 1.3, 1.6], [1.02, 1.35, 1.58], [0.99, 1.28, 1.63], [1.0, 1.31, 1.61], [1.01, 1.3, 1.59]])


def by_integral(differences: np.ndarray) -> float:
    """The e-value as the ratio of densities of the t statistic, over the half-normal prior of effect sizes."""
    n = differences.size
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(n))
    scale = 1 / math.sqrt(PRIOR_PRECISION)
    above, _ = quad(lambda d: stats.nct.pdf(t, n - 1, math.sqrt(n) * d) * 2 * stats.norm.pdf(d, 0, scale), 0, 30)
    return above / stats.t.pdf(t, n - 1)


@pytest.mark.parametrize("n", [2, 3, 5, 12, 30])
@pytest.mark.parametrize("effect", [-0.5, 0.0, 0.4, 1.5])
def test_the_evidence_is_the_ratio_of_densities_of_the_t_statistic(n: int, effect: float) -> None:
    differences = np.random.default_rng(n).normal(effect, 1, n)
    assert evidence(differences)[-1] == pytest.approx(by_integral(differences), rel=1e-5)


def test_the_evidence_is_of_no_scale_and_begins_with_the_sign() -> None:
    differences = np.random.default_rng(1).normal(0.3, 1, 9)
    assert evidence(1e-3 * differences) == pytest.approx(evidence(differences))
    assert evidence(np.array([2.0]))[0] + evidence(np.array([-2.0]))[0] == pytest.approx(2)


def test_the_evidence_is_one_on_average_where_nothing_differs_and_less_where_the_other_takes_less() -> None:
    drawn = np.random.default_rng(2).normal(0, 1, (200_000, 4))
    mean, spread = evidence(drawn)[:, -1].mean(), evidence(drawn)[:, -1].std() / math.sqrt(len(drawn))
    assert abs(mean - 1) < 4 * spread
    assert evidence(drawn - 0.2)[:, -1].mean() < 1
    # Block by block and never only on average: it grows with t, whatever the mean.
    assert (evidence(drawn - 0.2) <= evidence(drawn) * (1 + 1e-9)).all()


def test_what_is_missing_is_left_out_of_the_evidence() -> None:
    with_gap = np.array([0.2, math.nan, 0.3, 0.25, math.nan])
    assert evidence(with_gap)[[0, 2, 3]] == pytest.approx(evidence(np.array([0.2, 0.3, 0.25])))
    assert evidence(with_gap)[1] == evidence(with_gap)[0]
    assert evidence(np.array([math.nan, 0.0, 0.0])).tolist() == [1, 1, 1]


@pytest.mark.parametrize("n", [3, 5, 8, 30])
def test_the_critical_t_is_where_the_evidence_reaches_the_threshold(n: int) -> None:
    t = critical_t(n, 20.0)
    drawn = np.random.default_rng(n).normal(0, 1, n)
    standard = (drawn - drawn.mean()) / drawn.std(ddof=1) + t / math.sqrt(n)
    assert evidence(standard)[-1] == pytest.approx(20.0, rel=1e-6)


def test_few_differences_cannot_reach_a_threshold_however_far_apart() -> None:
    assert critical_t(2, threshold_of(7, 0.05)) == math.inf
    assert evidence(np.array([1.0, 1.0 + 1e-9]))[-1] < threshold_of(7, 0.05)


def test_what_is_known_is_settled_and_names_the_least() -> None:
    look = look_for_best(CERTAIN, 0.05)
    assert (look.leader, look.settled, set(look.others)) == (0, True, {1, 2})
    assert look.others[1].low > 1
    assert look.others[1].ratio == pytest.approx(np.exp((CERTAIN[:, 1] - CERTAIN[:, 0]).mean()))
    assert not look_for_best(CERTAIN[:2], 0.05).settled


def test_what_was_known_once_stays_known() -> None:
    # The sixth block is a disturbed one, by which the evidence falls.
    later = np.vstack([CERTAIN, np.log([[2.5, 1.3, 1.6]])])
    assert evidence(later[:, 1] - later[:, 0])[-1] < threshold_of(3, 0.05)
    assert look_for_best(later, 0.05).settled


@pytest.mark.parametrize(
    ("logs", "leader", "settled"),
    [
        (np.full((5, 3), math.nan), None, True),
        (np.column_stack([CERTAIN[:, 0], np.full((5, 2), math.nan)]), 0, True),
        (np.zeros((9, 3)), 0, False),
        (np.full((1, 3), 1.0), 0, False),
        (np.where(np.eye(5, 3, -2, dtype=bool), math.nan, CERTAIN), 0, False),
    ],
    ids=["nothing counts", "one cell counts", "all tie", "one block", "a run of each failed"],
)
def test_odd_blocks_have_a_look_too(logs: np.ndarray, leader: int | None, settled: bool) -> None:
    look = look_for_best(logs, 0.05)
    assert (look.leader, look.settled) == (leader, settled)
    assert look_at_interval(logs, 0.05, 5, 0.05).leader == leader


def test_ratios_that_are_equal_in_every_block_have_no_width() -> None:
    logs = np.log(np.tile([1.0, 1.2], (5, 1)))
    look = look_at_interval(logs, 0.05, 5, 0.05)
    assert look.settled
    assert look.others[1].high == pytest.approx(1.2)


def test_the_interval_is_that_of_t_at_a_share_for_every_look_and_pair() -> None:
    look = look_at_interval(CERTAIN, 0.05, 5, 0.5)
    differences = CERTAIN[:, 1] - CERTAIN[:, 0]
    low, high = stats.t.interval(1 - 0.05 / (5 * 3), 4, differences.mean(), stats.sem(differences))
    assert (math.log(look.others[1].low), math.log(look.others[1].high)) == pytest.approx((low, high))
    assert look.settled
    assert not look_at_interval(CERTAIN, 0.05, 5, 0.001).settled
    assert not look_at_interval(CERTAIN[:1], 0.05, 5, 0.5).settled


def test_at_fixed_looks_the_test_is_t_at_a_share_for_every_look_and_other_cell() -> None:
    look = look_for_best_by_t(CERTAIN, 0.05, (5, 8, 12))
    differences = CERTAIN[:, 1] - CERTAIN[:, 0]
    ends = stats.t.interval(1 - 2 * 0.05 / (3 * 2), 4, differences.mean(), stats.sem(differences))
    assert (look.leader, look.settled, look.e_values) == (0, True, {})
    assert (math.log(look.others[1].low), math.log(look.others[1].high)) == pytest.approx(ends)
    p = stats.ttest_rel(CERTAIN[:3, 1], CERTAIN[:3, 0], alternative="greater").pvalue
    for count in (1, 3, 100):
        looks = range(3, 3 + count)
        assert look_for_best_by_t(CERTAIN[:3, :2], 0.05, looks).settled == (p <= 0.05 / (2 * count))


def test_what_was_known_at_a_fixed_look_stays_known_while_the_cell_leads() -> None:
    looks = (5, 8, 12)
    later = np.vstack([CERTAIN, np.log([[2.5, 1.3, 1.6]]), CERTAIN[:2] + np.array([[1.5, 0, 0]])])
    assert look_for_best_by_t(CERTAIN, 0.05, looks).settled
    assert not look_for_best_by_t(later, 0.05, looks).settled
    assert look_for_best_by_t(later, 0.05, looks).leader == 1
    mild = np.vstack([CERTAIN, np.log([[1.7, 1.3, 1.6]] * 3)])
    look = look_for_best_by_t(mild, 0.05, looks)
    assert (look.leader, look.settled) == (0, True)
    assert look.others[1].low < 1


def test_at_fixed_looks_nothing_is_known_of_a_cell_of_which_two_runs_count() -> None:
    few = CERTAIN.copy()
    few[2:, 1] = math.nan
    assert not look_for_best_by_t(few, 0.05, (5,)).settled
    assert look_for_best_by_t(few[:, [0, 2]], 0.05, (5,)).settled
    assert look_for_best_by_t(np.full((5, 2), math.nan), 0.05, (5,)).settled


def test_ratios_that_are_equal_in_every_block_are_judged_by_their_signs_at_fixed_looks() -> None:
    same = np.log(np.tile([1.0, 1.2], (8, 1)))
    assert [look_for_best_by_t(same[:n], 0.05, (5, 8, 12)).settled for n in (5, 6, 7, 8)] == [False, False, True, True]
    assert math.isnan(look_for_best_by_t(same, 0.05, (5, 8, 12)).others[1].low)


def test_a_rule_for_the_best_has_fixed_looks_up_to_20_blocks_unless_it_says_otherwise() -> None:
    short = {**BEST, "at_most": 20}
    assert with_looks(short) == {**short, "looks": FIXED}
    assert with_looks({**short, "looks": EVERY_BLOCK})["looks"] == EVERY_BLOCK
    assert with_looks({**BEST, "at_most": 21})["looks"] == EVERY_BLOCK
    assert with_looks({**short, "looks": None}) == short
    interval = {**short, "until": {"interval": 0.05}}
    assert (with_looks(7), with_looks(interval)) == (7, interval)
    rule = rule_of({"repetitions": with_looks(short)})
    assert rule.looks == (5, 8, 12, 18, 20)
    assert rule.to_dict() == with_looks(short)
    assert not rule.at_every_block
    old = rule_of({"repetitions": short})
    assert (old.at_every_block, old.looks, old.to_dict()) == (True, tuple(range(5, 21)), short)


def test_the_best_is_looked_for_after_every_block_and_an_interval_at_looks_fixed_ahead() -> None:
    assert rule_of({"repetitions": BEST}).looks == tuple(range(5, 31))
    assert Rule(5, 30, "energy", 0.05).looks == (5, 8, 12, 18, 27, 30)
    assert Rule(2, 4, "energy", 0.05).looks == (2, 3, 4)
    assert (most_blocks({"repetitions": BEST}), most_blocks({"repetitions": 4})) == (30, 4)
    assert rule_of({"repetitions": 4}) is rule_of({}) is None


@pytest.mark.parametrize(
    ("change", "groups", "message"),
    [
        ({"at_most": 5}, [[1, 2]], "repetitions.at_most: 5 is not more than at_least, 5"),
        ({}, [[1], [2]], "repetitions.until: no two cells differ in runtime alone"),
        ({"until": {"interval": 0.05}, "looks": FIXED}, [[1, 2]], "repetitions.looks: 'fixed' is not for an interval"),
    ],
)
def test_a_rule_that_cannot_find_anything_out_is_refused(change: dict, groups: list, message: str) -> None:
    settings = {"repetitions": {**BEST, **change}, "statistics": {"compare": ["runtime"]}}
    with pytest.raises(FramewattError, match=message):
        check_rule(settings, groups, "study.yaml")
    check_rule({**settings, "repetitions": 5}, groups, "study.yaml")


@pytest.mark.parametrize("case", [Case(2, 0.1, "failed runs"), Case(7, 0.2, "disturbed runs")])
def test_all_studies_at_once_stop_as_each_alone(case: Case) -> None:
    logs = logarithms(case, 20, seed=3)
    after, best = stopped_for_best(logs)
    for one, blocks, cell in zip(logs, after, best, strict=True):
        looks = ((count, look_for_best(one[:count], ALPHA)) for count in range(5, 31))
        found = next(((count, look.leader) for count, look in looks if look.settled), (30, -1))
        assert found == (blocks, cell)


@pytest.mark.parametrize("case", [Case(2, 0.1, "failed runs"), Case(7, 0.2, "disturbed runs"), Case(2, 0.0)])
def test_all_studies_at_once_stop_by_t_as_each_alone(case: Case) -> None:
    logs = logarithms(case, 30, seed=3)
    looks = (5, 8, 12)
    for one, blocks, cell in zip(logs, *stopped_by_t(logs, 12), strict=True):
        found = ((count, look_for_best_by_t(one[:count], ALPHA, looks)) for count in looks)
        assert next(((count, look.leader) for count, look in found if look.settled), (12, -1)) == (blocks, cell)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize(("cells", "ahead", "ties"), [(2, 0.0, 0), (2, 0.1, 0), (7, 0.5, 1), (7, 0.2, 0)])
def test_a_simulated_study_with_fixed_looks_is_wrong_in_at_most_one_of_twenty(
    kind: str, cells: int, ahead: float, ties: int
) -> None:
    for at_most in (12, 20):
        row = row_of_best(Case(cells, ahead, kind, ties), 2000, 1, functools.partial(stopped_by_t, at_most=at_most))
        # Two standard deviations of the count above 5 % of 2000.
        assert row["error"] <= 0.06
        every = row_of_best(Case(cells, ahead, kind, ties), 2000, 1)
        if ahead and not ties and at_most == 20:
            assert row["known_within_8"] >= every["known_within_8"]


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize(("cells", "ahead", "ties"), [(2, 0.0, 0), (2, 0.1, 0), (7, 0.5, 1), (7, 0.2, 0)])
def test_a_simulated_study_is_wrong_in_at_most_one_of_twenty(kind: str, cells: int, ahead: float, ties: int) -> None:
    row = row_of_best(Case(cells, ahead, kind, ties), 500, seed=1)
    # Two standard deviations of the count above 5 % of 500.
    assert row["error"] <= 0.07
    assert row["known"] > (0.3 if ahead and not ties else -1)


def test_looking_without_care_is_wrong_often_and_intervals_hold_where_they_are_narrow() -> None:
    assert row_of_best(Case(2, 0.0), 500, 1, stopped_naively)["error"] > 0.2
    row = row_of_interval(Case(2, 0.1), 0.1, 200, seed=1)
    assert (row["error"] <= 0.05, row["known"]) == (True, 1)
    assert row["mean_blocks"] < 15
