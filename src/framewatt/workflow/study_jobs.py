"""The jobs of a study that measures, each as one argument of a shell line, with the hash of what it makes."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from framewatt.planning import jobs
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.placement import NOWHERE
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
from framewatt.workflow.measured import Measured


class StudyJobs:
    """The jobs, at the attempts that are due.

    Args:
        measured: the study.
        hashes: of its jobs.
        results: results/<study>, where records of earlier attempts are.
        due: why runs are due, by `<cell>/<repetition>`.
    """

    def __init__(
        self, measured: Measured, hashes: JobHashes, results: Path, due: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._measured, self._hashes, self._results, self._due_runs = measured, hashes, results, due
        self._study = measured.study

    def instruments(self, place: str = NOWHERE) -> str:
        """Finding the meters of a node, named as in paths (workflow.cluster.place)."""
        node = node_at(place)
        return _argument(jobs.instruments_job(self._study, node), self._hashes.instruments[node])

    def idle(self, place: str = NOWHERE) -> str:
        """Measuring idle power of a node, before the runs or after them."""
        node = node_at(place)
        return _argument(jobs.idle_job(self._study, node), self._hashes.idle[node])

    def train(self, model: str) -> str:
        """Making the weights of a model."""
        cell = self._measured.models[model]
        return self._due(
            lambda attempt: jobs.train_job(self._study, cell, attempt),
            Path("train", model, TRAIN_RECORD),
            self._hashes.weights[model],
        )

    def carry(self, model: str) -> str:
        """Computing with a model from weights that are drawn."""
        return _argument(self._parity_job(model, 1), self._hashes.carried[model])

    def parity(self, model: str) -> str:
        """Comparing a model with the same one in another framework."""
        record = Path("parity", model, "sheet", PARITY_RECORD)
        return self._due(lambda attempt: self._parity_job(model, attempt), record, self._hashes.parity[model])

    def _parity_job(self, model: str, attempt: int) -> dict[str, Any]:
        return jobs.parity_job(self._study, self._measured.models[model], attempt)

    def export(self, model: str) -> str:
        """Exporting a model, or quantising its export where the name is `<model>/<precision>`."""
        record = Path("export", model, "onnx", EXPORT_RECORD)
        return self._of_export(model, jobs.export_job, jobs.quantise_job, record, self._hashes.exports)

    def check(self, model: str) -> str:
        """Checking the export of a model, or of `<model>/<precision>`."""
        record = Path("export", model, "check", CHECK_RECORD)
        return self._of_export(model, jobs.check_job, jobs.check_quantised_job, record, self._hashes.checks)

    def measure(self, run: str) -> str:
        """Measuring a run, `<cell>/<repetition>`."""
        planned = self._measured.runs[run]
        node = self._hashes.node_of(planned.repetition)
        aside = self._due_runs.get(run) == SET_ASIDE

        def job(attempt: int) -> dict[str, Any]:
            made = jobs.measure_job(self._study, planned.cell, planned.repetition, attempt + aside, node)
            return made | ({"was_aside": True} if aside else {})

        return self._due(
            job,
            Path("measure", run, "run.json"),
            self._hashes.run(planned.cell, planned.repetition),
        )

    def profile(self, cell: str) -> str:
        """Profiling a cell."""
        return self._due(
            lambda attempt: jobs.profile_job(
                self._study, self._measured.profiled[cell], attempt, self._hashes.node_of(1)
            ),
            Path("profiled", cell, PROFILE_RECORD),
            self._hashes.profiles[cell],
        )

    def timeline(self, cell: str) -> str:
        """Recording a cell's timeline."""
        return self._due(
            lambda attempt: jobs.timeline_job(
                self._study, self._measured.timelines[cell], attempt, self._hashes.node_of(1)
            ),
            Path("timelines", cell, TIMELINE_RECORD),
            self._hashes.timelines[cell],
        )

    def repeated(self, cell: str) -> str:
        """Repeating a cell's operators alone."""
        return self._due(
            lambda attempt: jobs.repeated_job(
                self._study, self._measured.timelines[cell], attempt, self._hashes.node_of(1)
            ),
            Path("repeated", cell, REPEATED_RECORD),
            self._hashes.repeated[cell],
        )

    def _of_export(
        self,
        model: str,
        plain: Callable[[MeasuredStudy, Cell, int], dict[str, Any]],
        quantised: Callable[[MeasuredStudy, Cell, str, int], dict[str, Any]],
        record: Path,
        hashes: Mapping[str, str],
    ) -> str:
        """The job of an export, `plain` or `quantised` by its name."""
        study, cell = self._study, self._measured.models[model]

        def make(attempt: int) -> dict[str, Any]:
            return quantised(study, cell, cell.precision, attempt) if "/" in model else plain(study, cell, attempt)

        return self._due(make, record, hashes[model])

    def _due(self, make: Callable[[int], dict[str, Any]], record: Path, sha256: str) -> str:
        """A job at the attempt that is due.

        Args:
            make: the job of an attempt.
            record: of the last attempt, from the study's results on.
            sha256: hash of the job.
        """
        return _argument(make(attempt_of(self._results / record, sha256)), sha256)


def _argument(job: dict[str, Any], sha256: str) -> str:
    return json.dumps({**job, "job_sha256": sha256}, sort_keys=True)
