"""Tests of one pair of cells with the correction of p values over a family, and of more than two cells at once."""

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scikit_posthocs
from scipy import stats

from framewatt.frames.headline import headline_of_runs
from framewatt.statistics.best_set import groups, mixing
from framewatt.statistics.effect_size import Values
from framewatt.statistics.log_ratios import log_ratio, logs_of
from framewatt.statistics.power import SMALLEST_N
from framewatt.statistics.selection import cells_of, counted, totals
from framewatt.study.factors import AnyCell
from framewatt.study.statistical_tests import NAMES, PAIRED_T, RANK_SUM, SIGNED_RANK, is_of_ranks, is_paired

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
        p = None if note else float(ratio.p_two_sided())
        return Outcome(f"{NAMES[test]}, no scatter: by order alone", p, note)
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


OMNIBUS_COLUMNS = ["quantity", "group", "test", "cell_a", "cell_b", "n_cells", "n_runs", "statistic", "p", "flags"]
"""Columns of the omnibus tests: one row per group, then one per pair of its cells for the post-hoc test. `n_cells` and
`n_runs` are what was tested: cells with runs enough, and their complete blocks (Friedman) or all their runs
(Kruskal-Wallis)."""

_FEWEST_RUNS = 2
"""Fewest runs of a cell that takes part in the test of its group."""

_FEWEST_CELLS = 3
"""Fewest cells for an omnibus test; below, the pairwise comparison is enough."""


def omnibus(runs: pd.DataFrame, settings: Mapping[str, Any], planned: Iterable[AnyCell] = ()) -> pd.DataFrame:
    """Test every group of more than two cells for any difference, by energy and time per sample, or per run.

    Only where the study requests rank tests, as in published papers: elsewhere, a second procedure next to t
    could contradict the answers.

    With `test: wilcoxon`, Friedman over complete blocks and Nemenyi's post-hoc test (Demsar 2006); with
    `mannwhitney`, Kruskal-Wallis and Dunn's, with the study's correction within the group. All are asymptotic. A cell
    with fewer than two runs that count is left out: its group is tested over the others, and `flags` names it.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: compare, test, correction.
        planned: the study's cells; the frame has no row of a cell if all its runs are left out.

    Returns:
        OMNIBUS_COLUMNS, no row where the study requests t; p is missing where fewer than three cells have enough runs,
        or there is no difference at all.

    Raises:
        FramewattError: a run is there twice.
    """
    rows = totals(runs)
    tests: list[dict[str, Any]] = []
    every = {cell.id: cell for cell in [*planned, *cells_of(rows)]}.values()
    for quantity in headline_of_runs(rows).quantities if is_of_ranks(settings) else ():
        for group, cells in groups(every, settings["compare"]).items():
            if len(cells) >= _FEWEST_CELLS:
                used = {cell.id: counted(rows, cell.id, quantity) for cell in cells}
                mixed = mixing(pd.concat(list(used.values())), paired=is_paired(settings))
                values = {cell: of_cell[quantity] for cell, of_cell in used.items()}
                common = {"quantity": quantity, "group": group}
                tests += [common | row for row in _group(values, settings, mixed)]
    frame = pd.DataFrame(tests, columns=OMNIBUS_COLUMNS)
    return frame.astype({"n_cells": "Int64", "n_runs": "Int64", "statistic": "float64", "p": "float64"})


def _group(
    values: dict[str, "pd.Series[float]"], settings: Mapping[str, Any], mixed: list[str]
) -> list[dict[str, Any]]:
    """The test of a group over its cells with enough runs; flags name the cells left out, and what is `mixed`."""
    tested = {cell: of_cell for cell, of_cell in values.items() if len(of_cell) >= _FEWEST_RUNS}
    without = [
        f"{cell} ({'1 run that counts' if len(of_cell) else 'no run that counts'})"
        for cell, of_cell in values.items()
        if cell not in tested
    ]
    flags = f"tested without {', '.join(without)}" if without else ""
    if len(tested) < _FEWEST_CELLS:
        few = f"no test: {len(tested)} cells with {_FEWEST_RUNS} runs that count, at least {_FEWEST_CELLS} needed"
        name = "Friedman" if settings["test"] == "wilcoxon" else "Kruskal-Wallis"
        results: list[dict[str, Any]] = [{"test": name, "n_runs": sum(map(len, tested.values())), "flags": few}]
    else:
        results = (_blocks if settings["test"] == "wilcoxon" else _independent)(tested, settings["correction"])
    flags_of_rows = ("; ".join(filter(None, [flags, row["flags"], *mixed])) for row in results)
    return [{**row, "n_cells": len(tested), "flags": text} for row, text in zip(results, flags_of_rows, strict=True)]


def _blocks(values: dict[str, "pd.Series[float]"], correction: str) -> list[dict[str, Any]]:
    """Friedman, then Nemenyi. Nemenyi's p is already corrected over all pairs of the group; `correction` is unused."""
    every = pd.DataFrame(values)
    whole = every.dropna()
    dropped = [str(block) for block in every.index.difference(whole.index)]
    flags = f"incomplete blocks left out: {', '.join(dropped)}" if dropped else ""
    row = {"test": "Friedman", "n_runs": len(whole), "flags": flags}
    if len(whole) < 2:
        return [row | {"flags": "; ".join(filter(None, [flags, "no test: fewer than 2 complete blocks"]))}]
    with np.errstate(invalid="ignore"):
        result = stats.friedmanchisquare(*(whole[cell] for cell in whole))
    if math.isnan(result.pvalue):
        return [row | {"flags": "; ".join(filter(None, [flags, "no test: no difference in any block"]))}]
    after = scikit_posthocs.posthoc_nemenyi_friedman(whole.to_numpy())
    return [row | {"statistic": float(result.statistic), "p": float(result.pvalue)}] + [
        row | {"test": "Nemenyi", "cell_a": a, "cell_b": b, "p": float(after.iloc[i, j])}
        for (i, a), (j, b) in itertools.combinations(enumerate(whole.columns), 2)
    ]


def _independent(values: dict[str, "pd.Series[float]"], correction: str) -> list[dict[str, Any]]:
    """Kruskal-Wallis, then Dunn."""
    samples = {cell: v.to_numpy(dtype=np.float64) for cell, v in values.items()}
    together = np.concatenate(list(samples.values()))
    row = {"test": "Kruskal-Wallis", "n_runs": together.size, "flags": ""}
    if np.ptp(together) == 0:
        return [row | {"flags": "no test: all runs have the same value"}]
    result = stats.kruskal(*samples.values())
    after = scikit_posthocs.posthoc_dunn(list(samples.values()), p_adjust=None if correction == "none" else correction)
    return [row | {"statistic": float(result.statistic), "p": float(result.pvalue)}] + [
        row | {"test": "Dunn", "cell_a": a, "cell_b": b, "p": float(after.iloc[i, j])}
        for (i, a), (j, b) in itertools.combinations(enumerate(samples), 2)
    ]
