"""Latency and energy of requests that arrive at a rate."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from framewatt.frames.factor_words import factors_of, sorted_by
from framewatt.runs.verdict import FEW_REQUESTS
from framewatt.statistics.deploy import ENERGY_OF_A_REQUEST, under_load
from framewatt.study.factors import reading_order
from framewatt.tables.columns import Show, factor_columns, marked, number, table_of, times, whole
from framewatt.tables.table import MISSING, Table, significant

_OVERLOADED = "overloaded"


def load(runs: pd.DataFrame, statistics: Mapping[str, Any]) -> Table:
    """One row per choice and rate: latencies with queueing, joules per request, and whether the deadline is kept.

    Args:
        runs: the runs frame.
        statistics: the study's settings; `deadline_s` is None where it has none.
    """
    deadline_s = statistics.get("deadline_s")
    data = under_load(runs, deadline_s)
    factors = [name for name in factors_of(data) if name not in ("phase", "load")]
    data = sorted_by(data, [*reading_order(factors), "rate_per_s"]) if len(data) else data
    shown: dict[str, Show] = factor_columns(data, factors) if len(data) else {}
    shown |= {
        "Requests/s": number("rate_per_s"),
        "Runs": lambda r: whole(r["n"]),
        "Energy per request (mJ)": lambda r: marked(significant(times(r[ENERGY_OF_A_REQUEST], 1000)), r),
        "Latency, median (ms)": lambda r: significant(times(r["latency_p50_s"], 1000)),
        "95 % (ms)": lambda r: significant(times(r["latency_p95_s"], 1000)),
        "99 % (ms)": lambda r: significant(times(r["latency_p99_s"], 1000)),
        "Busy (%)": lambda r: significant(times(r["busy_share"], 100), 3),
    }
    if deadline_s is not None:
        shown["In time"] = _in_time
    return table_of("load", _caption(deadline_s), data, shown, factors)


def _in_time(row: Mapping[str, Any]) -> str:
    if row["n"] and row["requests"] < FEW_REQUESTS:
        return "too few requests"
    if pd.isna(row["keeps"]):
        return MISSING
    if row["overloaded"]:
        return _OVERLOADED
    return ("highest" if row["highest"] else "yes") if row["keeps"] else "no"


def _caption(deadline_s: float | None) -> str:
    words = "Requests that arrive at a rate: latency from arrival to answer, and gross energy of the window per request"
    if deadline_s is None:
        return words
    in_time = f"in time: 99 % of requests within {1000 * deadline_s:g} ms in every run, highest: the largest such rate"
    return f"{words}; {in_time}"
