"""Verdicts: one row per published number, with its recount and whether they agree."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from framewatt.published.printed import VERDICTS, Answer, judge, read_printed

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


@dataclass(frozen=True)
class Recount:
    """A published number and its recount.

    Attributes:
        table: table or section of the paper.
        row: row of the table, or what a sentence claims.
        column: column of the table, or what was counted.
        published: as printed.
        unit: of both.
        answer: what the recount gives.
        how: how it was recounted.
        decimals: digits behind the point where the table drops trailing zeros; None takes those that are printed.
    """

    table: str
    row: str
    column: str
    published: str
    unit: str
    answer: Answer
    how: str
    decimals: int | None = None


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
    return [_of_row(row, how) for row in frame.to_dict("records")]


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


def _of_row(row: Mapping[Any, Any], how: str) -> Recount:
    value, published = row["recomputed"], row["published"]
    note = row.get("note") or ""
    answer = Answer(None if pd.isna(value) else value, note)
    return Recount(
        row["table"], row["row"], row["column"], "" if pd.isna(published) else str(published), row["unit"], answer, how
    )
