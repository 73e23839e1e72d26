"""itu2023: the authors' own table of every epoch, and the sentences of their report, recounted from the raw results."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from framewatt.published import itu2023_claims
from framewatt.published.itu2023_epochs import DIGITS, GAUGES, KEYS, METRICS, UNITS, as_published
from framewatt.published.printed import Answer
from framewatt.published.resources import read_claims, read_table, recount_claims
from framewatt.published.verdicts import Recount, verdicts

STUDY = "itu2023"

RUNS = 2
"""Runs of every combination of levels, says the report."""

AUTHORS_TABLES = "all_data_processed*.csv"
"""Files beside the raw results in which the authors keep what they computed."""

_HOW = dict.fromkeys(GAUGES, "mean over the runs of the mean reading of the epoch")
_HOW |= {"total_time": "mean over the runs of the time between the ends of epochs; epoch 1 from the first reading"}
_HOW |= dict.fromkeys(METRICS, "mean over the runs, each run's value rounded to three digits before")
_HOW |= {"accuracy": "mean over the runs", "energy": "rounded mean power x rounded mean time"}


def authors_tables(folder: Path | None) -> list[Path]:
    """The authors' tables in the folder that holds `experiments`; none where there is no folder."""
    return sorted(folder.glob(AUTHORS_TABLES)) if folder else []


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
    found = [recount for table in tables for recount in recount_table(table, recomputed)]
    found += recount_claims(claims, itu2023_claims.FUNCTIONS, recomputed)
    return verdicts(STUDY, found)


def recount_table(path: Path, recomputed: pd.DataFrame) -> Iterator[Recount]:
    """Every number of one of the authors' tables.

    Args:
        path: of the table.
        recomputed: see framewatt.published.itu2023_epochs.as_published.
    """
    rows = recomputed.to_dict("records")
    found = {tuple(map(str, key)): row for key, row in zip(recomputed.index, rows, strict=True)}
    for printed in read_table(path).to_dict("records"):
        row = found.get(tuple(printed[key] for key in KEYS))
        label = "{dataset} {model} batch {batch_size} {framework} epoch {epoch_number}".format(**printed)
        for column, unit in UNITS.items():
            yield Recount(path.name, label, column, printed[column], unit, _answer(row, column), _HOW[column], DIGITS)


def _answer(row: dict[str, float] | None, column: str) -> Answer:
    if row is None:
        return Answer(None, "the raw results of these levels are not given")
    runs = int(row["runs"])
    if pd.isna(row[column]):
        return Answer(None, "the raw results do not hold it")
    note = "" if runs == RUNS else f"{runs} of {RUNS} runs"
    return Answer(float(row[column]), note, row.get(f"{column}_low"), row.get(f"{column}_high"))
