"""The jobs of a study that measures, each as one argument of a shell line, with the hash of what it makes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from framewatt.flow.measured import Measured
from framewatt.planning import jobs
from framewatt.planning.job_hashes import JobHashes
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.exporters.contract import RECORD as EXPORT_RECORD
from framewatt.prepare.stage import attempt_of
from framewatt.prepare.training import RECORD as TRAIN_RECORD


class StudyJobs:
    """The jobs, at the attempts that are due.

    Args:
        measured: the study.
        hashes: of its jobs.
        results: results/<study>, where records of earlier attempts are.
    """

    def __init__(self, measured: Measured, hashes: JobHashes, results: Path) -> None:
        self._measured, self._hashes, self._results = measured, hashes, results
        self._study = measured.study

    def instruments(self) -> str:
        """Finding the meters."""
        return _argument(jobs.instruments_job(self._study), self._hashes.instruments)

    def idle(self) -> str:
        """Measuring idle power, before the runs or after them."""
        return _argument(jobs.idle_job(self._study), self._hashes.idle)

    def train(self, model: str) -> str:
        """Making the weights of a model."""
        cell = self._measured.models[model]
        return self._due(
            lambda attempt: jobs.train_job(self._study, cell, attempt),
            Path("train", model, TRAIN_RECORD),
            self._hashes.weights[model],
        )

    def export(self, model: str) -> str:
        """Exporting a model, or quantising its export where the name is `<model>/<precision>`."""
        cell = self._measured.models[model]
        quantised = "/" in model
        return self._due(
            lambda attempt: (
                jobs.quantise_job(self._study, cell, cell.precision, attempt)
                if quantised
                else jobs.export_job(self._study, cell, attempt)
            ),
            Path("export", model, "onnx", EXPORT_RECORD),
            self._hashes.exports[model],
        )

    def check(self, model: str) -> str:
        """Checking the export of a model, or of `<model>/<precision>`."""
        cell = self._measured.models[model]
        quantised = "/" in model
        return self._due(
            lambda attempt: (
                jobs.check_quantised_job(self._study, cell, cell.precision, attempt)
                if quantised
                else jobs.check_job(self._study, cell, attempt)
            ),
            Path("export", model, "check", CHECK_RECORD),
            self._hashes.checks[model],
        )

    def measure(self, run: str) -> str:
        """Measuring a run, `<cell>/<repetition>`."""
        planned = self._measured.runs[run]
        return self._due(
            lambda attempt: jobs.measure_job(self._study, planned.cell, planned.repetition, attempt),
            Path("measure", run, "run.json"),
            self._hashes.run(planned.cell, planned.repetition),
        )

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
