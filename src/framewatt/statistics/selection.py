"""Which runs count, and for which quantity."""

from collections.abc import Mapping, Sequence

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.frames.counting import counts
from framewatt.frames.factor_columns import factors_of
from framewatt.frames.quality import primary_in, with_quality
from framewatt.frames.totals import TOTAL
from framewatt.runs.verdict import OK
from framewatt.study.factors import PlainCell

QUANTITIES = [
    "energy_gross_j",
    "energy_per_sample_j",
    "duration_s",
    "time_per_sample_s",
    "mean_power_w",
]
"""Quantities that are summarised for every cell, beside the metrics that cells are compared by."""

ENERGIES = {"energy_gross_j", "energy_per_sample_j", "mean_power_w"}
"""Quantities that may come from an energy estimate instead of a meter."""


def totals(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of the domain `total`, one per run, with the columns that the statistics need.

    Args:
        runs: the runs frame.

    Returns:
        The rows, in the frame's order, with `time_per_sample_s` (of requests that arrive at a rate, the median
        latency), `counts` (status ok and valid), `why_not` (why a run does not count, else ""), and `metric` and
        `quality` (see frames.quality).

    Raises:
        FramewattError: a cell's repetition is there twice.
    """
    rows = runs[runs["domain"] == TOTAL].reset_index(drop=True).copy()
    twice = rows[rows.duplicated(["cell", "repetition"])]
    if len(twice):
        found = f"{twice.iloc[0]['cell']} repetition {twice.iloc[0]['repetition']}"
        raise FramewattError(f"runs frame: found two rows of {found}; allowed: one row a run and domain")
    for name in [*quantities_of(rows), "samples_processed"]:
        if name in rows:
            # A column that holds None beside numbers is of type object.
            rows[name] = pd.to_numeric(rows[name]).astype("float64")
    rows["time_per_sample_s"] = rows["duration_s"] / rows["samples_processed"].where(rows["samples_processed"] > 0)
    if "requests" in rows:
        # Where requests arrive at a rate, time over their number is the gap between them, whatever answers them.
        waited_s = pd.to_numeric(rows["latency_p50_s"]).astype("float64")
        rows["time_per_sample_s"] = rows["time_per_sample_s"].where(rows["requests"].isna(), waited_s)
    rows["estimated"] = rows["estimated"].eq(True)
    rows["counts"] = counts(rows)
    rows["why_not"] = [
        "" if good else ": ".join(filter(None, ["invalid" if fine else "failed", _text(reason)]))
        for good, fine, reason in zip(rows["counts"], rows["status"].eq(OK), rows["reasons"], strict=True)
    ]
    return with_quality(rows)


def quantities_of(runs: pd.DataFrame) -> list[str]:
    """QUANTITIES, and the primary metric of each task of a frame."""
    return [*QUANTITIES, *(metric.name for metric in primary_in(runs))]


def counted(rows: pd.DataFrame, cell_id: str, quantity: str) -> pd.DataFrame:
    """Runs of a cell that count and have a value of the quantity, indexed by repetition, ascending."""
    kept = rows[(rows["cell"] == cell_id) & rows["counts"] & rows[quantity].notna()]
    return kept.set_index("repetition").sort_index()


def block_values(rows: pd.DataFrame, cells: Sequence[str], quantity: str) -> pd.DataFrame:
    """A quantity of some cells: one row per block, ascending, one column per cell, NaN where a run does not count.

    Args:
        rows: from `totals`.
        cells: names.
        quantity: a column.
    """
    return pd.DataFrame({cell: counted(rows, cell, quantity)[quantity] for cell in cells}, dtype="float64").sort_index()


def left_out(rows: pd.DataFrame, cell_id: str, quantity: str) -> dict[int, str]:
    """Repetitions of a cell that do not count for the quantity, and why."""
    of_cell = rows[(rows["cell"] == cell_id) & ~(rows["counts"] & rows[quantity].notna())].sort_values("repetition")
    reasons = [why or f"no value of {quantity}" for why in of_cell["why_not"]]
    return dict(zip((int(r) for r in of_cell["repetition"]), reasons, strict=True))


def by_reason(reasons: Mapping[int, str]) -> dict[str, str]:
    """Repetitions by reason, as text: `{1: "x", 3: "x"}` becomes `{"x": "1, 3"}`."""
    return {
        reason: ", ".join(str(repetition) for repetition, found in reasons.items() if found == reason)
        for reason in dict.fromkeys(reasons.values())
    }


def cells_of(runs: pd.DataFrame) -> list[PlainCell]:
    """The cells of a frame of runs, by name."""
    factors = factors_of(runs)
    known = runs[["cell", *factors]].drop_duplicates("cell").sort_values("cell")
    return [
        PlainCell(name, tuple(zip(factors, levels, strict=True)))
        for name, *levels in known.astype(object).itertuples(index=False)
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
