"""What the planned runs can show, computed before anything is measured: significance by ranks, and differences."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scipy import special

from framewatt.statistics.accuracies import samples_needed
from framewatt.statistics.best_set import comparable_pairs, groups, level_of
from framewatt.statistics.log_ratios import FEWEST
from framewatt.study.factors import GIVEN, AnyCell
from framewatt.study.statistical_tests import is_of_ranks, is_paired

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


POWER = 0.8
"""Probability with which a difference is to be detected."""

_EXAMPLE = 1.1
_MOST_RUNS = 1000


@dataclass(frozen=True)
class Detectable:
    """Difference that t on logarithms can detect with the planned number of runs."""

    test: str
    n_runs: int
    n_comparisons: int
    n_cells: int
    """Cells of the largest group."""
    noise: float
    """Assumed coefficient of variation of runs."""
    alpha: float
    power: float
    ratio: float | None
    """Smallest detectable ratio of a cell to the cheapest one; None where no difference can be detected."""
    sentence: str
    """The result in words."""


def planned_power(
    n_runs: int, cells: Iterable[AnyCell], settings: Mapping[str, Any], fewest: int = FEWEST
) -> Detectable | Reachability:
    """What the planned runs can show: for t, the smallest detectable ratio; for a rank test, its smallest p.

    Args:
        n_runs: runs per cell, at least 1.
        cells: the study's.
        settings: its `statistics`: compare, test, correction, alpha, noise.
        fewest: runs for a test.
    """
    cells = list(cells)
    comparisons = len(comparable_pairs(cells, settings["compare"]))
    if is_of_ranks(settings):
        return reachable_significance(n_runs, comparisons, settings)
    largest = max((len(members) for members in groups(cells, settings["compare"]).values()), default=0)
    alpha, noise = float(settings["alpha"]), float(settings["noise"])
    enough = comparisons and n_runs >= fewest
    ratio = detectable_ratio(n_runs, largest, noise, alpha, paired=is_paired(settings)) if enough else None
    sentence = _difference_sentence(n_runs, largest, ratio, settings) if comparisons else _NOTHING
    return Detectable(settings["test"], n_runs, comparisons, largest, noise, alpha, POWER, ratio, sentence)


def samples_sentence(cells: Iterable[AnyCell], settings: Mapping[str, Any]) -> str:
    """On how many test samples choices are shown to be equally accurate, in words; empty where none are compared so.

    Args:
        cells: the study's.
        settings: its `statistics`: alpha, and accuracy_margin where it compares accuracies.
    """
    chosen = [cell for cell in cells if cell.to_dict().get("phase", "infer") == "infer"]
    margin = float(settings.get("accuracy_margin") or 0)
    others = {name for cell in chosen for name in cell.to_dict()} - {*GIVEN}
    most = max((len(members) for members in groups(chosen, others).values()), default=0)
    if most < 2 or not margin:
        return ""
    needed = samples_needed(most - 1, margin, float(settings["alpha"]))
    return (
        f"To show that {most} choices are equally accurate, within {margin:g} of a share, takes at least {needed:,} "
        "test samples (statistics.accuracy_margin)."
    )


_NOTHING = "No two cells differ in the compared factors only, so nothing is compared."


def detectable_ratio(n_runs: int, cells: int, noise: float, alpha: float, *, paired: bool) -> float:
    """Ratio of a cell to the cheapest one that is detected with probability POWER (noncentral t, by scipy).

    Args:
        n_runs: blocks, or runs of each cell.
        cells: number of cells of the group; each test is at `level_of(cells)`.
        noise: coefficient of variation of runs, after block effects.
        alpha: the study's.
        paired: whether runs are in blocks.

    Returns:
        the ratio.
    """
    freedom = (n_runs - 1) * (1 if paired else 2)
    least_t = float(special.stdtrit(freedom, 1 - level_of(cells, alpha)))
    away = float(special.nctdtrinc(freedom, 1 - POWER, least_t))
    # Rounded so that math libraries of all machines agree: a plan is compared with one made elsewhere.
    return round(math.exp(away * math.sqrt(2 * math.log1p(noise**2) / n_runs)), 6)


def _difference_sentence(n_runs: int, cells: int, ratio: float | None, settings: Mapping[str, Any]) -> str:
    paired = is_paired(settings)
    what = ("block" if n_runs == 1 else "blocks") if paired else f"run{'' if n_runs == 1 else 's'} of each cell"
    if ratio is None:
        return f"{n_runs} {what} cannot tell any difference: at least {FEWEST} are needed."
    noise, alpha = float(settings["noise"]), float(settings["alpha"])
    of = f"the cheapest of {cells}" if cells > 2 else "the other"
    words = (
        f"With {n_runs} {what}, a cell that takes {ratio:.2f} times as much as "
        f"{of} is told from it in {100 * POWER:g} % of studies, if runs vary by {100 * noise:g} % (statistics.noise)"
    )
    enough = FEWEST
    while enough < _MOST_RUNS and detectable_ratio(enough, cells, noise, alpha, paired=paired) > _EXAMPLE:
        enough += 1
    if ratio <= _EXAMPLE or enough == _MOST_RUNS:
        return f"{words}."
    return f"{words}; to tell {_EXAMPLE:g} times as much takes {enough}."
