"""Tests of more than two cells at once, with their post-hoc tests."""

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scikit_posthocs
from scipy import stats

from framewatt.frames.headline import headline_of_runs
from framewatt.statistics.mixing import mixing
from framewatt.statistics.pairs import groups
from framewatt.statistics.selection import cells_of, counted, totals
from framewatt.study.factors import AnyCell
from framewatt.study.statistical_tests import is_of_ranks, is_paired

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

    Only where the study asks for rank tests, as in published papers: beside answers found by t, a second procedure
    could contradict them.

    With `test: wilcoxon`, Friedman over complete blocks and Nemenyi's post-hoc test (Demsar 2006); with
    `mannwhitney`, Kruskal-Wallis and Dunn's, with the study's correction within the group. All are asymptotic. A cell
    with fewer than two runs that count is left out: its group is tested over the others, and `flags` says so.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: compare, test, correction.
        planned: the study's cells; the frame has no row of a cell whose runs are all left out.

    Returns:
        OMNIBUS_COLUMNS, no row where the study asks for t; p is missing where fewer than three cells have enough runs,
        or there is no difference at all.

    Raises:
        FramewattError: a run is there twice.
    """
    rows = totals(runs)
    found: list[dict[str, Any]] = []
    every = {cell.id: cell for cell in [*planned, *cells_of(rows)]}.values()
    for quantity in headline_of_runs(rows).quantities if is_of_ranks(settings) else ():
        for group, cells in groups(every, settings["compare"]).items():
            if len(cells) >= _FEWEST_CELLS:
                used = {cell.id: counted(rows, cell.id, quantity) for cell in cells}
                mixed = mixing(pd.concat(list(used.values())), paired=is_paired(settings))
                values = {cell: of_cell[quantity] for cell, of_cell in used.items()}
                common = {"quantity": quantity, "group": group}
                found += [common | row for row in _group(values, settings, mixed)]
    frame = pd.DataFrame(found, columns=OMNIBUS_COLUMNS)
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
        found: list[dict[str, Any]] = [{"test": name, "n_runs": sum(map(len, tested.values())), "flags": few}]
    else:
        found = (_blocks if settings["test"] == "wilcoxon" else _independent)(tested, settings["correction"])
    told = ("; ".join(filter(None, [flags, row["flags"], *mixed])) for row in found)
    return [{**row, "n_cells": len(tested), "flags": text} for row, text in zip(found, told, strict=True)]


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
