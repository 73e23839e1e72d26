"""Columns of tables as readers see them: how a value of a row becomes text."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from framewatt.frames.factor_words import title
from framewatt.study.factors import reading_order
from framewatt.study.options import OPTIONS
from framewatt.tables.table import MISSING, Table, significant, text, with_ends

ESTIMATED = " (estimated)"
"""Suffix of every estimated number, so that it cannot pass for a measurement."""

Show = Callable[[Mapping[str, Any]], str]
"""A row's text in one column."""


_TEXTS = {"Model", "Framework", "Status", "Checker", "Reason", "Cell", "Cell A", "Cell B"}
_TEXTS |= {"Quantity", "Costs more", "Test", "Flags", "Counted in", "Input", "Layout", "Weights"}
_TEXTS |= {"Along", "Of", "Cells", "Note", "Reference", "Metric", "Metric of reference", "Weights by"}
_TEXTS |= {"Differs in", "First pass", "Operator", "API", "Domain", "Agree"}
_TEXTS |= {"What to try", "Evidence", "Tried", "It"}
_TEXTS |= {"Strided convolutions", "Their padding", "Epsilon", "Activations"}
_TEXTS |= {"Section", "Claim", "Published", "Verdict", "Why", "Runtime", "Exported from", "Provider", "Why empty"}
_TEXTS |= {"Machine", "Least", "Next", "Choice", "As good"}
"""Headings of columns that are aligned to the left."""


def table_of(
    name: str, caption: str, data: pd.DataFrame, columns: Mapping[str, Show], factors: Iterable[str] = ()
) -> Table:
    """Return a table from its rows in full.

    Args:
        name: of its files.
        caption: what it holds.
        data: the rows.
        columns: heading -> what it shows of a row.
        factors: those among the columns of `data`; levels that are words are aligned to the left.
    """
    records: list[dict[str, Any]] = [{str(k): v for k, v in row.items()} for row in data.to_dict("records")]
    shown = pd.DataFrame([{heading: show(row) for heading, show in columns.items()} for row in records])
    shown = shown.reindex(columns=list(columns))
    words = {title(factor) for factor in factors if not pd.api.types.is_numeric_dtype(data[factor])}
    return Table(name, caption, data, shown, frozenset(set(columns) - _TEXTS - words))


def factor_columns(data: pd.DataFrame, factors: Iterable[str]) -> dict[str, Show]:
    """Columns of the factors; number format where the study varies it, options of training where there is training."""
    trains = "phase" in data and (data["phase"] == "train").any()
    names = [name for name in reading_order(factors) if name != "precision" or data["precision"].nunique() > 1]
    return {title(name): _level_of(name) for name in names if trains or not _is_option_of_training(name)}


def _is_option_of_training(name: str) -> bool:
    return name in OPTIONS and OPTIONS[name].is_of_training


def _level_of(name: str) -> Show:
    """Return what shows a level; empty for an option of another phase, for which the frame has the default."""
    return lambda row: MISSING if name in OPTIONS and not OPTIONS[name].is_of(row.get("phase")) else text(row[name])


def text_of(name: str) -> Show:
    """Shows a value as it is."""
    return lambda row: text(row[name])


def number(name: str) -> Show:
    """Shows a number, rounded."""
    return lambda row: significant(row[name])


def mean(row: Mapping[str, Any], name: str, factor: float = 1) -> str:
    """Return a mean and its interval, times a factor."""
    return with_ends(*(times(row[f"{name}{end}"], factor) for end in ("", "_low", "_high")))


def marked(shown: str, row: Mapping[str, Any]) -> str:
    """Return a number of joules or watts, marked where the row's energy is estimated."""
    return shown + ESTIMATED if row["energy_estimated"] and shown != MISSING else shown


def times(value: Any, factor: float) -> float | None:
    """Return a value times a factor, None where it is unknown."""
    return None if value is None or pd.isna(value) else value * factor


def whole(value: Any) -> str:
    """Return a whole number."""
    return MISSING if value is None or pd.isna(value) else str(int(value))


def bracketed(value: Any, low: Any, high: Any) -> str:
    """Return a value with its interval, where there is one."""
    if pd.isna(low) or pd.isna(high):
        return significant(value, 3)
    return f"{significant(value, 3)} [{significant(low, 3)}, {significant(high, 3)}]"
