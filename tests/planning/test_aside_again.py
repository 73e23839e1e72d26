"""Runs that were set aside are measured again by the next call, once all others are there, up to so many tries."""

from pathlib import Path
from typing import Any

import pytest
from records_factory import run_record, window
from study_factory import hashes_of, loaded

from framewatt.base.files import write_json
from framewatt.planning.due import Due, due_of
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.plan import plan_of
from framewatt.planning.staleness import SET_ASIDE
from framewatt.study.cell import run_name
from framewatt.witness.judgement import Seen, judge_window

CROSS = {
    "phase": ["infer"],
    "workload": ["resnet50"],
    "runtime": ["torch", "tensorflow"],
    "dataset": ["digits"],
    "batch_size": [8],
}
STUDY = {"study": "some", "title": "Some", "description": "Some.", "factors": [CROSS], "repetitions": 3, "seed": 1}
ANY = ("power.parquet", "events.parquet")


def witness(others: float) -> dict[str, Any]:
    return judge_window(Seen(10.0, 0.0, 2.0, 20 * others, 0.0, {"cpu": 0.0, "memory": 0.0, "io": 0.0}, 0.0, 0.0, 0.0))


def measured(hashes: JobHashes, results: Path, disturbed: dict[str, int]) -> list[str]:
    """Write the records of all runs, some disturbed and tried so often; their names, in the order of the plan."""
    idle = {"job_sha256": hashes.idle[""], "domains": {}}
    write_json(results / "calibrate/idle.json", idle)
    plan = plan_of(hashes)
    for number, entry in enumerate(plan["order"], 1):
        name = run_name(entry)
        steady = window(run_record()["windows"]["steady"]["domains"])
        steady |= {"witness": witness(0.5 if name in disturbed else 0.0)}
        environment = {"name": "torch", "mode": "locked", "image_sha256": None, "python_version": None}
        record = run_record(
            windows={"process": steady, "steady": steady},
            chain={"sequence": number, "previous_sha256": "0" * 64},
            cell_id=entry["cell"],
            repetition=entry["repetition"],
            block=entry["repetition"],
            attempt=disturbed.get(name, 1),
            job_sha256=entry["job_sha256"],
            identity={"environment": environment, "data_sha256": None, "artefact_sha256": None},
        )
        folder = results / "measure" / name
        write_json(folder / "run.json", record)
        for file in ANY:
            (folder / file).write_bytes(b"")
    return [run_name(entry) for entry in plan["order"]]


def due(hashes: JobHashes, results: Path) -> Due:
    return due_of(hashes, plan_of(hashes), results, results / "none", lambda rule, path: False)


@pytest.fixture
def hashes(tmp_path: Path) -> JobHashes:
    return hashes_of(loaded(tmp_path, STUDY))


def test_what_was_set_aside_is_due_once_all_else_is_there(hashes: JobHashes, tmp_path: Path) -> None:
    results = tmp_path / "results"
    names = measured(hashes, results, {})
    assert due(hashes, results).runs == {}
    measured(hashes, results, {names[1]: 2, names[4]: 6})
    found = due(hashes, results)
    # The other has been tried often enough.
    assert found.runs == {names[1]: SET_ASIDE}
    where = names[1].replace("/", ", repetition ")
    assert found.repeats() == [f"again, set aside, since others disturbed them: {where}"]
    assert found.sentence(len(names)) == f"1 of {len(names)} runs are due: 1 set aside, since others disturbed them"
    (results / "measure" / names[5] / "run.json").unlink()
    assert due(hashes, results).runs == {names[5]: "not measured"}


def test_other_studies_measure_nothing_again(tmp_path: Path) -> None:
    for policy in ("flag", "repeat"):
        hashes, results = hashes_of(loaded(tmp_path, {**STUDY, "disturbance": policy})), tmp_path / policy
        names = measured(hashes, results, {})
        measured(hashes, results, dict.fromkeys(names, 2))
        assert due(hashes, results).runs == {}


def test_a_run_keeps_its_hash_whether_disturbed_ones_are_repeated_or_set_aside(tmp_path: Path) -> None:
    made = {
        policy: hashes_of(loaded(tmp_path, {**STUDY, **({"disturbance": policy} if policy else {})}))
        for policy in ("", "repeat", "set_aside", "flag", "invalid")
    }
    first = {policy: plan_of(hashes)["order"][0]["job_sha256"] for policy, hashes in made.items()}
    assert first[""] == first["repeat"] == first["set_aside"]
    assert len(set(first.values())) == 3
