"""No number comes from a run that the plan did not ask for."""

import json
from pathlib import Path

import pytest
from records_factory import as_then, run_record

from framewatt.base.errors import FramewattError
from framewatt.planning.planned import planned_runs

LEVELS = {"phase": "infer", "batch_size": 8, "threads": 2}


def lay(folder: Path, planned: list[dict], records: dict[str, dict]) -> tuple[Path, list[str]]:
    """A plan of one cell and records in their places."""
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"study": "trial", "order": planned, "cells": [{"id": "a", **LEVELS}]}))
    paths = [folder / name / "run.json" for name in records]
    for path, change in zip(paths, records.values(), strict=True):
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({**run_record(), "cell_id": "a", **change}))
    return plan, [str(path) for path in paths]


def test_a_record_of_the_planned_job_has_the_levels_of_the_plan(tmp_path: Path) -> None:
    sha256 = "1" * 64
    plan, paths = lay(
        tmp_path,
        [{"cell": "a", "repetition": 1, "job_sha256": sha256}],
        {"a/1": {"repetition": 1, "job_sha256": sha256, "cell": {"phase": "infer", "batch_size": 8}}},
    )
    assert [record["cell"] for record in planned_runs(plan, paths).values()] == [LEVELS]


def test_a_record_of_another_job_is_refused_in_one_line(tmp_path: Path) -> None:
    plan, paths = lay(
        tmp_path,
        [{"cell": "a", "repetition": 1, "job_sha256": "1" * 64}],
        {"a/1": {"repetition": 1, "job_sha256": "2" * 64}},
    )
    with pytest.raises(FramewattError, match="the run is of the job 222222222222 and not of the plan's, 111111111111"):
        planned_runs(plan, paths)


def test_a_record_without_a_hash_is_refused_where_the_plan_has_one(tmp_path: Path) -> None:
    plan, paths = lay(
        tmp_path,
        [{"cell": "a", "repetition": 1, "job_sha256": "1" * 64}],
        {"a/1": {"repetition": 1, "job_sha256": None}},
    )
    with pytest.raises(FramewattError, match="the run is of the job unknown"):
        planned_runs(plan, paths)


def test_a_profiled_run_is_no_measurement_wherever_its_record_lies(tmp_path: Path) -> None:
    sha256 = "1" * 64
    plan, paths = lay(
        tmp_path,
        [{"cell": "a", "repetition": 1, "job_sha256": sha256}],
        {"a/1": {"repetition": 1, "job_sha256": sha256, "purpose": "profile"}},
    )
    with pytest.raises(FramewattError, match=r"run\.json: purpose: 'profile' is not a measurement"):
        planned_runs(plan, paths)


def test_a_run_that_is_not_planned_is_refused(tmp_path: Path) -> None:
    plan, paths = lay(tmp_path, [{"cell": "a", "repetition": 1}], {"a/2": {"repetition": 2}})
    with pytest.raises(FramewattError, match=r"the run is not planned. Keep only the 1 runs of "):
        planned_runs(plan, paths)


def test_results_from_before_jobs_had_hashes_are_read(tmp_path: Path) -> None:
    record = {key: value for key, value in run_record().items() if key != "job_sha256"}
    plan, _ = lay(tmp_path, [{"cell": "a", "repetition": 1}], {})
    path = tmp_path / "run.json"
    path.write_text(json.dumps(as_then({**record, "cell_id": "a", "repetition": 1}, 1)))
    assert list(planned_runs(plan, [str(path)])) == [path]
