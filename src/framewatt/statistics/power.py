"""Whether rank tests can reach significance with the planned runs, computed before anything is measured."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SMALLEST_N = 2
"""Fewest runs of a cell for a test."""


@dataclass(frozen=True)
class Reachability:
    """The smallest p of the chosen test at the planned number of runs."""

    test: str
    n_runs: int
    n_comparisons: int
    smallest_p: float
    """Smallest two-sided p of one comparison."""
    smallest_p_corrected: float
    """The same after correction over the family, if every comparison has the smallest p."""
    alpha: float
    reachable: bool
    """Whether the corrected p can be at or below alpha."""
    smallest_n: int
    """Fewest runs per cell that could reach alpha."""
    sentence: str
    """The result in words."""


def smallest_p(test: str, n_a: int, n_b: int) -> float:
    """Smallest two-sided p of the exact test: 2 / 2^n for n pairs, 2 / C(n_a + n_b, n_a) for independent runs."""
    if test == "wilcoxon":
        return min(1.0, math.ldexp(2.0, -min(n_a, n_b)))
    return min(1.0, 2 / math.comb(n_a + n_b, n_a))


def reachable_significance(n_runs: int, n_comparisons: int, settings: Mapping[str, Any]) -> Reachability:
    """Smallest two-sided p at the planned number of runs, and whether it can be significant.

    Args:
        n_runs: runs per cell, at least 1.
        n_comparisons: size of the family of one quantity.
        settings: the study's `statistics`: test, correction, alpha.
    """
    test, correction, alpha = settings["test"], settings["correction"], float(settings["alpha"])
    smallest, corrected = _smallest(test, correction, n_runs, n_comparisons)
    enough = 1
    while _smallest(test, correction, enough, n_comparisons)[1] > alpha:
        enough += 1
    reachable = corrected <= alpha
    return Reachability(
        test,
        n_runs,
        n_comparisons,
        smallest,
        corrected,
        alpha,
        reachable,
        enough,
        _sentence(test, correction, n_runs, n_comparisons, smallest, corrected, alpha, enough),
    )


def _smallest(test: str, correction: str, n_runs: int, n_comparisons: int) -> tuple[float, float]:
    """Smallest p of one comparison, uncorrected and corrected."""
    one = smallest_p(test, n_runs, n_runs)
    # For equal p values, Holm equals Bonferroni: its first step multiplies by the size of the family, and no later
    # step may fall below the first.
    return one, one if correction == "none" else min(1.0, one * max(1, n_comparisons))


def _sentence(
    test: str,
    correction: str,
    n_runs: int,
    n_comparisons: int,
    smallest: float,
    corrected: float,
    alpha: float,
    enough: int,
) -> str:
    if not n_comparisons:
        return "No two cells differ in the compared factors only, so nothing is compared."
    name = {"wilcoxon": "Wilcoxon's signed-rank test", "mannwhitney": "Mann-Whitney's test"}[test]
    family = f"{n_comparisons} comparison{'s' if n_comparisons > 1 else ''}"
    how = f"after {correction.capitalize()} correction over" if correction != "none" else "without correction for"
    start = (
        f"With {n_runs} run{'s' if n_runs > 1 else ''} a cell, {name} gives a two-sided p of {smallest:.3g} at best, "
        f"{corrected:.3g} {how} {family} of a quantity"
    )
    if corrected <= alpha:
        return f"{start}, so that alpha = {alpha:g} can be reached."
    return f"{start}: no difference can be significant at alpha = {alpha:g}; at least {enough} runs a cell could."
