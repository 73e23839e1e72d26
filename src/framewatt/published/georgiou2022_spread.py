"""Spread of georgiou2022's ten runs per case: interval, drift, outliers, bimodality."""

from typing import Any

import numpy as np
import pandas as pd

from framewatt.figures.published.frameworks import NAMES
from framewatt.published.georgiou2022_claims import QUANTITIES
from framewatt.published.quartiles import outliers
from framewatt.statistics.cells import LARGEST_UNIMODAL, SMALLEST_N_BIMODAL, bimodality_coefficient
from framewatt.statistics.effect_size import is_constant, mean_interval
from framewatt.statistics.trends import spearman

SPREAD_COLUMNS = [
    "phase",
    "model",
    "framework",
    "quantity",
    "runs",
    "mean",
    "mean_low",
    "mean_high",
    "median",
    "cv_percent",
    "drift_rho",
    "drift_p",
    "outlier_runs",
    "bimodality",
    "flags",
]
"""Columns of the spread: joules and seconds; `drift_rho` is Spearman's correlation with the number of the run,
`bimodality` SAS's coefficient. Intervals and bimodality are those of framewatt.statistics; there are no blocks, so that
outliers go by quartiles."""

CONFIDENCE = 0.95
ALPHA = 0.05
MUCH_CV_PERCENT = 10.0


def spread(raw: pd.DataFrame) -> pd.DataFrame:
    """One row per phase, model, framework and quantity that has runs.

    Args:
        raw: framewatt.published.georgiou2022_tables.RAW_COLUMNS.
    """
    rows = []
    for (phase, model, framework), runs in raw.groupby(["phase", "model", "framework"], sort=False):
        for quantity, name in QUANTITIES.items():
            known = runs.dropna(subset=[quantity]).sort_values("repetition")
            if len(known):
                head = {"phase": phase, "model": model, "framework": NAMES[framework]}
                head["quantity"] = name
                rows.append(head | _row(known[quantity].to_numpy(), known["repetition"].to_numpy()))
    return pd.DataFrame(rows, columns=SPREAD_COLUMNS)


def facts(found: pd.DataFrame) -> list[str]:
    """How many rows are flagged for what."""
    if found.empty:
        return []
    flags = found["flags"].fillna("")
    drift, outlier, bimodal = (int(flags.str.contains(word).sum()) for word in ("drift", "outlier", "bimodal"))
    sentences = [
        f"Of {len(found)} samples of a model, framework and quantity, {drift} drift with the number of the run (p at "
        f"most {ALPHA:g}, uncorrected), {outlier} have outliers beyond 1.5 interquartile ranges, {bimodal} look "
        "bimodal or skewed."
    ]
    varied = found.dropna(subset=["cv_percent"])
    if len(varied):
        worst = varied.loc[varied["cv_percent"].idxmax()]
        sentences.append(
            f"The largest coefficient of variation is {worst['cv_percent']:.1f} %: {worst['model']}, "
            f"{worst['framework']}, {worst['quantity']} ({worst['phase']})."
        )
    return sentences


def _row(values: np.ndarray, repetitions: np.ndarray) -> dict[str, Any]:
    interval = mean_interval(values, CONFIDENCE)
    mean = float(values.mean())
    row: dict[str, Any] = {
        "runs": len(values),
        "mean": mean,
        "mean_low": interval.low,
        "mean_high": interval.high,
        "median": float(np.median(values)),
        "cv_percent": 100 * float(values.std(ddof=1)) / mean if len(values) > 1 else None,
    }
    flags = []
    row["drift_rho"], row["drift_p"] = spearman(values, repetitions)
    if row["drift_p"] is not None and row["drift_p"] <= ALPHA:
        flags.append("drift")
    if len(values) >= SMALLEST_N_BIMODAL and not is_constant(values):
        odd = outliers(values)
        row["outlier_runs"] = ", ".join(str(repetitions[i]) for i in odd)
        row["bimodality"] = bimodality_coefficient(values)
        flags += ["outlier"] * bool(odd) + ["bimodal or skewed"] * (row["bimodality"] > LARGEST_UNIMODAL)
    if row["cv_percent"] is not None and row["cv_percent"] > MUCH_CV_PERCENT:
        flags.append("varies much")
    return row | {"flags": "; ".join(flags)}
