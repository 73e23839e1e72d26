"""What the answers of a study rest on: numbers of cells and pairs, tests, how runs vary, and what disturbed them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from framewatt.frames.headline import counts
from framewatt.frames.quality import METRIC, QUALITY, title_of, with_quality
from framewatt.report.material import ENERGY, TIME, Material
from framewatt.report.numbers import is_true, known, known_or_none
from framewatt.witness.judgement import kind_of

MUCH_VARIATION_PERCENT = 10.0
"""Coefficient of variation above which a cell is reported as varying much."""


@dataclass(frozen=True)
class Value:
    """A mean or a ratio with the ends of its interval; None where unknown."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class CellNumbers:
    """Means over the runs of a cell that count; None where unknown.

    Attributes:
        energy_j: joules of a unit of work.
        time_s: seconds of a unit of work.
        latency_p50_s: median latency of a batch.
        latency_p95_s: 95th percentile.
        throughput_per_s: units of work in a second.
        peak_memory_b: the largest peak memory of any run of the cell.
        quality: value of the task's primary metric.
        runs: number of runs that count.
        estimated: whether energy is estimated, wholly or partly.
    """

    energy_j: Value
    time_s: Value
    latency_p50_s: float | None
    latency_p95_s: float | None
    throughput_per_s: float | None
    peak_memory_b: float | None
    quality: float | None
    runs: int
    estimated: bool


@dataclass(frozen=True)
class PairComparison:
    """The comparison of two cells by energy or time.

    Attributes:
        larger: name of the cell that takes more: as the test shows, or else by the mean.
        smaller: name of the other.
        quantity: ENERGY or TIME.
        ratio: of the larger to the smaller, with its interval.
        p: corrected; None where no test could be made.
        shown: whether the difference is significant; None where no test could be made.
        estimated: whether energy is estimated, wholly or partly.
    """

    larger: str
    smaller: str
    quantity: str
    ratio: Value
    p: float | None
    shown: bool | None
    estimated: bool


@dataclass(frozen=True)
class GroupTest:
    """A test of a whole group for any difference in energy."""

    test: str
    group: str
    n_cells: int
    p: float
    flags: str


@dataclass(frozen=True)
class ExportChecks:
    """How well exports agree with their sources.

    Attributes:
        exports: number of exports that were checked or failed.
        equal: number of those that give the answers of their source.
        worst: name of the export with the largest difference; empty where none was compared by numbers.
        difference: that difference.
        tolerance: the largest one that is allowed; None where unknown.
    """

    exports: int
    equal: int
    worst: str
    difference: float | None
    tolerance: float | None


@dataclass(frozen=True)
class Correlation:
    """Spearman's rho of energy and time over the cells of a group."""

    group: str
    n_cells: int
    rho: float
    estimated: bool


@dataclass(frozen=True)
class Repeatability:
    """How much runs of a cell vary.

    Attributes:
        cell: name of the cell that varies most.
        quantity: the one in which it does: ENERGY or TIME.
        runs: its number of runs.
        cv_percent: its coefficient of variation.
        cv_after_blocks_percent: the same without what whole blocks have in common; None where unknown.
        n_cells: number of cells with a known variation.
        n_much: number of those above MUCH_VARIATION_PERCENT.
        median_percent: median over cells of the variation of energy after blocks; None where unknown.
    """

    cell: str
    quantity: str
    runs: int
    cv_percent: float
    cv_after_blocks_percent: float | None
    n_cells: int
    n_much: int
    median_percent: float | None


@dataclass(frozen=True)
class Drift:
    """A drift of energy or time over the whole study.

    Attributes:
        quantity: ENERGY or TIME.
        change_percent: from the first point to the last.
        r: correlation with the position in the study.
        n: number of points.
        over: what a point is: `blocks` or `runs`.
    """

    quantity: str
    change_percent: float
    r: float
    n: int
    over: str


@dataclass(frozen=True)
class SamplerLoad:
    """What the sampling process took.

    Attributes:
        median_share: share of one core in the median run.
        largest_share: in the run with the largest.
        late_s: the largest of the runs' 99th percentiles of lateness.
    """

    median_share: float
    largest_share: float
    late_s: float


