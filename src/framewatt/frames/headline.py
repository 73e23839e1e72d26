"""Which rows of a runs frame count, and the quantities by which cells are compared: energy and time per sample.

Where samples are unknown, they are per run. `runs.verdict.counts` returns whether a record counts.
"""

import re
from dataclasses import dataclass, replace

import pandas as pd

from framewatt.frames.quality import unit_of
from framewatt.frames.totals import TOTAL
from framewatt.runs.aside import ASIDE
from framewatt.runs.verdict import OK


def counts(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return whether each row is of a run that took place and has valid energy.

    Args:
        rows: of the runs frame; `valid` may be None where nothing was measured, which does not count.
    """
    return rows["status"].eq(OK) & rows["valid"].eq(True)


def aside(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return whether each row is of a run that was set aside and would count otherwise."""
    return rows["reasons"].fillna("").str.contains(rf"(?:^|; ){re.escape(ASIDE)}")


def only_aside(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the totals of a runs frame that were set aside, as if they counted."""
    totals = with_aside(rows)
    return totals[aside(totals)]


def with_aside(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the totals of a runs frame as they would be if nothing had been set aside."""
    totals = rows[rows["domain"] == TOTAL]
    return totals.assign(valid=totals["valid"].where(~aside(totals), True))


@dataclass(frozen=True)
class Headline:
    """Two quantities.

    Attributes:
        energy: column of joules.
        time: column of seconds.
        per: their unit of work: that of the task, such as `sample` or `token`, or `run`.
    """

    energy: str
    time: str
    per: str

    @property
    def quantities(self) -> list[str]:
        """Energy, then time."""
        return [self.energy, self.time]


PER_SAMPLE = Headline("energy_per_sample_j", "time_per_sample_s", "sample")
"""The default. An inference window spans at least one pass and a minimum time, so its joules and seconds depend on the
length of the window; those per sample do not."""

PER_RUN = Headline("energy_gross_j", "duration_s", "run")


def headline_of_runs(runs: pd.DataFrame) -> Headline:
    """Return the headline of a runs frame: per run only if there are runs and none has a number of samples."""
    ok = runs[runs["status"] == "ok"]
    if len(ok) and ok["samples_processed"].isna().all():
        return PER_RUN
    return replace(PER_SAMPLE, per=unit_of(runs.columns))


def headline_of_cells(cells: pd.DataFrame) -> Headline:
    """Return the headline of a frame of cells, see `headline_of_runs`."""
    known = cells.loc[cells["n"] > 0, "quantity"]
    whole, single = (known.isin([one.time]).any() for one in (PER_RUN, PER_SAMPLE))
    return PER_RUN if whole and not single else replace(PER_SAMPLE, per=unit_of(cells["quantity"]))
