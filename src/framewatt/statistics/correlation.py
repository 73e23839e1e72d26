"""Spearman's rank correlation, and how energy goes with time."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from framewatt.factors import FIRST_LEVELS, factors_of
from framewatt.headline import headline_of_runs
from framewatt.statistics.intervals import Interval, Values
from framewatt.statistics.selection import totals

CORRELATIONS_COLUMNS = [
    "phase",
    "level",
    "quantity_a",
    "quantity_b",
    "n",
    "n_cells",
    "rho",
    "p",
    "rho_low",
    "rho_high",
    "interval",
    "estimated",
    "flags",
]
"""Columns of the correlations: `phase` is train, infer or all; `level` is cell means or runs."""

_LARGEST_EXACT_N = 7
"""Values up to which all permutations are gone through (7! = 5040)."""

_SMALLEST_N = 3

_SMALLEST_N_CELLS = 5
"""Cells below which leaving one out says too little for an interval."""


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float | None, float | None]:
    """Spearman's rho, ties ranked by their mean, and its two-sided p.

    p is exact, over all permutations, up to n = 7. Beyond, it comes from Student's t (by scipy), held at or above
    2 / n!, the smallest that n values can give: the approximation says 0 for |rho| = 1.

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
    """Spearman's correlation of energy and time, both of a sample or of a run, per phase and over all.

    Over cell means, with the interval of Bonett and Wright (2000, Psychometrika 65:23-28) on Fisher's z. Over runs,
    with an interval on Fisher's z by a jackknife that leaves out whole cells, and without p, for the runs of a cell
    are not independent.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: confidence.

    Returns:
        CORRELATIONS_COLUMNS, a row a phase and level.
    """
    rows = totals(runs)
    energy, time = quantities = headline_of_runs(rows).quantities
    rows = rows[rows["counts"] & rows[quantities].notna().all(axis=1)]
    phased = "phase" in factors_of(runs)
    phases = [phase for phase in FIRST_LEVELS["phase"] if phased and (rows["phase"] == phase).any()]
    found: list[dict[str, Any]] = []
    for phase in [*phases, "all"]:
        chosen = rows if phase == "all" else rows[rows["phase"] == phase]
        common = {
            "phase": phase,
            "quantity_a": energy,
            "quantity_b": time,
            "n_cells": chosen["cell"].nunique(),
            "estimated": bool(chosen["estimated"].any()),
        }
        found.append(common | _over_cells(chosen, quantities, settings))
        found.append(common | _over_runs(chosen, quantities, settings))
    for row in found:
        # The estimate books watts by how busy the processor was, so that it follows time by construction.
        notes = ["energy is estimated from processor time, so that it follows time"] if row["estimated"] else []
        row["flags"] = "; ".join([note for note in row["flags"] if note] + notes)
    return pd.DataFrame(found, columns=CORRELATIONS_COLUMNS).astype(
        {"n": "Int64", "n_cells": "Int64", "rho": float, "p": float, "rho_low": float, "rho_high": float}
    )


def _over_cells(rows: pd.DataFrame, quantities: list[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    means = rows.groupby("cell")[quantities].mean()
    rho, p = spearman(means[quantities[0]], means[quantities[1]])
    interval = _bonett_wright(rho, len(means), settings["confidence"])
    return {
        "level": "cell means",
        "n": len(means),
        "rho": rho,
        "p": p,
        "rho_low": interval.low,
        "rho_high": interval.high,
        "interval": "" if interval.low is None else "Bonett-Wright",
        "flags": [interval.note],
    }


def _over_runs(rows: pd.DataFrame, quantities: list[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    rho, _ = spearman(rows[quantities[0]], rows[quantities[1]])
    clusters = [part[quantities].to_numpy(dtype=np.float64) for _, part in rows.groupby("cell")]
    interval = Interval(None, None, "no correlation: fewer than 3 runs, or one value is constant")
    if rho is not None:
        interval = _cluster_jackknife(clusters, rho, settings["confidence"])
    return {
        "level": "runs",
        "n": len(rows),
        "rho": rho,
        "p": None,
        "rho_low": interval.low,
        "rho_high": interval.high,
        "interval": "" if interval.low is None else "jackknife of cells",
        "flags": [interval.note, "no p: the runs of a cell are not independent"],
    }


def _bonett_wright(rho: float | None, n: int, confidence: float) -> Interval:
    if rho is None:
        return Interval(None, None, f"no correlation: fewer than {_SMALLEST_N} cells, or one value is constant")
    if n <= _SMALLEST_N or abs(rho) >= 1 - 1e-12:
        return Interval(None, None, "no interval: fewer than 4 cells" if n <= _SMALLEST_N else "no interval: |rho| = 1")
    half = float(stats.norm.ppf(0.5 + confidence / 2)) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return Interval(math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half))


def _cluster_jackknife(clusters: list[Values], rho: float, confidence: float) -> Interval:
    """Student's interval of Fisher's z with the jackknife's error (Efron and Tibshirani 1993, chapter 11).

    A bootstrap would draw cells twice, and their ties pull rho towards zero: its interval can miss rho itself.
    """
    k = len(clusters)
    if k < _SMALLEST_N_CELLS:
        return Interval(None, None, f"no interval: fewer than {_SMALLEST_N_CELLS} cells")
    without = [spearman(*np.concatenate(clusters[:i] + clusters[i + 1 :]).T)[0] for i in range(k)]
    known = [value for value in without if value is not None and abs(value) < 1 - 1e-12]
    if len(known) < k or abs(rho) >= 1 - 1e-12:
        return Interval(None, None, "no interval: |rho| = 1 or unknown, with or without one of the cells")
    z = np.arctanh(known)
    error = math.sqrt((k - 1) / k * float(np.sum((z - z.mean()) ** 2)))
    if error < 1e-12:
        return Interval(None, None, "no interval: rho is the same whichever cell is left out")
    half = float(stats.t.ppf(0.5 + confidence / 2, k - 1)) * error
    return Interval(math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half))
