"""Which rows of a runs frame count, for statistics, figures and report (of records: `runs.verdict.counts`)."""

import pandas as pd

from framewatt.runs.verdict import OK


def counts(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Whether each row is of a run that took place and whose energy is valid.

    Args:
        rows: of the runs frame; `valid` may be None where nothing was measured, which does not count.
    """
    return rows["status"].eq(OK) & rows["valid"].eq(True)
