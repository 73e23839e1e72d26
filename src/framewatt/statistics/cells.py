"""A row a cell and quantity: location, spread, and what is odd about the runs."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.factors import PlainCell, factors_of
from framewatt.statistics.correlation import spearman
from framewatt.statistics.intervals import SMALLEST_N, Values, generator, is_constant, mean_interval
from framewatt.statistics.selection import ENERGIES, QUANTITIES, by_reason, cells_of, counted, left_out, totals

_FLOATS = [
    "mean",
    "mean_low",
    "mean_high",
    "median",
    "sd",
    "cv_percent",
    "min",
    "max",
    "shapiro_p",
    "drift_rho",
    "drift_p",
    "bimodality_coefficient",
]

_COLUMNS = [
    "quantity",
    "n",
    "mean",
    "mean_low",
    "mean_high",
    "median",
    "sd",
    "cv_percent",
    "min",
    "max",
    "shapiro_p",
    "drift_rho",
    "drift_p",
    "outliers",
    "outlier_repetitions",
    "bimodality_coefficient",
    "bimodal",
    "estimated",
    "left_out",
    "left_out_reasons",
    "flags",
]
"""Columns of the cells frame behind cell and the factors. Numbers from `mean` to `max` are in the unit that ends the
quantity's name (accuracy: a share); what is unknown is missing, and `flags` says why."""

_SMALLEST_N_OUTLIERS = 4
"""Runs below which quartiles say nothing about an outlier."""

_SMALLEST_N_BIMODAL = 10
"""Runs below which the bimodality coefficient is not judged."""


def summarise_cells(runs: pd.DataFrame, settings: Mapping[str, Any], seed: int) -> pd.DataFrame:
    """Summarise every cell of a runs frame, over the runs with status ok whose energy is valid.

    Mean with its BCa bootstrap interval, median, standard deviation (n - 1), coefficient of variation; Shapiro-Wilk;
    drift as Spearman's correlation with the place in the run order; outliers beyond 1.5 interquartile ranges of the
    quartiles (Tukey 1977, quartiles interpolated linearly), counted and named but never removed; the bimodality
    coefficient (SAS; Pfister et al. 2013, Frontiers in Psychology 4:700) above 5/9, from 10 runs on. It also rises
    with skewness, so that a flag asks for a look at the runs and proves nothing. Flags of drift and normality hold
    at the study's alpha, uncorrected.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: alpha, confidence, resamples.
        seed: of the bootstrap; a row's interval depends on nothing but the row.

    Returns:
        Columns of `cells_columns`, a row a cell and quantity, also for a cell without a run that counts (n = 0).

    Raises:
        FramewattError: a run is there twice.
    """
    rows = totals(runs)
    summaries = [_summarise(rows, cell, quantity, settings, seed) for cell in cells_of(rows) for quantity in QUANTITIES]
    frame = pd.DataFrame(summaries, columns=cells_columns(factors_of(runs)))
    integers = dict.fromkeys(["n", "outliers", "left_out"], "Int64")
    return frame.astype(integers | dict.fromkeys(_FLOATS, "float64") | {"bimodal": "boolean", "estimated": "bool"})


def cells_columns(factors: Iterable[str]) -> list[str]:
    """Columns of the cells frame of a study with these factors."""
    return ["cell", *factors, *_COLUMNS]


def bimodality_coefficient(values: Values) -> float:
    """SAS's bimodality coefficient: (skewness^2 + 1) / (excess kurtosis + 3 (n - 1)^2 / ((n - 2) (n - 3))).

    Skewness and kurtosis are corrected for bias. In a large sample, a uniform distribution has 5/9 and two equally
    frequent values have 1. Of 10 normal values, 1 % of samples are above 5/9.

    Args:
        values: shape (n,), n at least 4, not all equal.
    """
    n = values.size
    skewness = float(stats.skew(values, bias=False))
    kurtosis = float(stats.kurtosis(values, bias=False))
    return (skewness**2 + 1) / (kurtosis + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3)))


def outliers(values: Values) -> list[int]:
    """Indices of values beyond 1.5 interquartile ranges below the first or above the third quartile (Tukey 1977)."""
    first, third = np.quantile(values, [0.25, 0.75])
    reach = 1.5 * (third - first)
    return [int(i) for i in np.flatnonzero((values < first - reach) | (values > third + reach))]


