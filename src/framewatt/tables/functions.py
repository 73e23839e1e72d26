"""The functions in which profiled runs spend their time, in the shape of georgiou2022's Tables 5 to 8."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from framewatt.profiling.dump import KEY, file_name, profiled_as
from framewatt.runs.profiling import PLAIN, PROFILED, order_of
from framewatt.tables.columns import Show, table_of, text_of
from framewatt.tables.table import MISSING, Table, significant, text

THRESHOLD_PERCENT = 1.0
"""georgiou2022 lists functions with more than this share of a run (Section 4.3)."""

NO_API_NAME = "no API name known"

_COLUMNS = ["workload", "api_name", "file", "line", "function", "calls", "own_time_s", "share_percent", "type"]

SHOWN: dict[str, Callable[[float], str]] = {
    "calls": text,
    "own_time_s": lambda seconds: significant(seconds, 4),
    "share_percent": lambda percent: significant(percent, 3),
}


def functions(frame: pd.DataFrame, framework: str, phase: str, threshold_percent: float = THRESHOLD_PERCENT) -> Table:
    """Return a row for each function with more own time than a share of its run; runs in the order of the frame.

    Args:
        frame: the functions frame.
        framework: the engine of the runs.
        phase: `train` or `infer`.
        threshold_percent: the share, in percent.
    """
    profiled = frame[(frame["framework"] == framework) & (frame["phase"] == phase)]
    # Where a model has more than one cell, or a cell was profiled more than once, the runs are distinguished.
    several = bool((profiled.groupby("workload")["cell"].nunique() > 1).any())
    repeated = bool((profiled["repetition"] > 1).any())
    key = [*(["cell"] if several else []), *(["repetition"] if repeated else [])]
    columns = [*_COLUMNS[:1], *key, *_COLUMNS[1:]]
    data = profiled.loc[profiled["share_percent"] > threshold_percent, columns].reset_index(drop=True)
    run = data["cell" if several else "workload"]
    run = run + (", repetition " + data["repetition"].astype("str") if repeated else "")
    shown = pd.DataFrame(
        {
            "Workload": run,
            "Function": data["api_name"].fillna(NO_API_NAME),
            "Profiled as": profiled_as(data),
            "Calls": data["calls"].map(SHOWN["calls"]),
            "Own time (s)": data["own_time_s"].map(SHOWN["own_time_s"]),
            "Share (%)": data["share_percent"].map(SHOWN["share_percent"]),
            "Type": data["type"].fillna(MISSING),
        }
    )
    runs = len(profiled[KEY].drop_duplicates())
    caption = (
        f"Functions with more than {threshold_percent:g} % of the time of a profiled run, {framework}, {phase}: "
        f"{runs} profiled run{'' if runs == 1 else 's'}"
    )
    numeric = frozenset({"Calls", "Own time (s)", "Share (%)"})
    return Table(f"functions_{file_name(framework, phase)}", caption, data, shown, numeric)


def functions_unnamed(frame: pd.DataFrame, threshold_percent: float = THRESHOLD_PERCENT) -> Table:
    """One row per function without an API name with more own time than a share of some run, largest share first.

    These are what config/api_names.csv has no rule for: own code of the models and of framewatt among them, which has
    no API name.

    Args:
        frame: the functions frame.
        threshold_percent: the share, in percent.
    """
    large = frame[(frame["share_percent"] > threshold_percent) & frame["api_name"].isna()]
    large = large.assign(profiled_as=profiled_as(large)).sort_values("share_percent", ascending=False)
    by = ["framework", "file", "function", "profiled_as"]
    data = large.groupby(by, sort=False).agg(
        profiled_runs=("cell", "size"), largest_share_percent=("share_percent", "first"), in_cell=("cell", "first")
    )
    data = data.reset_index()
    shown = pd.DataFrame(
        {
            "Framework": data["framework"],
            "Profiled as": data["profiled_as"],
            "Profiled runs": data["profiled_runs"].map(text),
            "Largest share (%)": data["largest_share_percent"].map(SHOWN["share_percent"]),
            "In": data["in_cell"],
        }
    )
    caption = f"Functions with more than {threshold_percent:g} % of the time of a profiled run, and no known API name"
    return Table("functions_unnamed", caption, data, shown, frozenset({"Profiled runs", "Largest share (%)"}))


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
    summary = f": median ratio {known.median():.3g}, largest {known.max():.3g}" if len(known) else ""
    return table_of("profiler_cost", f"What the profiler costs in the primary windows{summary}", data, shown)


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {name: record.get(name) for name in ("status", "reason", "phase")}
    row["cell"] = record.get("cell_id") or record["name"]
    row["first"] = order_of(row["cell"])[0]
    passes = record.get("passes")
    if passes is None:
        return row
    row |= {"workload": record["cell"]["workload"], "framework": record["engine"]}
    for which in (PLAIN, PROFILED):
        measured = passes[which]
        units = measured["units"]["count"]
        row |= {f"units_{which}": units, f"process_s_{which}": measured["process_s"]}
        row[f"windows_s_per_unit_{which}"] = measured["windows_s"] / units if units else None
    plain, profiled = (row[f"windows_s_per_unit_{which}"] for which in (PLAIN, PROFILED))
    row["windows_ratio"] = profiled / plain if plain and profiled else None
    same = row["units_plain"] == row["units_profiled"]
    row["process_ratio"] = row["process_s_profiled"] / row["process_s_plain"] if same else None
    return row


def profile_tables(
    frame: pd.DataFrame | None, of: Iterable[tuple[str, str]], records: Iterable[Mapping[str, Any]]
) -> list[Table]:
    """Functions by engine and phase, those without a name, and what the profiler costs; none where nothing is profiled.

    Args:
        frame: the functions frame; None where no cell is profiled.
        of: engine and phase of each table.
        records: of the profiled runs.
    """
    if frame is None:
        return []
    return [
        *(functions(frame, framework, phase) for framework, phase in of),
        functions_unnamed(frame),
        profiler_cost(records),
    ]
