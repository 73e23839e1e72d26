"""Verdicts and what goes with them as tables for readers."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from framewatt.published.printed import DEVIATES, REPRODUCED, VERDICTS
from framewatt.published.verdicts import counts
from framewatt.tables.table import MISSING, Table, significant, text, to_markdown

LARGEST_SHOWN = 500
"""Largest table of verdicts that is shown in full, in rows; of a longer one, reproduced rows are only in the CSV."""

_DIGITS = 6
_HEADINGS = {
    "table": "Where",
    "row": "Row or claim",
    "column": "Column",
    "published": "Published",
    "recomputed": "Recomputed",
    "unit": "Unit",
    "verdict": "Verdict",
    "deviation_percent": "Deviation (%)",
    "note": "Note",
    "how": "How",
}

_UNITS = {"j": "J", "s": "s", "w": "W", "mib": "MiB", "percent": "%"}


def plain_table(name: str, caption: str, data: pd.DataFrame) -> Table:
    """A table as it is, its names as headings and its numbers to four digits."""
    numeric = [str(column) for column in data.columns if pd.api.types.is_float_dtype(data[column])]
    whole = [str(column) for column in data.columns if pd.api.types.is_integer_dtype(data[column])]
    shown = pd.DataFrame(
        {_heading(name): data[name].map(significant if name in numeric else text) for name in map(str, data.columns)}
    )
    return Table(name, caption, data, shown, frozenset(map(_heading, numeric + whole)))


def counts_table(study: str, verdicts: pd.DataFrame) -> Table:
    """How many numbers of every table and section have which verdict, with their sum below."""
    counted = counts(verdicts)
    total = pd.DataFrame([{"table": "all", **counted[list(VERDICTS)].sum()}])
    data = pd.concat([counted, total], ignore_index=True)
    table = plain_table(f"{study}_counts", f"{study}: verdicts by table and section", data)
    return Table(table.name, table.caption, data, table.shown.rename(columns={"table": "Where"}), table.numeric)


def verdicts_table(study: str, verdicts: pd.DataFrame) -> Table:
    """Every verdict."""
    shown = pd.DataFrame(
        {heading: verdicts[column].map(_SHOWN.get(column, _words)) for column, heading in _HEADINGS.items()}
    )
    numeric = frozenset({"Recomputed", "Published", "Deviation (%)"})
    return Table(f"{study}_verdicts", f"{study}: every number and its verdict", verdicts, shown, numeric)


def deviating_table(study: str, verdicts: pd.DataFrame) -> Table:
    """The numbers that the recount does not reproduce; the table of all verdicts says how each was recounted."""
    table = verdicts_table(study, verdicts[verdicts["verdict"] == DEVIATES])
    shown = table.shown.drop(columns=["Verdict", "How"])
    caption = f"{study}: where the recount gives another number"
    return Table(f"{study}_deviating", caption, table.data, shown, table.numeric)


def readable(verdicts: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The verdicts that a reader can go through, and in words which are left out."""
    sizes = verdicts.groupby("table", sort=False).size()
    long = sizes.index[sizes > LARGEST_SHOWN]
    hidden = verdicts["table"].isin(long) & verdicts["verdict"].eq(REPRODUCED)
    left_out = ", ".join(f"{int(hidden[verdicts['table'] == name].sum())} of {name}" for name in long)
    return verdicts[~hidden], f"Reproduced, and listed in the CSV file only: {left_out}." if left_out else ""


def to_readable_markdown(study: str, verdicts: pd.DataFrame) -> str:
    """The counts, then the verdicts that a reader can go through."""
    kept, left_out = readable(verdicts)
    parts = [to_markdown(counts_table(study, verdicts)), left_out, to_markdown(verdicts_table(study, kept))]
    return "\n".join(part for part in parts if part)


def _heading(name: str) -> str:
    words, _, unit = name.rpartition("_")
    return f"{words.replace('_', ' ')} ({_UNITS[unit]})" if unit in _UNITS else name.replace("_", " ")


def _number(value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float) or pd.isna(value):
        return MISSING
    return str(int(value)) if float(value).is_integer() else significant(value, _DIGITS)


def _percent(value: float) -> str:
    return significant(value, 3)


def _words(value: object) -> str:
    return "" if text(value) == MISSING else text(value)


_SHOWN: dict[str, Callable[[Any], str]] = {"recomputed": _number, "deviation_percent": _percent}
"""How the columns that are no words are shown."""
