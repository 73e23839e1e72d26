"""Operators that were repeated alone beside what they take in the program."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from framewatt.profiling.operators import OPERATOR
from framewatt.tables.columns import ESTIMATED, Show, table_of, text_of
from framewatt.tables.ratios import ratio_of
from framewatt.tables.table import Table, significant, text


def repeated_table(repeated: pd.DataFrame) -> Table:
    """A row an operator; those of its calls are in operators/repeated.csv.

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
        f"Joined (mJ{estimated})": lambda r: _within(r["joined_j"], r["joined_uncertainty_j"]),
        f"Repeated (mJ{estimated})": lambda r: _within(r["repeated_j"], r["repeated_uncertainty_j"]),
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


def _within(value: float, uncertainty: float) -> str:
    if pd.isna(value):
        return text(None)
    return f"{significant(1e3 * value, 4)} ± {significant(1e3 * uncertainty, 2)}"