def _summarise(
    rows: pd.DataFrame, cell: PlainCell, quantity: str, settings: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    used = counted(rows, cell.id, quantity)
    missing = left_out(rows, cell.id, quantity)
    estimated = used["estimated"] if quantity in ENERGIES else used["estimated"] & False
    row: dict[str, Any] = {
        "cell": cell.id,
        **cell.to_dict(),
        "quantity": quantity,
        "n": len(used),
        "estimated": bool(estimated.any()),
        "left_out": len(missing),
        "left_out_reasons": "; ".join(f"repetition {which}: {why}" for why, which in by_reason(missing).items()),
        "outlier_repetitions": "",
    }
    flags: list[str] = []
    if estimated.any() and not estimated.all():
        flags.append(f"{int(estimated.sum())} of {len(used)} runs estimated, the others measured")
    if len(used):
        values = used[quantity].to_numpy(dtype=np.float64)
        _locate(row, values)
        _interval(row, flags, values, settings, generator(seed, cell.id, quantity))
        _shape(row, flags, used, values, settings["alpha"])
    else:
        flags.append("no run counts")
    row["flags"] = "; ".join(flags + _run_flags(used))
    return row


def _locate(row: dict[str, Any], values: Values) -> None:
    """Location and spread."""
    constant = is_constant(values)
    # The floating-point mean of equal values can miss them by a bit, and their spread then looks like one.
    mean = float(values[0] if constant else values.mean())
    row |= {"mean": mean, "median": float(np.median(values)), "min": float(values.min()), "max": float(values.max())}
    if values.size > 1:
        row["sd"] = 0.0 if constant else float(values.std(ddof=1))
        row["cv_percent"] = 100 * row["sd"] / abs(mean) if mean else None


def _interval(
    row: dict[str, Any], flags: list[str], values: Values, settings: Mapping[str, Any], rng: np.random.Generator
) -> None:
    interval = mean_interval(values, settings["confidence"], settings["resamples"], rng)
    row |= {"mean_low": interval.low, "mean_high": interval.high}
    if values.size < SMALLEST_N or is_constant(values):
        flags.append(f"{interval.note}: no interval, no normality, no drift")
    elif interval.note:
        flags.append(f"no interval: {interval.note}")


def _shape(row: dict[str, Any], flags: list[str], used: pd.DataFrame, values: Values, alpha: float) -> None:
    """Normality, drift, outliers, bimodality."""
    spread = not is_constant(values)
    if spread and values.size >= SMALLEST_N:
        row["shapiro_p"] = float(stats.shapiro(values).pvalue)
        if row["shapiro_p"] <= alpha:
            flags.append(f"not normal (Shapiro-Wilk p = {row['shapiro_p']:.2g})")
        rho, p = spearman(values, used["position"])
        row |= {"drift_rho": rho, "drift_p": p}
        if rho is not None and p is not None and p <= alpha:
            flags.append(f"drifts with run order (rho = {rho:.2f}, p = {p:.2g})")
    if values.size >= _SMALLEST_N_OUTLIERS:
        odd = [str(used.index[i]) for i in outliers(values)]
        row |= {"outliers": len(odd), "outlier_repetitions": ", ".join(odd)}
        if odd:
            flags.append(f"outside 1.5 IQR: repetition {', '.join(odd)}")
    if spread and values.size >= _SMALLEST_N_BIMODAL:
        row["bimodality_coefficient"] = bimodality_coefficient(values)
        row["bimodal"] = row["bimodality_coefficient"] > 5 / 9
        if row["bimodal"]:
            flags.append(f"bimodal or skewed (coefficient {row['bimodality_coefficient']:.2f})")


def _run_flags(used: pd.DataFrame) -> list[str]:
    """What the runs' own records flag, with how many runs do."""
    texts = Counter(
        text for flags in used["flags"] if isinstance(flags, str) for text in dict.fromkeys(flags.split("; ")) if text
    )
    return [f"{text} ({count} of {len(used)} runs)" for text, count in texts.items()]
