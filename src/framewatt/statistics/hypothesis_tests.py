"""Tests of one pair of cells, and the correction of p values over a family."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from framewatt.statistics.intervals import Values
from framewatt.statistics.log_ratios import log_ratio, logs_of
from framewatt.statistics.power import SMALLEST_N
from framewatt.study.statistical_tests import NAMES, PAIRED_T, RANK_SUM, SIGNED_RANK

_LARGEST_EXACT_N = 50
"""Largest number of runs for which the exact distribution is computed; beyond, the normal approximation is as good."""

_PERMUTATIONS = 9999
"""Largest number of arrangements that a permutation test enumerates; up to it the test is exact."""


@dataclass(frozen=True)
class Outcome:
    """A test's name and form, and its two-sided p; None where no test was possible, with the reason in `note`."""

    test: str
    p: float | None
    note: str = ""


def compare_pair(test: str, a: Values, b: Values) -> Outcome:
    """Test two samples for a shift, two-sided.

    Args:
        test: of framewatt.study.statistical_tests.
        a: shape (n_a,).
        b: shape (n_b,), in the unit of `a`; for `t` and `wilcoxon` of the same length, pair by pair.
    """
    few = min(a.size, b.size)
    if few < SMALLEST_N:
        what = "complete blocks" if test in (PAIRED_T, SIGNED_RANK) else "runs of a cell"
        return Outcome(NAMES[test], None, f"no test: {few} {what}, at least {SMALLEST_N} needed")
    return {SIGNED_RANK: _signed_rank, RANK_SUM: _rank_sum}.get(test, functools.partial(_t, test))(a, b)


def correct(p: Sequence[float | None], correction: str) -> list[float | None]:
    """Correct a family of p values (Holm 1979, or Bonferroni).

    As statsmodels' multipletests, which is not called since it collects garbage each time: most of a report's time.

    A comparison without a p stays in the family, as if its p were 1, so that a test that could not be made does not
    loosen the correction of the others.

    Args:
        p: p values, None where there is none.
        correction: `holm`, `bonferroni` or `none`.
    """
    if correction == "none" or not p:
        return list(p)
    family = np.array([1.0 if value is None else value for value in p])
    if correction == "bonferroni":
        corrected = family * len(family)
    else:
        order = np.argsort(family)
        corrected = np.empty_like(family)
        corrected[order] = np.maximum.accumulate(family[order] * np.arange(len(family), 0, -1))
    corrected = np.minimum(corrected, 1)
    return [None if value is None else float(c) for value, c in zip(p, corrected, strict=True)]


def _t(test: str, a: Values, b: Values) -> Outcome:
    ratio = log_ratio(logs_of(a), logs_of(b), paired=test == PAIRED_T)
    if ratio.error == 0:
        note = "" if ratio.mean else "no test: no difference in any run"
        told = None if note else float(ratio.p_two_sided())
        return Outcome(f"{NAMES[test]}, no scatter: by order alone", told, note)
    p = float(ratio.p_two_sided())
    return Outcome(NAMES[test], None if math.isnan(p) else p, "no test: runs of 0 or less" if math.isnan(p) else "")


def _signed_rank(a: Values, b: Values) -> Outcome:
    difference = a - b
    apart = np.abs(difference[difference != 0])
    if not apart.size:
        return Outcome(NAMES["wilcoxon"], None, "no test: no difference in any block")
    ties = np.unique(apart).size < difference.size
    if not ties and difference.size <= _LARGEST_EXACT_N:
        return _named("wilcoxon", "exact", stats.wilcoxon(difference, method="exact").pvalue)
    if 2**difference.size <= _PERMUTATIONS:
        every = stats.PermutationMethod(n_resamples=_PERMUTATIONS)
        return _named("wilcoxon", "exact permutation with ties", stats.wilcoxon(difference, method=every).pvalue)
    form = "asymptotic with ties" if ties else "asymptotic"
    # scipy renamed "approx" to "asymptotic", which its type stubs do not know yet.
    method: Any = "asymptotic"
    result = stats.wilcoxon(difference, method=method, correction=True)
    return _named("wilcoxon", form, result.pvalue)


def _rank_sum(a: Values, b: Values) -> Outcome:
    different = np.unique(np.concatenate([a, b])).size
    if different == 1:
        return Outcome(NAMES["mannwhitney"], None, "no test: all runs have the same value")
    ties = different < a.size + b.size
    if not ties and max(a.size, b.size) <= _LARGEST_EXACT_N:
        return _named("mannwhitney", "exact", stats.mannwhitneyu(a, b, method="exact").pvalue)
    if math.comb(a.size + b.size, a.size) <= _PERMUTATIONS:
        every = stats.PermutationMethod(n_resamples=_PERMUTATIONS)
        return _named("mannwhitney", "exact permutation with ties", stats.mannwhitneyu(a, b, method=every).pvalue)
    form = "asymptotic with ties" if ties else "asymptotic"
    return _named("mannwhitney", form, stats.mannwhitneyu(a, b, method="asymptotic").pvalue)


def _named(test: str, form: str, p: Any) -> Outcome:
    return Outcome(f"{NAMES[test]}, {form}", float(p))
