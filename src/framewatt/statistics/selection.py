"""Which runs count, for which quantity, and how blocks are compared within each of several machines.

Plain NumPy as in log_ratios, so that simulations of thousands of studies can call the same code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.frames.factor_words import factors_of
from framewatt.frames.headline import counts
from framewatt.frames.quality import primary_in, with_quality
from framewatt.frames.totals import TOTAL
from framewatt.runs.verdict import OK
from framewatt.statistics.best_set import BestSet, best_set
from framewatt.statistics.log_ratios import Floats, LogRatio
from framewatt.statistics.stopping import ONCE, Looks, best_of
from framewatt.study.factors import PlainCell

QUANTITIES = [
    "energy_gross_j",
    "energy_per_sample_j",
    "duration_s",
    "time_per_sample_s",
    "mean_power_w",
]
"""Quantities that are summarised for every cell, in addition to the metrics that cells are compared by."""

ENERGIES = {"energy_gross_j", "energy_per_sample_j", "mean_power_w"}
"""Quantities that may come from an energy estimate instead of a meter."""


def totals(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the domain `total`, one per run, with the columns that the statistics need.

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
        run = f"{twice.iloc[0]['cell']} repetition {twice.iloc[0]['repetition']}"
        raise FramewattError(f"runs frame: {run} has two rows. Remove one of its records and run again.")
    for name in [*quantities_of(rows), "samples_processed"]:
        if name in rows:
            # A column with None among its numbers is of type object.
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
    """Return the runs of a cell that count and have a value of the quantity, indexed by repetition, ascending."""
    rows_used = rows[(rows["cell"] == cell_id) & rows["counts"] & rows[quantity].notna()]
    return rows_used.set_index("repetition").sort_index()


def block_values(rows: pd.DataFrame, cells: Sequence[str], quantity: str) -> pd.DataFrame:
    """Return a quantity of some cells: one row per block, one column per cell, NaN where a run does not count.

    Args:
        rows: from `totals`.
        cells: names.
        quantity: a column.
    """
    return pd.DataFrame({cell: counted(rows, cell, quantity)[quantity] for cell in cells}, dtype="float64").sort_index()


def left_out(rows: pd.DataFrame, cell_id: str, quantity: str) -> dict[int, str]:
    """Return the repetitions of a cell that do not count for the quantity, with the reason."""
    of_cell = rows[(rows["cell"] == cell_id) & ~(rows["counts"] & rows[quantity].notna())].sort_values("repetition")
    reasons = [why or f"no value of {quantity}" for why in of_cell["why_not"]]
    return dict(zip((int(r) for r in of_cell["repetition"]), reasons, strict=True))


def by_reason(reasons: Mapping[int, str]) -> dict[str, str]:
    """Return repetitions by reason, as text: `{1: "x", 3: "x"}` becomes `{"x": "1, 3"}`."""
    return {
        reason: ", ".join(str(repetition) for repetition, why in reasons.items() if why == reason)
        for reason in dict.fromkeys(reasons.values())
    }


def cells_of(runs: pd.DataFrame) -> list[PlainCell]:
    """Return the cells of a frame of runs, by name."""
    factors = factors_of(runs)
    known = runs[["cell", *factors]].drop_duplicates("cell").sort_values("cell")
    return [
        PlainCell(name, tuple(zip(factors, levels, strict=True)))
        for name, *levels in known.astype(object).itertuples(index=False)
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class LookedAcross(LogRatio):
    """Mean logarithms of ratios over machines that each stopped when their own answer was known.

    Nothing is pooled, since each number of blocks depends on what was seen: a costs more in the mean where it does on
    every machine, at the p of the machine that shows it least; ends of intervals are means of the machines' own, each
    at its part of the probability.

    Attributes:
        parts: of each machine.
    """

    parts: Sequence[LogRatio] = field(default=())

    def p_more(self) -> Floats:
        """One-sided p of "a costs no more than b in the mean": that of an intersection-union test (Berger 1982)."""
        return np.asarray(np.max([part.p_more() for part in self.parts], axis=0))

    def within(self, tail: float) -> tuple[Floats, Floats]:
        """Ends of the mean ratio's interval."""
        ends = [part.within(tail / len(self.parts)) for part in self.parts]
        low, high = (np.exp(np.mean([np.log(end[i]) for end in ends], axis=0)) for i in (0, 1))
        return low, high


