"""The quantities that cells are compared by: energy and time per sample, or per run where samples are unknown."""

from dataclasses import dataclass, replace

import pandas as pd

from framewatt.frames.quality import unit_of


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
    """The headline of a runs frame: per run only if there are runs and none has a number of samples."""
    ok = runs[runs["status"] == "ok"]
    if len(ok) and ok["samples_processed"].isna().all():
        return PER_RUN
    return replace(PER_SAMPLE, per=unit_of(runs.columns))


def headline_of_cells(cells: pd.DataFrame) -> Headline:
    """The headline of a frame of cells, see `headline_of_runs`."""
    known = cells.loc[cells["n"] > 0, "quantity"]
    whole, single = (known.isin([one.time]).any() for one in (PER_RUN, PER_SAMPLE))
    return PER_RUN if whole and not single else replace(PER_SAMPLE, per=unit_of(cells["quantity"]))
