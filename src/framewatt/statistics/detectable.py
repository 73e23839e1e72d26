"""Which difference the planned blocks can detect: a power analysis before anything is measured."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scipy import special

from framewatt.statistics.best_set import level_of
from framewatt.statistics.log_ratios import FEWEST
from framewatt.statistics.pairs import comparable_pairs, groups
from framewatt.statistics.power import Reachability, reachable_significance
from framewatt.statistics.proportions import samples_needed
from framewatt.study.factors import GIVEN, AnyCell
from framewatt.study.statistical_tests import is_of_ranks, is_paired

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
    sentence = _sentence(n_runs, largest, ratio, settings) if comparisons else _NOTHING
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


def _sentence(n_runs: int, cells: int, ratio: float | None, settings: Mapping[str, Any]) -> str:
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
