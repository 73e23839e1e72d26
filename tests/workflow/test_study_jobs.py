"""A study that measures, as rules ask for it."""

import json
from pathlib import Path

import pytest
import snakemake.iocontainers
from study_factory import hashes_of, loaded
from test_keys import BASE

from framewatt.base.files import write_json
from framewatt.planning.jobs import references_of
from framewatt.workflow.jobs import StudyJobs
from framewatt.workflow.models import Measured
from framewatt.workflow.snakemake_api import Wildcards

INT8 = "resnet50-digits-torch/int8_static"
TRAINED = "train-resnet50-digits-torch-b8"
TORCH = "resnet50-digits-torch"
TENSORFLOW = "resnet50-digits-tensorflow"


def job(**wildcards: str) -> Wildcards:
    """The wildcards of a job, as Snakemake gives them to the parameters of a rule."""
    return snakemake.iocontainers.Wildcards(fromdict=wildcards)


@pytest.fixture
def measured(tmp_path: Path) -> Measured:
    hashes = hashes_of(loaded(tmp_path, BASE))
    return Measured(hashes.study, hashes.datasets)


@pytest.fixture
def jobs(tmp_path: Path, measured: Measured) -> StudyJobs:
    return StudyJobs(measured, hashes_of(measured.study), tmp_path / "results")


def test_runs_are_named_by_cell_and_block_and_come_in_the_planned_order(measured: Measured) -> None:
    assert [run.position for run in measured.runs.values()] == list(range(1, len(measured.study.cells) * 2 + 1))
    assert measured.runs[f"{TRAINED}/2"].repetition == 2
    assert measured.runs_until(1) == list(measured.runs)[: len(measured.study.cells)]


def test_an_earlier_run_has_a_higher_priority(measured: Measured) -> None:
    priorities = [measured.priority(run) for run in measured.runs]
    assert priorities == sorted(priorities, reverse=True)
    assert min(priorities) == 1


def test_a_model_is_made_in_its_frameworks_environment_and_run_in_its_engines(measured: Measured) -> None:
    assert measured.framework_environment(INT8) == "torch"
    (run,) = (name for name, run in measured.runs.items() if run.cell.export == INT8 and run.repetition == 1)
    assert measured.engine_environment(run) == "onnxruntime/cpu"


def test_a_job_carries_the_hash_of_what_it_makes(jobs: StudyJobs, measured: Measured) -> None:
    hashes = hashes_of(measured.study)
    assert json.loads(jobs.train(job(model=TORCH)))["job_sha256"] == hashes.weights["resnet50-digits-torch"]
    assert json.loads(jobs.export(job(quantised=INT8)))["options"] == {"precision": "int8_static"}
    assert json.loads(jobs.check(job(quantised=INT8)))["job_sha256"] == hashes.checks[INT8]
    assert "options" not in json.loads(jobs.export(job(model=TORCH)))
    assert json.loads(jobs.idle(job(place="")))["job_sha256"] == hashes.idle[""]


def test_a_run_that_failed_is_the_next_attempt_of_the_same_job(
    jobs: StudyJobs, measured: Measured, tmp_path: Path
) -> None:
    first = json.loads(jobs.measure(job(run=f"{TRAINED}/1")))
    assert first["attempt"] == 1
    failed = {"attempt": 1, "status": "failed", "valid": None, "job_sha256": first["job_sha256"]}
    write_json(tmp_path / "results" / "measure" / TRAINED / "1" / "run.json", failed)
    assert json.loads(jobs.measure(job(run=f"{TRAINED}/1")))["attempt"] == 2
    write_json(tmp_path / "results" / "measure" / TRAINED / "1" / "run.json", {**failed, "job_sha256": "another"})
    assert json.loads(jobs.measure(job(run=f"{TRAINED}/1")))["attempt"] == 1


def test_models_of_several_frameworks_are_compared_with_the_first(tmp_path: Path) -> None:
    """The user's own model is no pair."""
    hashes = hashes_of(loaded(tmp_path, {**BASE, "parity": True}))
    assert references_of(hashes.study) == {"resnet50-digits-tensorflow": "resnet50-digits-torch"}
    jobs = StudyJobs(Measured(hashes.study, hashes.datasets), hashes, tmp_path / "results")
    carried, compared = (
        json.loads(text) for text in (jobs.carry(job(model=TORCH)), jobs.parity(job(model=TENSORFLOW)))
    )
    assert (carried["engine"], compared["engine"], compared["device"]) == ("torch", "tensorflow", "cpu")
    assert carried["job_sha256"] == hashes.carried["resnet50-digits-torch"]
    assert compared["job_sha256"] == hashes.parity[TENSORFLOW]


def test_a_comparison_is_another_where_its_training_or_an_environment_is(tmp_path: Path) -> None:
    def found(lock: str = "1", **change: object) -> dict[str, str]:
        return hashes_of(loaded(tmp_path, {**BASE, "parity": True, **change}), lock=lock).parity

    assert found() == found(repetitions=5) != found(training={"optimizer": "adam"})
    assert found()[TENSORFLOW] != found(lock="2")[TENSORFLOW]
    assert found(parity=False) == {}
