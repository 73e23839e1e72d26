"""Latency under load: what every choice does at each rate of requests, and the highest rate that keeps a deadline."""

from typing import Any

import pandas as pd

from framewatt.frames.factor_words import factors_of
from framewatt.runs.verdict import FEW_REQUESTS, OVERLOADED
from framewatt.statistics.selection import totals
from framewatt.study.factors import rate_of

LATENCIES = ["latency_p50_s", "latency_p95_s", "latency_p99_s"]
ENERGY = "energy_per_request_j"
_MEANS = [ENERGY, *LATENCIES, "busy_share"]
_COLUMNS = [
    "device",
    "rate_per_s",
    "n",
    "energy_estimated",
    *_MEANS,
    "requests",
    "latency_p99_max_s",
    "overloaded",
    "keeps",
    "highest",
]


def under_load(runs: pd.DataFrame, deadline_s: float | None = None) -> pd.DataFrame:
    """What every choice does at each of its rates: means over the runs that count.

    Args:
        runs: the runs frame.
        deadline_s: seconds within which 99 % of requests are to be answered; None is no deadline.

    Returns:
        Columns cell, the factors and _COLUMNS, one row a cell with an open loop; none without the factor `load`.
        `overloaded`: in half of the runs or more, the model was busy for nearly all of the window. `keeps`: every run
        kept the deadline, and it is not overloaded; missing without a deadline, without a run that counts, or where
        all runs together have fewer than FEW_REQUESTS. `highest`: the largest rate of its choice that keeps it, where
        all smaller ones do.
    """
    factors = factors_of(runs)
    columns = ["cell", *factors, *_COLUMNS]
    if "load" not in factors:
        return pd.DataFrame(columns=columns)
    rows = totals(runs)
    rows = rows.assign(rate_per_s=rows["load"].map(rate_of)).dropna(subset=["rate_per_s"])
    if rows["requests"].isna().all():
        return pd.DataFrame(columns=columns)
    # A sample is a unit of work, such as a token; a request may have many.
    rows[ENERGY] = rows["energy_gross_j"] / pd.to_numeric(rows["requests"])
    rows["requests"] = pd.to_numeric(rows["requests"]).where(rows["counts"])
    rows = rows.astype(dict.fromkeys(_MEANS, "float64"))
    # A cell without a run that counts keeps its row, empty.
    rows[_MEANS] = rows[_MEANS].where(rows["counts"], float("nan"))
    grouped = rows.groupby(["cell", *factors, "device", "rate_per_s"], sort=False)
    found = grouped[_MEANS].mean()
    found["n"] = grouped["counts"].sum()
    found["energy_estimated"] = grouped["estimated"].any()
    found["latency_p99_max_s"] = grouped["latency_p99_s"].max()
    found["overloaded"] = grouped["busy_share"].median() > OVERLOADED
    found["requests"] = grouped["requests"].sum()
    found = found.reset_index()
    found["keeps"] = pd.array([_keeps(row, deadline_s) for row in found.to_dict("records")], dtype="boolean")
    found["highest"] = False
    choice = [name for name in factors if name != "load"]
    for _, part in found.sort_values("rate_per_s").groupby(choice, sort=False):
        kept = part[part["keeps"].fillna(value=False).cummin()]
        if len(kept):
            found.loc[kept.index[-1], "highest"] = True
    return found[columns].sort_values([*choice, "rate_per_s"], kind="stable", ignore_index=True)


def _keeps(row: dict[str, Any], deadline_s: float | None) -> bool | None:
    worst_s = row["latency_p99_max_s"]
    if deadline_s is None or not row["n"] or not isinstance(worst_s, float) or pd.isna(worst_s):
        return None
    if row["requests"] < FEW_REQUESTS:
        return None
    return worst_s <= deadline_s and not row["overloaded"]
