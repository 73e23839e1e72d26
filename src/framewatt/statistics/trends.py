"""What goes together: ranks by energy and by time, and power laws of energy over batch size and operations."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import statsmodels.api as sm
from scipy import stats

from framewatt.frames.factor_words import sorted_by
from framewatt.frames.headline import headline_of_runs
from framewatt.statistics.best_set import groups
from framewatt.statistics.effect_size import Values
from framewatt.statistics.log_ratios import log_ratio, number
from framewatt.statistics.selection import cells_of, totals
from framewatt.statistics.to_accuracy import LABEL, PANELS, counted_epochs, labelled

CORRELATIONS_COLUMNS = ["group", "quantity_a", "quantity_b", "n_cells", "rho", "estimated", "flags"]
"""Columns of the correlations, one row per group of comparable cells: `rho` is Spearman's, over the cells' means."""

_LARGEST_EXACT_N = 7
"""Largest n for which all permutations are enumerated (7! = 5040)."""

_SMALLEST_N = 3


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float | None, float | None]:
    """Spearman's rho, ties ranked by their mean, and its two-sided p.

    p is exact, over all permutations, up to n = 7. Beyond, it comes from Student's t (by scipy), raised to at least
    2 / n!, the smallest that n values can give: the approximation gives 0 for |rho| = 1.

    Args:
        x: shape (n,).
        y: shape (n,).

    Returns:
        (None, None) for fewer than 3 values or where one side is constant.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.size < _SMALLEST_N or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None, None
    result = stats.spearmanr(a, b)
    rho = float(result.statistic)
    if a.size > _LARGEST_EXACT_N:
        return rho, max(float(result.pvalue), 2 / math.factorial(a.size))
    ranks = stats.rankdata(b)
    exact = stats.permutation_test(
        (stats.rankdata(a),),
        # With both sets of ranks given, rho grows with the sum of their products.
        lambda permuted, axis=-1: np.sum(permuted * ranks, axis=axis),
        permutation_type="pairings",
        n_resamples=math.factorial(_LARGEST_EXACT_N),
        vectorized=True,
        alternative="two-sided",
    )
    return rho, float(exact.pvalue)


