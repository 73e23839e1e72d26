"""What the profiler costs: the same work with it and without."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from framewatt.runs.profiling import PLAIN, PROFILED, order_of
from framewatt.tables.columns import Show, table_of, text_of
from framewatt.tables.table import Table, significant

_KEYS = [
    *("cell", "phase", "workload", "framework", "first", "status", "reason"),
    *(f"{what}_{which}" for what in ("windows_s_per_unit", "process_s", "units") for which in (PLAIN, PROFILED)),
    *("windows_ratio", "process_ratio"),
]


def profiler_cost(records: Iterable[Mapping[str, Any]]) -> Table:
    """One row per profiled cell: seconds in the primary windows and of the process, with the profiler and without.

    Each is one pair of passes: a ratio of a single cell has the noise of two runs. Processes are compared only where
    both passes did the same number of units.

    Args:
        records: of profiled runs, each with `cell_id`, or `name` where it failed.
    """
    data = pd.DataFrame([_row(record) for record in records], columns=_KEYS)
    shown: dict[str, Show] = {
        "Cell": text_of("cell"),
        "First pass": text_of("first"),
        "Windows, s/unit": lambda r: significant(r["windows_s_per_unit_plain"], 3),
        "Profiled, s/unit": lambda r: significant(r["windows_s_per_unit_profiled"], 3),
        "Ratio": lambda r: significant(r["windows_ratio"], 3),
        "Process (s)": lambda r: significant(r["process_s_plain"], 3),
        "Profiled (s)": lambda r: significant(r["process_s_profiled"], 3),
        "Ratio of processes": lambda r: significant(r["process_ratio"], 3),
        "Reason": text_of("reason"),
    }
    known = data["windows_ratio"].dropna()
    told = f": median ratio {known.median():.3g}, largest {known.max():.3g}" if len(known) else ""
    return table_of("profiler_cost", f"What the profiler costs in the primary windows{told}", data, shown)


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {name: record.get(name) for name in ("status", "reason", "phase")}
    row["cell"] = record.get("cell_id") or record["name"]
    row["first"] = order_of(row["cell"])[0]
    passes = record.get("passes")
    if passes is None:
        return row
    row |= {"workload": record["cell"]["workload"], "framework": record["engine"]}
    for which in (PLAIN, PROFILED):
        told = passes[which]
        units = told["units"]["count"]
        row |= {f"units_{which}": units, f"process_s_{which}": told["process_s"]}
        row[f"windows_s_per_unit_{which}"] = told["windows_s"] / units if units else None
    plain, profiled = (row[f"windows_s_per_unit_{which}"] for which in (PLAIN, PROFILED))
    row["windows_ratio"] = profiled / plain if plain and profiled else None
    same = row["units_plain"] == row["units_profiled"]
    row["process_ratio"] = row["process_s_profiled"] / row["process_s_plain"] if same else None
    return row
