"""Tests of pairs and corrections, against printed examples and hand computation."""

import math

import numpy as np
import pytest
from statistics_settings import array
from statsmodels.stats.multitest import multipletests

from framewatt.statistics.hypothesis_tests import compare_pair, correct
from framewatt.statistics.power import smallest_p


def test_wilcoxon_on_darwins_maize() -> None:
    # Differences and p as in scipy's documentation of wilcoxon (Cureton 1967).
    differences = array(6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75)
    outcome = compare_pair("wilcoxon", differences, np.zeros(15))
    assert outcome.test == "wilcoxon signed-rank, exact"
    assert outcome.p == pytest.approx(0.041259765625)


@pytest.mark.parametrize(("n", "p"), [(5, 0.0625), (10, 0.001953125)])
def test_wilcoxon_of_differences_of_one_sign(n: int, p: float) -> None:
    assert compare_pair("wilcoxon", np.arange(1.0, n + 1), np.zeros(n)).p == p


def test_wilcoxon_with_ties_goes_through_all_signs() -> None:
    # |d| = 1, 1, 2 all rank on one side in 1 of 8 sign patterns, on the other in 1 more.
    outcome = compare_pair("wilcoxon", array(1, 1, 2), np.zeros(3))
    assert outcome.test == "wilcoxon signed-rank, exact permutation with ties"
    assert outcome.p == pytest.approx(2 / 8)


def test_wilcoxon_with_ties_in_many_pairs_says_that_it_is_asymptotic() -> None:
    outcome = compare_pair("wilcoxon", np.ones(20), np.zeros(20))
    assert outcome.test == "wilcoxon signed-rank, asymptotic with ties"
    # By hand: W = 210, mean 105, variance n (n + 1) (2n + 1) / 24 less (20^3 - 20) / 48, continuity 1/2.
    z = (210 - 105 - 0.5) / math.sqrt(20 * 21 * 41 / 24 - (20**3 - 20) / 48)
    assert outcome.p == pytest.approx(math.erfc(z / math.sqrt(2)))


def test_mann_whitney_on_the_ages_of_scipys_documentation() -> None:
    outcome = compare_pair("mannwhitney", array(19, 22, 16, 29, 24), array(20, 11, 17, 12))
    assert outcome.test == "mann-whitney rank-sum, exact"
    assert outcome.p == pytest.approx(1 / 9)


def test_mann_whitney_is_exact_for_ten_against_ten() -> None:
    # 2 of C(20, 10) = 184756 arrangements are as extreme; the normal approximation gives 0.00018.
    outcome = compare_pair("mannwhitney", np.arange(10.0), np.arange(10.0) + 20)
    assert outcome.p == pytest.approx(2 / 184756)


def test_mann_whitney_with_a_tie_goes_through_all_arrangements() -> None:
    # {1, 2} against {2, 3}: of 6 arrangements of 1, 2, 2, 3 two are this extreme, and two as far the other way.
    outcome = compare_pair("mannwhitney", array(1, 2), array(2, 3))
    assert outcome.test == "mann-whitney rank-sum, exact permutation with ties"
    assert outcome.p == pytest.approx(4 / 6)


@pytest.mark.parametrize("test", ["wilcoxon", "mannwhitney"])
def test_without_any_difference_there_is_no_p(test: str) -> None:
    outcome = compare_pair(test, np.ones(5), np.ones(5))
    assert outcome.p is None
    assert outcome.note.startswith("no test: ")


@pytest.mark.parametrize("test", ["wilcoxon", "mannwhitney"])
def test_one_run_is_too_few(test: str) -> None:
    outcome = compare_pair(test, array(1), array(2))
    assert outcome.p is None
    assert "at least 2 needed" in outcome.note


def test_holm_by_hand() -> None:
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1 is 0.02, 0.03, 0.06, 0.04, and never falls.
    assert correct([0.01, 0.04, 0.03, 0.005], "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_bonferroni_by_hand() -> None:
    assert correct([0.01, 0.04, 0.5], "bonferroni") == pytest.approx([0.03, 0.12, 1.0])


@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
def test_corrections_are_those_of_statsmodels_to_the_last_bit(correction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Which multipletests calls each time: half a second in a process of many tests.
    monkeypatch.setattr("gc.collect", lambda: 0)
    draw = np.random.default_rng(0)
    for size in range(1, 40):
        family = draw.random(size) ** draw.integers(1, 6)
        for p in (family, family.round(1)):  # rounded, some are equal
            assert correct(list(p), correction) == multipletests(p, method=correction)[1].tolist()


def test_a_comparison_without_p_stays_in_the_family() -> None:
    assert correct([0.01, None], "holm") == [pytest.approx(0.02), None]
    assert correct([0.01, None], "none") == [0.01, None]


def test_smallest_p() -> None:
    assert smallest_p("wilcoxon", 5, 5) == 0.0625
    assert smallest_p("wilcoxon", 10, 10) == pytest.approx(0.00195, abs=5e-6)
    assert smallest_p("mannwhitney", 5, 5) == pytest.approx(2 / 252)
    assert smallest_p("wilcoxon", 1, 1) == smallest_p("mannwhitney", 1, 1) == 1
