"""One row per cell and quantity: location, spread, and flags of odd runs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.frames.factor_words import factors_of
from framewatt.statistics.best_set import mixing
from framewatt.statistics.effect_size import SMALLEST_N, Values, is_constant, mean_interval
from framewatt.statistics.hypothesis_tests import correct
from framewatt.statistics.log_ratios import BEYOND, FEWEST_RUNS, outlying, residuals, scatter_percent
from framewatt.statistics.selection import (
    ENERGIES,
    block_values,
    by_reason,
    cells_of,
    counted,
    left_out,
    quantities_of,
    totals,
)
from framewatt.statistics.trends import spearman
from framewatt.study.factors import PlainCell
from framewatt.study.statistical_tests import is_paired

_FLOATS = [
    *("mean", "mean_low", "mean_high", "median", "sd", "cv_percent", "cv_after_blocks_percent", "min", "max"),
    *("shapiro_p", "drift_rho", "drift_p", "bimodality_coefficient"),
]

_COLUMNS = [
    *("quantity", "n", "mean", "mean_low", "mean_high", "median", "sd", "cv_percent", "cv_after_blocks_percent", "min"),
    *(
        "max",
        "shapiro_p",
        "drift_rho",
        "drift_p",
        "outliers",
        "outlier_repetitions",
        "bimodality_coefficient",
        "bimodal",
    ),
    *("estimated", "left_out", "left_out_reasons", "flags"),
]
"""Columns of the cells frame after cell and the factors. Numbers from `mean` to `max` are in the unit that ends the
quantity's name (of a metric without one, a share). What is unknown is missing, and `flags` gives the reason.
`cv_percent` is the plain coefficient of variation, `cv_after_blocks_percent` that of residuals after block effects."""

SMALLEST_N_BIMODAL = 10
"""Runs below which the bimodality coefficient is not judged."""

LARGEST_UNIMODAL = 5 / 9
"""The bimodality coefficient of a uniform distribution; above it, a sample looks bimodal or skewed."""

_SCATTERED = {"energy_gross_j", "energy_per_sample_j", "duration_s", "time_per_sample_s", "mean_power_w"}
"""Quantities that are checked for outlying runs; metrics are not, since many vary in steps of one answer."""


def summarise_cells(runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Summarise every cell of a runs frame, over the runs with status ok and valid energy.

    Mean with Student's interval, median, standard deviation (n - 1), coefficient of variation, plain and after blocks;
    Shapiro-Wilk; drift as Spearman's correlation with the place in the run order; runs with an outlying residual (see
    framewatt.statistics.log_ratios), counted and named but never removed; the bimodality coefficient (SAS; Pfister et
    al. 2013, Frontiers in Psychology 4:700) above 5/9, from 10 runs on. It also rises with skewness, so that a flag
    asks for a look at the runs and proves nothing. Flags of drift and normality hold at the study's alpha over all
    cells (Holm).

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: test, alpha, confidence.

    Returns:
        Columns of `cells_columns`, one row per cell and quantity, also for a cell without a run that counts (n = 0).

    Raises:
        FramewattError: a run is there twice.
    """
    rows = totals(runs)
    cells = cells_of(rows)
    quantities = quantities_of(rows)
    of_quantity = {quantity: _summarise_all(rows, cells, quantity, settings) for quantity in quantities}
    summaries = [of_quantity[quantity][cell.id] for cell in cells for quantity in quantities]
    frame = pd.DataFrame(summaries, columns=cells_columns(factors_of(runs)))
    integers = dict.fromkeys(["n", "outliers", "left_out"], "Int64")
    return frame.astype(integers | dict.fromkeys(_FLOATS, "float64") | {"bimodal": "boolean", "estimated": "bool"})


def cells_columns(factors: Iterable[str]) -> list[str]:
    """Return the columns of the cells frame of a study with these factors."""
    return ["cell", *factors, *_COLUMNS]


def bimodality_coefficient(values: Values) -> float:
    """Return SAS's bimodality coefficient: (skewness^2 + 1) / (excess kurtosis + 3 (n - 1)^2 / ((n - 2) (n - 3))).

    Skewness and kurtosis are corrected for bias. In a large sample, a uniform distribution has 5/9 and two equally
    frequent values have 1. Of 10 normal values, 1 % of samples are above 5/9.

    Args:
        values: shape (n,), n at least 4, not all equal.
    """
    n = values.size
    skewness = float(stats.skew(values, bias=False))
    kurtosis = float(stats.kurtosis(values, bias=False))
    return (skewness**2 + 1) / (kurtosis + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3)))


