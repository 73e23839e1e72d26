"""Which rows of a runs frame count, for statistics, figures and report (of records: `runs.verdict.counts`)."""

import re

import pandas as pd

from framewatt.frames.totals import TOTAL
from framewatt.runs.aside import ASIDE
from framewatt.runs.verdict import OK


def counts(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Whether each row is of a run that took place and whose energy is valid.

    Args:
        rows: of the runs frame; `valid` may be None where nothing was measured, which does not count.
    """
    return rows["status"].eq(OK) & rows["valid"].eq(True)


def aside(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Whether each row is of a run that was set aside, and would count else."""
    return rows["reasons"].fillna("").str.contains(rf"(?:^|; ){re.escape(ASIDE)}")


def only_aside(rows: pd.DataFrame) -> pd.DataFrame:
    """The totals of a runs frame that were set aside, as if they counted."""
    totals = with_aside(rows)
    return totals[aside(totals)]


def with_aside(rows: pd.DataFrame) -> pd.DataFrame:
    """The totals of a runs frame as they were if nothing had been set aside."""
    totals = rows[rows["domain"] == TOTAL]
    return totals.assign(valid=totals["valid"].where(~aside(totals), True))