def over(parts: Sequence[LogRatio]) -> LogRatio:
    """The mean of independent strata's logarithms, with the error of that mean.

    Every stratum weighs alike, so that the mean is of these strata whether or not they agree. Degrees of freedom by
    Satterthwaite (1946). NaN where a stratum knows no ratio, or no error.

    Args:
        parts: of each stratum, of one shape.
    """
    count = len(parts)
    mean = np.mean([part.mean for part in parts], axis=0)
    variances = [(part.error / count) ** 2 for part in parts]
    total = np.sum(variances, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = total**2 / np.sum([v**2 / part.freedom for v, part in zip(variances, parts, strict=True)], axis=0)
    least_freedom = np.sum([part.freedom for part in parts], axis=0)
    freedom = np.where(total > 0, freedom, least_freedom)
    least_p = np.prod([part.least_p for part in parts], axis=0)
    runs = np.sum([part.runs for part in parts], axis=0)
    return LogRatio(mean, np.sqrt(total), freedom, least_p, runs)


def between(one: LogRatio, other: LogRatio) -> LogRatio:
    """Logarithms of how much a ratio differs between two strata: that of one over that of the other (Welch)."""
    turned = LogRatio(-other.mean, other.error, other.freedom, other.least_p, other.runs)
    mean = over([one, turned])
    return LogRatio(2 * mean.mean, 2 * mean.error, mean.freedom, mean.least_p, mean.runs)


@dataclass(frozen=True)
class Stratified:
    """The cheapest cells of a group over several machines.

    Attributes:
        whole: the confidence set of the cell of least geometric mean over these machines.
        alone: the set of each machine by itself, at alpha.
        joint: the same at alpha over the number of machines, so that all of them hold together.
    """

    whole: BestSet
    alone: Sequence[BestSet]
    joint: Sequence[BestSet]

    @property
    def agree(self) -> bool:
        """Whether some cell may be the cheapest on every machine, by each machine's own set."""
        return bool(_common(self.alone).any())

    @property
    def contradict(self) -> bool:
        """Whether it is known that no cell is the cheapest on every machine."""
        return not _common(self.joint).any()

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Which cells may be the best over all: of least mean, or cheapest on every machine; none where they disagree.

        A cell that some machine excludes is no answer for all of them by itself, however its mean is.
        """
        if not self.agree:
            return np.zeros_like(self.whole.inside)
        return np.asarray(self.whole.inside | _common(self.alone))


def _common(sets: Sequence[BestSet]) -> npt.NDArray[np.bool_]:
    return np.asarray(np.all([one.inside for one in sets], axis=0))


def stratified(
    logs: Sequence[Floats],
    alpha: float,
    *,
    paired: bool,
    looks: Looks = ONCE,
    repetitions: Sequence[Sequence[int]] | None = None,
) -> Stratified:
    """Find the cheapest cells of a group over machines.

    Args:
        logs: of each machine, shape (cells, its blocks), the same cells in the same order, each with a run that counts;
            NaN where a run is missing.
        alpha: largest probability that the set of the whole misses the cell of least geometric mean over machines.
        paired: whether runs at the same index of a machine belong to one block.
        looks: how the study looked at its results before it stopped.
        repetitions: numbers of each machine's blocks; 1, 2, … on each if None.
    """
    blocks = [None] * len(logs) if repetitions is None else repetitions
    pairs = list(zip(logs, blocks, strict=True))
    alone = [best_of(part, alpha, looks, paired=paired, repetitions=of) for part, of in pairs]
    joint = [best_of(part, alpha / len(logs), looks, paired=paired, repetitions=of) for part, of in pairs]
    parts = [one.pairs for one in alone]
    mean = over(parts)
    level = alone[0].level if looks.until_known else None
    if looks.until_known:
        mean = LookedAcross(mean.mean, mean.error, mean.freedom, mean.least_p, mean.runs, parts=parts)
    # A test of one of several looks, as best_of has it.
    divided = alpha if looks.until_known else alpha / looks.most
    together = np.concatenate(logs, axis=-1)
    whole = best_set(together, divided, paired=paired, level=level, test=lambda pairs, logs: mean)
    return Stratified(whole, alone, joint)