@dataclass(frozen=True)
class Disturbances:
    """What other programs did during the runs that count.

    Attributes:
        counted: number of runs that count.
        disturbed: number of these that others disturbed.
        kinds: kinds of disturbance with their number of runs, most frequent first.
        observed: number of runs that count and had a witness.
        unknown: number of these for which the witness could not judge.
        repeated: number of runs that were measured twice, since the first try was disturbed.
        waits_s: of each run before which the machine was given time to become quiet, that time.
    """

    counted: int
    disturbed: int
    kinds: Sequence[tuple[str, int]]
    observed: int
    unknown: int
    repeated: int
    waits_s: Sequence[float]

    @property
    def share(self) -> float:
        """Share of the runs that count which others disturbed; 0 where none counts."""
        return self.disturbed / self.counted if self.counted else 0.0


@dataclass(frozen=True)
class Evidence:
    """What the answers rest on.

    Attributes:
        quality: the quality of answers in words, as a title: `Accuracy`; empty where no run counts.
        cells: numbers of every cell that has a run that counts, by cell name.
        pairs: comparisons of two cells, by energy and by time, in the order of their file.
        tests: tests of whole groups, where the study requests tests of ranks.
        exports: checks of exports; None where there are none.
        correlations: by group, in the order of groups.
        repeatability: None where no cell has runs enough.
        drifts: drifts of the whole study.
        sampler: None where no record has the share of the sampler.
    """

    quality: str
    cells: Mapping[str, CellNumbers]
    pairs: Sequence[PairComparison]
    tests: Sequence[GroupTest]
    exports: ExportChecks | None
    correlations: Sequence[Correlation]
    repeatability: Repeatability | None
    drifts: Sequence[Drift]
    sampler: SamplerLoad | None


def evidence_of(material: Material, group_names: Mapping[str, str]) -> Evidence:
    """Compute what the answers of a study rest on.

    Args:
        material: of the report.
        group_names: by group of the statistics, its name for readers; in their order.
    """
    runs = with_quality(material.totals[counts(material.totals)])
    return Evidence(
        quality=title_of(list(runs[METRIC])) if len(runs) else "",
        cells=_cell_numbers(material, runs),
        pairs=_pairs(material),
        tests=_group_tests(material),
        exports=_export_checks(material),
        correlations=_correlations(material.correlations, group_names),
        repeatability=_repeatability(material),
        drifts=_drifts(material),
        sampler=_sampler_load(material),
    )


def disturbances_of(material: Material) -> Disturbances:
    """Count the runs that others disturbed, by kind."""
    disturbed = [run.causes for run in material.witnessed if run.causes]
    observed = [run for run in material.witnessed if run.witness]
    return Disturbances(
        counted=len(material.witnessed),
        disturbed=len(disturbed),
        kinds=Counter(kind for causes in disturbed for kind in dict.fromkeys(map(kind_of, causes))).most_common(),
        observed=len(observed),
        unknown=sum(run.causes is None for run in observed),
        repeated=sum("first_try" in record for record in material.records),
        waits_s=[record["waited_s"] for record in material.records if "waited_s" in record],
    )


def _cell_numbers(material: Material, runs: pd.DataFrame) -> dict[str, CellNumbers]:
    head = material.headline
    means = material.cells[material.cells["quantity"].isin(head.quantities)].set_index(["cell", "quantity"])
    memory_b = _peak_memory_b(material)

    def mean(cell: str, quantity: str) -> Value:
        if (cell, quantity) not in means.index:
            return Value()
        row = means.loc[(cell, quantity)]
        return Value(*(known_or_none(row[name]) for name in ("mean", "mean_low", "mean_high")))

    def average(part: pd.DataFrame, column: str) -> float | None:
        return known_or_none(pd.to_numeric(part[column], errors="coerce").mean()) if column in part else None

    return {
        str(cell): CellNumbers(
            energy_j=mean(str(cell), head.energy),
            time_s=mean(str(cell), head.time),
            latency_p50_s=average(part, "latency_p50_s"),
            latency_p95_s=average(part, "latency_p95_s"),
            throughput_per_s=average(part, "throughput_per_s"),
            peak_memory_b=memory_b.get(str(cell)),
            quality=average(part, QUALITY),
            runs=len(part),
            estimated=bool(part["estimated"].any()),
        )
        for cell, part in runs.groupby("cell", sort=True)
    }


def _peak_memory_b(material: Material) -> dict[str, float]:
    """Return the largest peak memory of the runs of every cell, if its records have it."""
    largest: dict[str, float] = {}
    for record in material.records:
        peak_b = (record.get("workload") or {}).get("peak_memory_b")
        if peak_b is not None and known(peak_b):
            largest[record["cell_id"]] = max(largest.get(record["cell_id"], 0.0), float(peak_b))
    return largest