def _summarise_all(
    rows: pd.DataFrame, cells: Sequence[PlainCell], quantity: str, settings: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the rows of all cells for one quantity; some columns of a cell depend on the other cells."""
    summaries = {cell.id: _summarise(rows, cell, quantity, settings) for cell in cells}
    if quantity in _SCATTERED:
        values = block_values(rows, [*summaries], quantity)
        paired = is_paired(settings)
        odd, scatter = outlying(residuals(values, paired=paired)), scatter_percent(values, paired=paired)
        for cell, row in summaries.items():
            _scatter(row, odd[cell], scatter[cell])
    for name, flag_of in (("shapiro_p", _not_normal), ("drift_p", _drifting)):
        known = [row for row in summaries.values() if row.get(name) is not None]
        for row, p in zip(known, correct([row[name] for row in known], "holm"), strict=True):
            if p is not None and p <= settings["alpha"]:
                row["flags"].append(flag_of(row))
    for row in summaries.values():
        row["flags"] = "; ".join(row["flags"] + row.pop("run_flags"))
    return summaries


def _summarise(rows: pd.DataFrame, cell: PlainCell, quantity: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a cell that depend on no other cell; its flags as a list."""
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
        "run_flags": _run_flags(used),
    }
    flags = mixing(used, paired=False)
    if estimated.any() and not estimated.all():
        flags.append(f"{int(estimated.sum())} of {len(used)} runs estimated, the others measured")
    if len(used):
        values = used[quantity].to_numpy(dtype=np.float64)
        _locate(row, values)
        _interval(row, flags, values, settings["confidence"])
        _shape(row, flags, used, values)
    else:
        flags.append("no run counts")
    return row | {"flags": flags}


def _locate(row: dict[str, Any], values: Values) -> None:
    """Add location and spread."""
    constant = is_constant(values)
    # The floating-point mean of equal values can be off by one bit, which would show as a spread.
    mean = float(values[0] if constant else values.mean())
    row |= {"mean": mean, "median": float(np.median(values)), "min": float(values.min()), "max": float(values.max())}
    if values.size > 1:
        row["sd"] = 0.0 if constant else float(values.std(ddof=1))
        row["cv_percent"] = 100 * row["sd"] / abs(mean) if mean else None


def _interval(row: dict[str, Any], flags: list[str], values: Values, confidence: float) -> None:
    interval = mean_interval(values, confidence)
    row |= {"mean_low": interval.low, "mean_high": interval.high}
    if interval.note:
        flags.append(f"no interval: {interval.note}")


def _shape(row: dict[str, Any], flags: list[str], used: pd.DataFrame, values: Values) -> None:
    """Add normality, drift and bimodality, where there are enough runs and they differ."""
    if is_constant(values) or values.size < SMALLEST_N:
        return
    row["shapiro_p"] = float(stats.shapiro(values).pvalue)
    row["drift_rho"], row["drift_p"] = spearman(values, used["position"])
    if values.size >= SMALLEST_N_BIMODAL:
        row["bimodality_coefficient"] = bimodality_coefficient(values)
        row["bimodal"] = row["bimodality_coefficient"] > LARGEST_UNIMODAL
        if row["bimodal"]:
            flags.append(f"bimodal or skewed (coefficient {row['bimodality_coefficient']:.2f})")


def _scatter(row: dict[str, Any], odd: "pd.Series[bool]", scatter_percent: float) -> None:
    """Add the odd runs of a cell, and its scatter after blocks."""
    row["cv_after_blocks_percent"] = scatter_percent
    if row["n"] >= FEWEST_RUNS:
        names = [str(repetition) for repetition in odd.index[odd]]
        row |= {"outliers": len(names), "outlier_repetitions": ", ".join(names)}
        if names:
            row["flags"].append(
                f"beyond {BEYOND:g} MAD of what its block and cell explain: repetition {', '.join(names)}"
            )


def _not_normal(row: Mapping[str, Any]) -> str:
    return f"not normal (Shapiro-Wilk p = {row['shapiro_p']:.2g})"


def _drifting(row: Mapping[str, Any]) -> str:
    return f"drifts with run order (rho = {row['drift_rho']:.2f}, p = {row['drift_p']:.2g})"


def _run_flags(used: pd.DataFrame) -> list[str]:
    """Return the flags of the runs' own records, each with its number of runs."""
    texts = Counter(
        text for flags in used["flags"] if isinstance(flags, str) for text in dict.fromkeys(flags.split("; ")) if text
    )
    return [f"{text} ({count} of {len(used)} runs)" for text, count in texts.items()]
