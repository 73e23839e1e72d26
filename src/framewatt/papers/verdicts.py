"""Verdicts: one row per published number, with its recount and whether they agree."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_text
from framewatt.base.spreadsheet import read_csv, to_csv
from framewatt.papers.printed import DEVIATES, REPRODUCED, VERDICTS, Answer, Recount, judge, read_printed
from framewatt.tables.table import MISSING, Table, significant, text, to_markdown

VERDICTS_COLUMNS = [
    "study",
    "table",
    "row",
    "column",
    "recomputed",
    "published",
    "unit",
    "deviation",
    "deviation_percent",
    "verdict",
    "note",
    "how",
]
"""Columns of the verdicts: one row per published number.

`table` is the table or section of the paper, `row` and `column` say which number of it; `recomputed` is in `unit`, in
full; `published` is text, as printed; `deviation` is recomputed less published. Unknown numbers are missing.
"""


def verdicts(study: str, recounts: Iterable[Recount]) -> pd.DataFrame:
    """The verdict of every number.

    Args:
        study: its name.
        recounts: in the order of the paper.

    Returns:
        VERDICTS_COLUMNS, one row per recount.
    """
    return pd.DataFrame([_row(study, recount) for recount in recounts], columns=VERDICTS_COLUMNS)


def counts(frame: pd.DataFrame) -> pd.DataFrame:
    """How many numbers of every table have which verdict.

    Returns:
        Columns table, VERDICTS, in the order of the paper.
    """
    counted = pd.crosstab(frame["table"], frame["verdict"]).reindex(columns=list(VERDICTS), fill_value=0)
    ordered = counted.reindex(list(dict.fromkeys(frame["table"])))
    return ordered.rename_axis(columns=None).reset_index()


def from_frame(frame: pd.DataFrame, how: str) -> list[Recount]:
    """Recounts of a frame: columns table, row, column, recomputed, published, unit, and note where it has one.

    Args:
        frame: what is missing in `recomputed` cannot be recomputed; what is missing in `published` is not in the paper.
        how: how the numbers were made.
    """
    return [_recount_of(row, how) for row in frame.to_dict("records")]


def _row(study: str, recount: Recount) -> dict[str, Any]:
    verdict, note = judge(recount.answer, recount.published, recount.decimals)
    row: dict[str, Any] = {
        "study": study,
        "table": recount.table,
        "row": recount.row,
        "column": recount.column,
        "recomputed": recount.answer.value,
        "published": recount.published,
        "unit": recount.unit,
        "verdict": verdict,
        "note": note,
        "how": recount.how,
    }
    printed = read_printed(recount.published, recount.decimals)
    value = recount.answer.value
    if printed and isinstance(value, float | int) and printed.sign not in ("<", ">"):
        row["deviation"] = value - printed.value
        row["deviation_percent"] = 100 * (value / printed.value - 1) if printed.value else None
    return row


def _recount_of(row: Mapping[Any, Any], how: str) -> Recount:
    value, published = row["recomputed"], row["published"]
    note = row.get("note") or ""
    answer = Answer(None if pd.isna(value) else value, note)
    return Recount(
        row["table"], row["row"], row["column"], "" if pd.isna(published) else str(published), row["unit"], answer, how
    )


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
    """The numbers that the recount does not reproduce; the table of all verdicts has the way of each recount."""
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
    shown, left_out = readable(verdicts)
    parts = [to_markdown(counts_table(study, verdicts)), left_out, to_markdown(verdicts_table(study, shown))]
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


def read_verdicts(path: Path) -> pd.DataFrame:
    """Read the CSV file of `write_verdicts`; numbers as printed stay text."""
    return read_csv(path, dtype={"published": str, "note": str, "unit": str, "column": str})


def write_verdicts(study: str, verdicts: pd.DataFrame, paths: Iterable[Path]) -> None:
    """Write all verdicts as .csv, and those that a reader can go through as .md.

    Raises:
        FramewattError: a path ends in something else.
    """
    for path in paths:
        if path.suffix == ".csv":
            write_text(path, _to_csv(verdicts))
        elif path.suffix == ".md":
            write_text(path, to_readable_markdown(study, verdicts))
        else:
            raise FramewattError(f"{path}: {path.suffix!r} is not a format of verdicts. Use .csv or .md.")


def write_plain(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame as a CSV file."""
    write_text(path, _to_csv(frame))


def _to_csv(frame: pd.DataFrame) -> str:
    # Beyond twelve digits lies what one machine's mathematical library makes of a function and another's does not.
    return to_csv(frame, float_format="%.12g")
