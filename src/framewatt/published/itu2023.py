"""itu2023: the authors' own table of every epoch, and the sentences of their report, recounted from the raw results."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.published import itu2023_claims
from framewatt.published.itu2023_epochs import DIGITS, GAUGES, KEYS, METRICS, UNITS, as_published
from framewatt.published.itu2023_places import labels
from framewatt.published.printed import Answer
from framewatt.published.resources import read_claims, read_table, recount_claims
from framewatt.published.verdicts import Recount, verdicts

STUDY = "itu2023"

RUNS = 2
"""Runs of every combination of levels, says the report."""

_HOW = dict.fromkeys(GAUGES, "mean over the runs of the mean reading of the epoch")
_HOW |= {"total_time": "mean over the runs of the time between the ends of epochs; epoch 1 from the first reading"}
_HOW |= dict.fromkeys(METRICS, "mean over the runs, each run's value rounded to three digits before")
_HOW |= {"accuracy": "mean over the runs", "energy": "rounded mean power x rounded mean time"}


def recount(resources: Path, epochs: pd.DataFrame, tables: Iterable[Path]) -> pd.DataFrame:
    """The verdicts of itu2023.

    Args:
        resources: folder of the claims.
        epochs: of all runs, see framewatt.published.itu2023_epochs.all_epochs.
        tables: the authors' tables.

    Returns:
        framewatt.published.verdicts.VERDICTS_COLUMNS.
    """
    recomputed = as_published(epochs)
    claims = read_claims(resources / f"{STUDY}_claims.csv")
    found = [
        recount for path, label in labels(list(tables)).items() for recount in recount_table(path, label, recomputed)
    ]
    found += recount_claims(claims, itu2023_claims.FUNCTIONS, recomputed)
    return verdicts(STUDY, found)


def recount_table(path: Path, label: str, recomputed: pd.DataFrame) -> Iterator[Recount]:
    """Every number of one of the authors' tables; the repository holds it with more and with fewer columns.

    Args:
        path: of the table.
        label: what verdicts call it.
        recomputed: see framewatt.published.itu2023_epochs.as_published.

    Raises:
        FramewattError: the table does not name its epochs, or holds none of the numbers.
    """
    table = read_table(path)
    columns = [column for column in UNITS if column in table]
    if missing := [key for key in KEYS if key not in table] or ([] if columns else list(UNITS)):
        raise FramewattError(
            f"{path}: found the columns {', '.join(table)}; allowed: the authors' table of epochs, with "
            f"{', '.join(missing)}"
        )
    rows = recomputed.to_dict("records")
    found = {tuple(map(str, key)): row for key, row in zip(recomputed.index, rows, strict=True)}
    alike = table.groupby(KEYS)[columns[0]].transform("size")
    for printed, count in zip(table.to_dict("records"), alike, strict=True):
        row = found.get(tuple(printed[key] for key in KEYS))
        where = "{dataset} {model} batch {batch_size} {framework} epoch {epoch_number}".format(**printed)
        for column in columns:
            answer = _answer(row, column) if count == 1 else Answer(None, _NO_MEANS)
            yield Recount(label, where, column, printed[column], UNITS[column], answer, _HOW[column], DIGITS)


_NO_MEANS = "the table has several rows of an epoch, so that they are no means over the runs"


def _answer(row: dict[str, float] | None, column: str) -> Answer:
    if row is None:
        return Answer(None, "the raw results of these levels are not given")
    runs = int(row["runs"])
    if pd.isna(row[column]):
        return Answer(None, "the raw results do not hold it")
    note = "" if runs == RUNS else f"{runs} of {RUNS} runs"
    return Answer(float(row[column]), note, row.get(f"{column}_low"), row.get(f"{column}_high"))
