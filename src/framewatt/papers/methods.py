"""Statistics as papers use them: which of the two rank tests gives the printed p, and outliers by quartiles."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.papers.printed import REPRODUCED, Answer, judge
from framewatt.statistics.effect_size import Values

RANK_SUM, SIGNED_RANK = "rank-sum (Mann-Whitney)", "signed-rank (Wilcoxon)"

EXACT_RANK_SUM = (RANK_SUM, "exact")


def _rank_sum(method: str, continuity: bool) -> Callable[[Values, Values], float]:
    return lambda a, b: float(stats.mannwhitneyu(a, b, method=method, use_continuity=continuity).pvalue)


def _signed_rank(method: Any, continuity: bool) -> Callable[[Values, Values], float]:
    return lambda a, b: float(stats.wilcoxon(a - b, method=method, correction=continuity).pvalue)


FORMS: dict[tuple[str, str], Callable[[Values, Values], float]] = {
    EXACT_RANK_SUM: _rank_sum("exact", False),
    (RANK_SUM, "normal approximation, continuity corrected"): _rank_sum("asymptotic", True),
    (RANK_SUM, "normal approximation"): _rank_sum("asymptotic", False),
    (SIGNED_RANK, "exact"): _signed_rank("exact", False),
    (SIGNED_RANK, "normal approximation, continuity corrected"): _signed_rank("asymptotic", True),
    (SIGNED_RANK, "normal approximation"): _signed_rank("asymptotic", False),
}
"""The two-sided tests by name and form; signed-rank pairs runs by their number."""

VARIANTS_COLUMNS = ["test", "form", "bonferroni_over", "least_p", "attainable", "pairs", "reproduced", "printed"]
"""Columns of the variants: `bonferroni_over` is how many tests p is multiplied by; `least_p` the smallest p of so many
runs; `attainable` how many of all printed `pairs` of p and A12 some runs could give; `reproduced` how many of the
`printed` p values come out of the runs at hand."""


def rank_sum_p(a: Values, b: Values) -> float:
    """Two-sided p of the exact rank-sum test, uncorrected."""
    return FORMS[EXACT_RANK_SUM](a, b)


def variants(
    cases: Sequence[tuple[Values, Values, str]], pairs: Sequence[tuple[str, str]], families: Sequence[int], runs: int
) -> pd.DataFrame:
    """How many published p values every test gives, with every size of family.

    Args:
        cases: the runs of either framework, and their p as printed.
        pairs: p and A12 as printed, A12 being that of the larger sample.
        families: numbers of tests that p is multiplied by (Bonferroni), 1 for no correction.
        runs: of either framework in the paper, for what a test can give at all.

    Returns:
        VARIANTS_COLUMNS, one row per test, form and family.
    """
    rows = []
    for (test, form), p_of in FORMS.items():
        possible = _possible(test, p_of, runs)
        outcomes = [(p_of(a, b), printed) for a, b, printed in cases]
        for size in families:
            attainable = sum(any(_fits(outcome, pair, size) for outcome in possible) for pair in pairs)
            hits = sum(_agrees(min(1.0, p * size), printed) for p, printed in outcomes)
            least = min(1.0, size * min(p for p, _ in possible))
            rows.append((test, form, size, least, attainable, len(pairs), hits, len(outcomes)))
    return pd.DataFrame(rows, columns=VARIANTS_COLUMNS)


def _possible(test: str, p_of: Callable[[Values, Values], float], runs: int) -> list[tuple[float, float | None]]:
    """Every p that the test can give without ties, with the A12 that goes with it where one does."""
    if test == SIGNED_RANK:
        return [(p_of(_with_rank_sum(w, runs), np.zeros(runs)), None) for w in range(runs * (runs + 1) // 2 + 1)]
    zero_to_n = np.arange(runs, dtype=np.float64)
    wins = range(runs * runs // 2, runs * runs + 1)
    return [(p_of(_with_wins(u, runs), zero_to_n), u / runs**2) for u in wins]


def _with_wins(u: int, runs: int) -> Values:
    """Return values that win `u` of all pairs with 0 … runs - 1, without ties."""
    above_all, rest = divmod(u, runs)
    wins = np.array(([runs] * above_all + [rest] + [0] * runs)[:runs])
    # A value between w - 1 and w wins w pairs; a small step apart keeps the values themselves from tying.
    return wins - 0.5 + np.arange(runs) / (2 * runs)


def _with_rank_sum(w: int, runs: int) -> Values:
    """Differences 1 … runs with signs such that the positive ones add up to `w`."""
    signed = -np.arange(1, runs + 1, dtype=np.float64)
    for rank in range(runs, 0, -1):
        if rank <= w:
            signed[rank - 1], w = rank, w - rank
    return signed


def _fits(outcome: tuple[float, float | None], pair: tuple[str, str], size: int) -> bool:
    p, effect = outcome
    return _agrees(min(1.0, p * size), pair[0]) and (effect is None or _agrees(effect, pair[1]))


def _agrees(value: float, printed: str) -> bool:
    return judge(Answer(value), printed)[0] == REPRODUCED


def outliers(values: Values) -> list[int]:
    """Indices of values beyond 1.5 interquartile ranges below the first or above the third quartile (Tukey 1977)."""
    first, third = np.quantile(values, [0.25, 0.75])
    reach = 1.5 * (third - first)
    return [int(i) for i in np.flatnonzero((values < first - reach) | (values > third + reach))]
