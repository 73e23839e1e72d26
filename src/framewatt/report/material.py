"""Input of a report."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from framewatt.figures.notes import estimate_of
from framewatt.frames.headline import Headline, counts, headline_of_runs, with_aside
from framewatt.frames.totals import TOTAL
from framewatt.planning.plan import planned_cells
from framewatt.runs import verdict
from framewatt.statistics.answers import answer
from framewatt.statistics.machines import typed_rows
from framewatt.statistics.selection import totals
from framewatt.stopping.record import looks_of
from framewatt.study.records import RunRecord, primary_witness
from framewatt.study.study import PACKAGES
from framewatt.tables.table import Table

ENERGY, TIME = "energy", "time"
"""The quantities by which cells are compared, in words."""


@dataclass(frozen=True)
class Witnessed:
    """What the witness of a run recorded in its primary window.

    Attributes:
        cell: of the run.
        witness: whether it had one.
        causes: what disturbed it, in words; None where it is not known.
    """

    cell: str
    witness: bool
    causes: Sequence[str] | None


def witness_of(record: RunRecord) -> Mapping[str, Any]:
    """What the witness of a run saw in its primary window; empty where it had none."""
    return primary_witness(record) or {}


@dataclass(frozen=True)
class Material:
    """All results of a study, loaded.

    Attributes:
        plan: plan.json: study, title, description, device, repetitions, seed, order, cells, excluded, unsupported,
            left_out, cells_without_runs, significance, settings.
        records: run records, in measured order; read again in each iteration.
        idle: calibrate/idle.json, taken before the runs; empty for runs that were not measured here.
        idle_after: calibrate/idle_after.json, the same after them; of a study with nodes, both are those of the first.
        nodes: both of every node, by its alias; empty where the study has none.
        models: records of the weights that were made: model, framework, status, reason, workload.
        exports: records of exports and of their checks: model or framework, status, reason, max_abs_difference.
        environments: records of environments: name, status, reason, lock_sha256.
        runs: the runs frame.
        epochs: the epochs frame.
        cells: statistics of cells (framewatt.statistics.CELLS_COLUMNS).
        answers: the cheapest cell of each group (framewatt.statistics.answers.ANSWERS_COLUMNS).
        comparisons: statistics of pairs (COMPARISONS_COLUMNS).
        correlations: energy against time (CORRELATIONS_COLUMNS).
        drift: of the whole study (framewatt.statistics.assumptions.DRIFT_COLUMNS).
        omnibus: tests of whole groups (OMNIBUS_COLUMNS), where the study asks for tests of ranks.
        trends: energy along batch size and work (TRENDS_COLUMNS).
        to_accuracy: cost of reaching the target accuracies (framewatt.statistics.to_accuracy).
        choices: what to deploy (framewatt.statistics.deploy.deploy_columns).
        machines: the cheapest cell by machine and over all (MACHINES_COLUMNS); without rows where there is one.
        stopping: stopping.json; empty where the study has a fixed number of blocks.
        repetitions_changed: changes of the repetitions after results existed (framewatt.stopping.history).
        parity: records of comparisons of a model with the same one in another framework (prepare.parity_sheet).
        profiles: tables of its own profiled runs (framewatt.tables.functions.profile_tables).
        operators: tables of joules by operator and by API (framewatt.tables.operators).
        replication: tables of own numbers next to those of the paper that the study replicates.
    """

    plan: Mapping[str, Any]
    records: Collection[RunRecord]
    idle: Mapping[str, Any]
    idle_after: Mapping[str, Any]
    models: Sequence[Mapping[str, Any]]
    exports: Sequence[Mapping[str, Any]]
    environments: Sequence[Mapping[str, Any]]
    runs: pd.DataFrame
    epochs: pd.DataFrame
    cells: pd.DataFrame
    answers: pd.DataFrame
    comparisons: pd.DataFrame
    correlations: pd.DataFrame
    drift: pd.DataFrame
    omnibus: pd.DataFrame
    trends: pd.DataFrame
    to_accuracy: pd.DataFrame
    choices: pd.DataFrame
    machines: pd.DataFrame = field(default_factory=lambda: typed_rows([]))
    stopping: Mapping[str, Any] = field(default_factory=dict)
    repetitions_changed: Sequence[Mapping[str, Any]] = ()
    parity: Sequence[Mapping[str, Any]] = ()
    replication: Sequence[Table] = ()
    profiles: Sequence[Table] = ()
    operators: Sequence[Table] = ()
    nodes: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=dict)

    @cached_property
    def witnessed(self) -> Sequence[Witnessed]:
        """Of every run that counts, in measured order."""
        witnesses = ((record["cell_id"], witness_of(record)) for record in self.records if verdict.counts(record))
        return [Witnessed(cell, bool(witness), witness.get("disturbed")) for cell, witness in witnesses]

    @property
    def calibrations(self) -> Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Idle power before and after the runs, by node; that of a study without nodes is of the node ""."""
        return self.nodes or {"": (self.idle, self.idle_after)}

    @cached_property
    def answers_with_all(self) -> pd.DataFrame:
        """The answers as they were if no run had been set aside."""
        settings = self.plan["settings"]
        return answer(with_aside(self.runs), settings["statistics"], planned_cells(self.plan), looks_of(settings))

    @property
    def totals(self) -> pd.DataFrame:
        """The runs frame's totals, one row per run."""
        return self.runs[self.runs["domain"] == TOTAL]

    @cached_property
    def comparable(self) -> pd.DataFrame:
        """The totals with what the statistics need, see framewatt.statistics.selection.totals."""
        return totals(self.runs)

    @property
    def estimate(self) -> str:
        """A phrase where energies that count are estimated, wholly or partly; empty where all are measured."""
        return estimate_of(self.totals[self.totals["status"].eq("ok")], self.runs)

    @property
    def planned(self) -> int:
        """Runs that the study planned."""
        return len(self.plan["order"])

    @property
    def imported(self) -> bool:
        """Whether the runs were read from log files of other tools."""
        return self.plan.get("source") == "files"

    @property
    def merged(self) -> bool:
        """Whether the runs are of several machines, in packages, with the machine as a factor."""
        return self.plan.get("source") == PACKAGES

    @property
    def compared(self) -> Sequence[str]:
        """The factors in which cells are compared."""
        return list(self.plan["settings"]["statistics"]["compare"])

    @property
    def headline(self) -> Headline:
        """The quantities by which cells are compared."""
        return headline_of_runs(self.totals)

    @property
    def counted(self) -> int:
        """Number of runs that are ok and have a valid energy."""
        return int(counts(self.totals).sum())

    @property
    def cells_that_do_not_count(self) -> list[str]:
        """Names of planned cells without a run that counts: all failed, are invalid or missing, or are left out."""
        known = set(self.totals.loc[counts(self.totals), "cell"])
        return [cell["id"] for cell in self.plan["cells"] if cell["id"] not in known]

    @property
    def alpha(self) -> float:
        """The study's significance level."""
        return float(self.plan["settings"]["statistics"]["alpha"])