def correlate(runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Spearman's correlation of energy and time, both per sample or per run, within each group of comparable cells.

    It describes the measured cells, with neither p nor interval, since they were chosen and are no random sample.
    Batch sizes and phases are not pooled: they differ more than any cells, which alone would give a rho near 1.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: compare.

    Returns:
        CORRELATIONS_COLUMNS, one row per group of at least 3 cells.
    """
    rows = totals(runs)
    energy, time = quantities = headline_of_runs(rows).quantities
    known = rows[rows["counts"] & rows[quantities].notna().all(axis=1)]
    means = known.groupby("cell")[quantities].mean()
    estimated = known.groupby("cell")["estimated"].any()
    correlations = []
    for group, cells in groups(cells_of(rows), settings["compare"]).items():
        there = [cell.id for cell in cells if cell.id in means.index]
        if len(there) < _SMALLEST_N:
            continue
        rho, _ = spearman(means.loc[there, energy], means.loc[there, time])
        by_estimate = bool(estimated[there].any())
        notes = ["no correlation: one value is constant"] if rho is None else []
        # The estimate assigns power by processor load, so that energy follows time by construction.
        notes += ["energy is estimated from processor time, so that it follows time"] if by_estimate else []
        correlations.append([group, energy, time, len(there), rho, by_estimate, "; ".join(notes)])
    return pd.DataFrame(correlations, columns=CORRELATIONS_COLUMNS).astype({"n_cells": "Int64", "rho": "float64"})


BATCH_SIZE, WORK = "batch_size", "flops_per_sample"

TRENDS_COLUMNS = [
    "along",
    "group",
    "label",
    "n_levels",
    "n",
    "exponent",
    "exponent_low",
    "exponent_high",
    "per_doubling",
    "per_doubling_low",
    "per_doubling_high",
    "r_squared",
    "estimated",
    "note",
]
"""One row per line: joules of an epoch grow as `along` to the power of `exponent`; `per_doubling` is 2 to that power,
the factor by which energy changes when `along` doubles. `n` is the number of runs; the line is fitted to their means,
one per level. Unknown numbers are missing."""

_FLOATS = [name for name in TRENDS_COLUMNS if name.startswith(("exponent", "per_doubling", "r_"))]

_CONSTANT = {BATCH_SIZE: ["dataset", "workload"], WORK: ["dataset", "batch_size"]}
"""Factors that are constant along each line, besides those in LABEL."""


def fit_trends(epochs: pd.DataFrame, runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Fit energy of an epoch against batch size, and against operations of a sample.

    A run's value is the mean energy of its epochs without the first, which includes one-time work of the framework (a
    run of one epoch takes that one). A point of the line is the mean of a level's runs: deviations from the line belong
    to the level and are shared by all its runs, so more runs do not make the slope more certain. Ordinary least squares
    on base-2 logarithms (statsmodels), Student's interval of the slope with two degrees of freedom fewer than levels.
    With two levels, it is the interval of their ratio (Welch's t).
    Operations are those that a framework counts itself, or else those of the same model and data set in a framework
    that does; models of one name differ by a few per cent between model zoos (see the fairness sheet).

    Args:
        epochs: the epochs frame.
        runs: the runs frame, which marks the runs that count.
        settings: the study's `statistics`: compare, confidence.

    Returns:
        TRENDS_COLUMNS; no row where a study has a single level of the line's factor.
    """
    points = _points(labelled(counted_epochs(epochs, runs), settings["compare"]))
    rows = [
        row
        for along, constant in _CONSTANT.items()
        for row in _lines(points, along, constant, float(settings["confidence"]))
    ]
    return pd.DataFrame(rows, columns=TRENDS_COLUMNS).astype(dict.fromkeys(_FLOATS, "float64"))


def _points(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per run: its factors, joules of an epoch, operations of a sample."""
    last = rows.groupby(["cell", "repetition"])["epoch"].transform("max")
    later = rows[(rows["epoch"] > 1) | (last == 1)]
    keys = ["cell", "repetition", LABEL, *PANELS]
    points = later.groupby(keys, sort=False, as_index=False).agg(
        energy_j=("energy_gross_j", "mean"), estimated=("estimated", "any"), own=(WORK, "first")
    )
    counted = points.groupby(["dataset", "workload"])["own"].transform("first")
    return points.assign(**{WORK: points["own"].fillna(counted)})


def _lines(points: pd.DataFrame, along: str, constant: Sequence[str], confidence: float) -> Iterator[dict[str, Any]]:
    """A line for every label and combination of the `constant` factors; none where the study does not vary `along`."""
    varied = "workload" if along == WORK else along
    if points[varied].nunique() < 2:
        return
    for levels, part in sorted_by(points, [*constant, LABEL]).groupby([*constant, LABEL], sort=False):
        *group, label = levels
        words = [
            f"batch {level}" if name == "batch_size" else str(level)
            for name, level in zip(constant, group, strict=True)
        ]
        head = {"along": along, "group": " ".join(filter(None, words)), "label": label}
        yield head | {"estimated": bool(part["estimated"].any())} | _line(part, along, confidence)


def _line(part: pd.DataFrame, along: str, confidence: float) -> dict[str, Any]:
    known = part.dropna(subset=[along, "energy_j"])
    known = known[(known[along] > 0) & (known["energy_j"] > 0)]
    row: dict[str, Any] = {"n_levels": int(known[along].nunique()), "n": len(known)}
    if part[along].isna().all():
        return row | {"note": "no framework of the study counts the operations of its models"}
    if row["n_levels"] < 2:
        return row | {"note": "fewer than two levels have runs that count"}
    x, y = (np.log2(known[name].to_numpy(dtype=np.float64)) for name in (along, "energy_j"))
    if row["n_levels"] == 2:
        return row | _two_levels(x, y, confidence)
    levels, of_run = np.unique(x, return_inverse=True)
    means = np.bincount(of_run, weights=y) / np.bincount(of_run)
    fit = sm.OLS(means, sm.add_constant(levels)).fit()
    low, high = map(float, fit.conf_int(alpha=1 - confidence)[1])
    return row | _with_doublings(float(fit.params[1]), low, high) | {"r_squared": float(fit.rsquared), "note": ""}


def _two_levels(x: Values, y: Values, confidence: float) -> dict[str, Any]:
    """The line through two levels, from the ratio of their runs."""
    few, many = y[x == x.min()], y[x == x.max()]
    ratio = log_ratio(many * np.log(2), few * np.log(2), paired=False)
    steps = float(np.ptp(x))
    low, high = (number(np.log2(end) / steps) for end in ratio.within((1 - confidence) / 2))
    note = "two levels: any two lie on a line, so that nothing says whether this is one"
    if low is None or high is None:
        note += "; no interval: one run a level, or runs that do not differ"
    return _with_doublings(float(ratio.mean) / np.log(2) / steps, low, high) | {"note": note}


def _with_doublings(exponent: float, low: float | None, high: float | None) -> dict[str, Any]:
    ends = {"": exponent, "_low": low, "_high": high}
    exponents = {f"exponent{end}": value for end, value in ends.items()}
    return exponents | {f"per_doubling{end}": None if value is None else 2**value for end, value in ends.items()}