def _pairs(material: Material) -> list[PairComparison]:
    head = material.headline
    rows = material.comparisons[material.comparisons["quantity"].isin(head.quantities)]
    return [_pair(row, ENERGY if row["quantity"] == head.energy else TIME) for row in rows.to_dict("records")]


def _pair(row: Mapping[Any, Any], quantity: str) -> PairComparison:
    ratio, low, high = (known_or_none(row[name]) for name in ("ratio", "ratio_low", "ratio_high"))
    shown = None if pd.isna(row["significant"]) else is_true(row["significant"])
    larger, smaller = row["cell_b"], row["cell_a"]
    if ratio is not None and (row["costs_more"] == smaller if shown else ratio < 1):
        larger, smaller, ratio = smaller, larger, 1 / ratio
        low, high = (1 / high, 1 / low) if low is not None and high is not None and low > 0 else (None, None)
    return PairComparison(
        larger,
        smaller,
        quantity,
        Value(ratio, low, high),
        known_or_none(row["p_corrected"]),
        shown,
        is_true(row["estimated"]),
    )


def _group_tests(material: Material) -> list[GroupTest]:
    frame = material.omnibus
    whole = frame[(frame["quantity"] == material.headline.energy) & frame["cell_a"].isna() & frame["p"].notna()]
    return [
        GroupTest(row.test, row.group if isinstance(row.group, str) else "", row.n_cells, row.p, row.flags)
        for row in whole.assign(flags=whole["flags"].fillna("")).itertuples()
    ]


def _export_checks(material: Material) -> ExportChecks | None:
    # An export of the user's own file has no source to be compared with.
    by_number, by_answers = (
        [export for export in material.exports if known(export.get(name))]
        for name in ("max_abs_difference", "equal_answers_share")
    )
    compared = [*by_number, *by_answers]
    exports = [export for export in material.exports if export["status"] != "ok" or export in compared]
    if not exports:
        return None
    worst = max(by_number, key=lambda export: float(export["max_abs_difference"]), default={})
    return ExportChecks(
        exports=len(exports),
        equal=sum(export["status"] == "ok" for export in compared),
        worst=name_of(worst) if worst else "",
        difference=known_or_none(worst.get("max_abs_difference")),
        tolerance=known_or_none(worst.get("tolerance")),
    )


def name_of(record: Mapping[str, Any]) -> str:
    """Return the name of an export, an environment or a sheet of parity."""
    return str(record.get("model") or record.get("name") or record.get("framework") or "unnamed")


def _correlations(frame: pd.DataFrame, group_names: Mapping[str, str]) -> list[Correlation]:
    rows = frame[frame["rho"].notna()].assign(group=lambda known: known["group"].fillna(""))
    by_group = {row["group"]: row for row in rows.to_dict("records")}
    return [
        Correlation(words, row["n_cells"], row["rho"], bool(row["estimated"]))
        for name, words in group_names.items()
        if (row := by_group.get(name))
    ]


def _repeatability(material: Material) -> Repeatability | None:
    cells, head = material.cells, material.headline
    rows = cells[cells["quantity"].isin(head.quantities) & cells["cv_percent"].notna()]
    if rows.empty:
        return None
    worst = rows.loc[rows["cv_percent"].idxmax()]
    return Repeatability(
        cell=worst["cell"],
        quantity=ENERGY if worst["quantity"] == head.energy else TIME,
        runs=int(worst["n"]),
        cv_percent=float(worst["cv_percent"]),
        cv_after_blocks_percent=known_or_none(worst["cv_after_blocks_percent"]),
        n_cells=rows["cell"].nunique(),
        n_much=rows.loc[rows["cv_percent"] > MUCH_VARIATION_PERCENT, "cell"].nunique(),
        median_percent=known_or_none(rows.loc[rows["quantity"] == head.energy, "cv_after_blocks_percent"].median()),
    )


def _drifts(material: Material) -> list[Drift]:
    head = material.headline
    return [
        Drift(ENERGY if row.quantity == head.energy else TIME, row.change_percent, row.r, row.n, row.over)
        for row in material.drift.itertuples()
        if row.quantity in head.quantities and is_true(row.drifts)
    ]


def _sampler_load(material: Material) -> SamplerLoad | None:
    summaries = [record["sampler"] for record in material.records if record["sampler"]]
    shares = [summary["core_share"] for summary in summaries if known(summary.get("core_share"))]
    if not shares:
        return None
    late_s = max((summary.get("lateness_p99_s") or 0.0 for summary in summaries), default=0.0)
    return SamplerLoad(float(pd.Series(shares).median()), max(shares), late_s)
