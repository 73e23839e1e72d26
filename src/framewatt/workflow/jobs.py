"""The jobs of a study that measures, as parameters of rules: each is one argument of a shell line, with its hash."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from framewatt.planning import jobs, paths
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.staleness import SET_ASIDE
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.exporters.contract import RECORD as EXPORT_RECORD
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.prepare.stage import attempt_of
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.runs.profiling import RECORD as PROFILE_RECORD
from framewatt.runs.repeated import RECORD as REPEATED_RECORD
from framewatt.runs.timelines import RECORD as TIMELINE_RECORD
from framewatt.study.cell import Cell
from framewatt.study.study import MeasuredStudy
from framewatt.workflow.cluster import node_at
from framewatt.workflow.models import Measured, model_name
from framewatt.workflow.snakemake_api import Wildcards


class StudyJobs:
    """The jobs, at the attempts that are due. Each method returns the job of a rule's wildcards as JSON.

    Args:
        measured: the study; None where the study of this call does not measure, so that no rule has a job.
        hashes: hashes of its jobs; None likewise.
        results: results/<study>, where records of earlier attempts are.
        due: why runs are due, by `<cell>/<repetition>`.
    """

    def __init__(
        self,
        measured: Measured | None,
        hashes: JobHashes | None,
        results: Path,
        due: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._measured_or_none, self._hashes_or_none = measured, hashes
        self._results, self._due_runs = results, due

    @property
    def _measured(self) -> Measured:
        assert self._measured_or_none is not None
        return self._measured_or_none

    @property
    def _hashes(self) -> JobHashes:
        assert self._hashes_or_none is not None
        return self._hashes_or_none

    @property
    def _study(self) -> MeasuredStudy:
        return self._measured.study

    def instruments(self, wildcards: Wildcards) -> str:
        """Find the meters of a node."""
        node = node_at(wildcards.place)
        return _argument(jobs.instruments_job(self._study, node), self._hashes.instruments[node])

    def idle(self, wildcards: Wildcards) -> str:
        """Measure the idle power of a node, before the runs or after them."""
        node = node_at(wildcards.place)
        return _argument(jobs.idle_job(self._study, node), self._hashes.idle[node])

    def train(self, wildcards: Wildcards) -> str:
        """Make the weights of a model."""
        name = wildcards.model
        cell = self._measured.models[name]
        return self._due(
            lambda attempt: jobs.train_job(self._study, cell, attempt),
            self._file(paths.WEIGHTS, model=name) / TRAIN_RECORD,
            self._hashes.weights[name],
        )

    def carry(self, wildcards: Wildcards) -> str:
        """Compute with a model from weights that are drawn."""
        return _argument(self._parity_job(wildcards.model, 1), self._hashes.carried[wildcards.model])

    def parity(self, wildcards: Wildcards) -> str:
        """Compare a model with the same model in another framework."""
        name = wildcards.model
        record = self._file(paths.PARITY, model=name) / PARITY_RECORD
        return self._due(lambda attempt: self._parity_job(name, attempt), record, self._hashes.parity[name])

    def _parity_job(self, model: str, attempt: int) -> dict[str, Any]:
        return jobs.parity_job(self._study, self._measured.models[model], attempt)

    def export(self, wildcards: Wildcards) -> str:
        """Export a model, or quantise its export where the wildcard is `<model>/<precision>`."""
        name = model_name(wildcards)
        record = self._file(paths.EXPORT, model=name) / EXPORT_RECORD
        return self._export_job(name, jobs.export_job, jobs.quantise_job, record, self._hashes.exports)

    def check(self, wildcards: Wildcards) -> str:
        """Check the export of a model, or of `<model>/<precision>`."""
        name = model_name(wildcards)
        record = self._file(paths.CHECK, model=name) / CHECK_RECORD
        return self._export_job(name, jobs.check_job, jobs.check_quantised_job, record, self._hashes.checks)

    def measure(self, wildcards: Wildcards) -> str:
        """Measure a run."""
        planned = self._measured.runs[wildcards.run]
        node = self._hashes.node_of(planned.repetition)
        aside = self._due_runs.get(wildcards.run) == SET_ASIDE

        def job(attempt: int) -> dict[str, Any]:
            content = jobs.measure_job(self._study, planned.cell, planned.repetition, attempt + aside, node)
            return content | ({"was_aside": True} if aside else {})

        sha256 = self._hashes.run(planned.cell, planned.repetition)
        return self._due(job, self._file(paths.RUN, run=wildcards.run), sha256)

    def profile(self, wildcards: Wildcards) -> str:
        """Profile a cell."""
        cell = self._measured.profiled[wildcards.cell]
        return self._due(
            lambda attempt: jobs.profile_job(self._study, cell, attempt, self._hashes.node_of(1)),
            self._file(paths.PROFILED, cell=wildcards.cell) / PROFILE_RECORD,
            self._hashes.profiles[wildcards.cell],
        )

    def timeline(self, wildcards: Wildcards) -> str:
        """Record the timeline of a cell."""
        cell = self._measured.timelines[wildcards.cell]
        return self._due(
            lambda attempt: jobs.timeline_job(self._study, cell, attempt, self._hashes.node_of(1)),
            self._file(paths.TIMELINE, cell=wildcards.cell) / TIMELINE_RECORD,
            self._hashes.timelines[wildcards.cell],
        )

    def repeated(self, wildcards: Wildcards) -> str:
        """Repeat the operators of a cell alone."""
        cell = self._measured.timelines[wildcards.cell]
        return self._due(
            lambda attempt: jobs.repeated_job(self._study, cell, attempt, self._hashes.node_of(1)),
            self._file(paths.REPEATED, cell=wildcards.cell) / REPEATED_RECORD,
            self._hashes.repeated[wildcards.cell],
        )

    def _file(self, pattern: str, **wildcards: str) -> Path:
        return paths.below(self._results, pattern, **wildcards)

    def _export_job(
        self,
        model: str,
        plain: Callable[[MeasuredStudy, Cell, int], dict[str, Any]],
        quantised: Callable[[MeasuredStudy, Cell, str, int], dict[str, Any]],
        record: Path,
        hashes: Mapping[str, str],
    ) -> str:
        """Return the job of an export: `plain`, or `quantised` where the name has a precision."""
        study, cell = self._study, self._measured.models[model]

        def make(attempt: int) -> dict[str, Any]:
            return quantised(study, cell, cell.precision, attempt) if "/" in model else plain(study, cell, attempt)

        return self._due(make, record, hashes[model])

    def _due(self, make: Callable[[int], dict[str, Any]], record: Path, sha256: str) -> str:
        """Return a job at the attempt that is due.

        Args:
            make: returns the job of an attempt.
            record: the record of the last attempt.
            sha256: hash of the job.
        """
        return _argument(make(attempt_of(record, sha256)), sha256)


def _argument(job: dict[str, Any], sha256: str) -> str:
    return json.dumps({**job, "job_sha256": sha256}, sort_keys=True)
