"""Joules by operator and by API, and how well timelines resolve them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from framewatt.base.spreadsheet import read_csv
from framewatt.frames.factor_words import title
from framewatt.profiling.advice import advice
from framewatt.profiling.collection import OPERATOR_TABLES
from framewatt.profiling.operators import API, OPERATOR
from framewatt.tables.columns import ESTIMATED, Show, table_of, text_of
from framewatt.tables.ratios import ratio_of
from framewatt.tables.table import Table, significant, text

_OF = {"operators": (OPERATOR, "Operator"), "apis": (API, "API")}


def operator_table(
    name: str, joules: pd.DataFrame, about: pd.DataFrame, runs: pd.DataFrame, exports: Mapping[str, int | None]
) -> Table:
    """Return one of the tables in profiling.collection.OPERATOR_TABLES.

    Args:
        name: of the table.
        joules: a row an operator or API (operators.COLUMNS).
        about: a row a timeline (operators.ABOUT).
        runs: the runs frame, by which advice states what it changed.
        exports: weights among the inputs of each export, see profiling.advice.weights_in_exports.
    """
    if name in _OF:
        return _joules(name, joules)
    return _timelines(about) if name == "timelines" else _advice(advice(joules, about, runs, exports))


def operator_tables(paths: Sequence[str], runs: pd.DataFrame, exports: Mapping[str, int | None]) -> list[Table]:
    """Return all of them, as a report shows them; none where a study has no timeline.

    Args:
        paths: of joules.csv and timelines.csv, and of repeated.csv where operators were repeated alone; empty where
            there are none.
        runs: the runs frame.
        exports: see operator_table.
    """
    if not paths:
        return []
    joules, about, *repeated = map(read_csv, paths)
    tables = [operator_table(name, joules, about, runs, exports) for name in OPERATOR_TABLES]
    return [*tables, *map(repeated_table, repeated)]


def _joules(name: str, joules: pd.DataFrame) -> Table:
    by, heading = _OF[name]
    data = joules[joules["by"] == by].drop(columns="by").reset_index(drop=True)
    estimated = ESTIMATED if data["estimated"].any() else ""
    shown: dict[str, Show] = {
        "Cell": text_of("cell"),
        heading: text_of("name"),
        "Domain": text_of("domain"),
        "Calls": lambda r: str(r["calls"]) if r["calls"] else "",
        "Time (s)": lambda r: significant(r["seconds"], 3),
        f"Energy (J{estimated})": lambda r: _within(r["energy_j"], r["uncertainty_j"]),
        "Share (%)": lambda r: significant(r["share_percent"], 3),
    }
    told = "what an operator is too short to tell is one row together; an uncertainty is one standard deviation"
    return table_of(name, f"Joules by {'operator' if by == OPERATOR else 'API'}: {told}", data, shown)


def _advice(data: pd.DataFrame) -> Table:
    shown: dict[str, Show] = {
        "Cell": text_of("cell"),
        "What to try": text_of("hint"),
        "Evidence": text_of("evidence"),
        "Share (%)": lambda r: significant(r["share_percent"], 3),
        "Tried": lambda r: f"{title(r['factor'])}: {r['tried']}",
        "Energy, ratio": ratio_of,
        "Blocks": lambda r: str(r["blocks"]),
        "It": text_of("told"),
    }
    told = "energy of what was tried over that of the cell, with an interval that holds for all rows together"
    return table_of("advice", f"What to try, and what it changed in this study: {told}", data, shown)


def _within(value: float, uncertainty: float) -> str:
    return f"{significant(value, 4)} ± {significant(uncertainty, 2)}"


def _count(name: str) -> Show:
    return lambda row: text(None if pd.isna(row[name]) else int(row[name]))


def _timelines(about: pd.DataFrame) -> Table:
    data = about.copy()
    for what in ("seconds", "joules"):
        plain, profiled = (data[f"{what}_per_unit_{which}"] for which in ("plain", "profiled"))
        data[f"{what}_ratio"] = profiled / plain
    shown: dict[str, Show] = {
        "Cell": text_of("cell"),
        "Domain": text_of("domain"),
        "Operators": _count("operators"),
        "Told apart": _count("resolved"),
        "Shortest (s)": lambda r: significant(r["shortest_s"], 3),
        "Outside operators (%)": lambda r: significant(r["between_percent"], 3),
        "Clock within (us)": lambda r: significant(1e6 * r["clock_uncertainty_s"], 2),
        "Time with profiler, ratio": lambda r: significant(r["seconds_ratio"], 3),
        "Energy with profiler, ratio": lambda r: significant(r["joules_ratio"], 3),
        "Flags": text_of("flags"),
        "Reason": text_of("reason"),
    }
    return table_of("timelines", "How well timelines tell operators apart, and what the profiler cost", data, shown)


def repeated_table(repeated: pd.DataFrame) -> Table:
    """Return a row an operator; those of its calls are in operators/repeated.csv.

    Args:
        repeated: both ways side by side (framewatt.profiling.repeated.COLUMNS).
    """
    data = repeated[repeated["by"] == OPERATOR].drop(columns=["by", "shapes"]).reset_index(drop=True)
    estimated = ESTIMATED if (data["estimated"] == True).any() else ""  # noqa: E712  # unknown where nothing was repeated
    shown: dict[str, Show] = {
        "Cell": text_of("cell"),
        "Operator": text_of("operator"),
        "Domain": text_of("domain"),
        "Calls": lambda r: text(None if pd.isna(r["calls"]) else int(r["calls"])),
        "Of calls (%)": lambda r: significant(r["covered_percent"], 3),
        "Of time (%)": lambda r: significant(r["covered_s_percent"], 3),
        "Joined (ms)": lambda r: significant(1e3 * r["joined_s"], 3),
        "Repeated (ms)": lambda r: significant(1e3 * r["repeated_s"], 3),
        f"Joined (mJ{estimated})": lambda r: _millijoules(r["joined_j"], r["joined_uncertainty_j"]),
        f"Repeated (mJ{estimated})": lambda r: _millijoules(r["repeated_j"], r["repeated_uncertainty_j"]),
        "Time, ratio": lambda r: significant(r["joined_s"] / r["repeated_s"], 3),
        "Energy, ratio": ratio_of,
        "Agree": _agree,
        "Reason": text_of("reason"),
        "Flags": text_of("flags"),
    }
    told = (
        "seconds and joules of a call, in the program by its timeline (joined) and in a loop of its own (repeated); "
        "an uncertainty is one standard deviation, the interval of the ratio one of 95 %"
    )
    return table_of("repeated", f"Operators in the program and alone: {told}", data, shown)


def _agree(row: Mapping[str, Any]) -> str:
    return text(None if pd.isna(row["agree"]) else "yes" if row["agree"] else "no")


def _millijoules(value: float, uncertainty: float) -> str:
    if pd.isna(value):
        return text(None)
    return f"{significant(1e3 * value, 4)} ± {significant(1e3 * uncertainty, 2)}"
