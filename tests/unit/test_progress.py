"""How far a study has come, and which attempt is due."""

import json
from pathlib import Path

import pytest

from framewatt.prepare.stage import attempt_of
from framewatt.runs.progress import progress_line, rest_line

PLAN = {"order": [{"position": n, "cell": cell, "repetition": 1} for n, cell in enumerate("abc", 1)]}


def finished(measured: Path, cell: str, seconds: float) -> None:
    folder = measured / cell / "1"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"cool_down_s": 1, "windows": {"process": {"duration_s": seconds}}}))


def test_the_first_run_knows_no_time(tmp_path: Path) -> None:
    assert progress_line(PLAN, tmp_path, "a", 1) == "run 1 of 3: a, repetition 1; time left unknown"


def test_later_runs_guess_by_the_finished_ones(tmp_path: Path) -> None:
    finished(tmp_path, "a", 59)
    assert progress_line(PLAN, tmp_path, "b", 1) == "run 2 of 3: b, repetition 1; about 2 min left"


def test_no_more_time_is_left_than_the_study_allows(tmp_path: Path) -> None:
    rule = {"at_least": 3, "at_most": 9, "minutes": 1.5, "until": {"best": "energy"}}
    plan = {**PLAN, "settings": {"repetitions": rule}, "stopping": {}}
    finished(tmp_path, "a", 59)
    assert progress_line(plan, tmp_path, "b", 1) == "run 2 of at most 3: b, repetition 1; at most about 30 s left"


@pytest.mark.parametrize(
    ("cool_down", "said"),
    [
        ({"rest_s": 0, "idle_band": None, "timeout_s": 1}, ""),
        ({"rest_s": 5, "idle_band": None, "timeout_s": 1}, "; rests 5 s first"),
        (
            {"rest_s": 5, "idle_band": 0.1, "timeout_s": 60},
            "; rests 5 s first, then up to 60 s until it draws as little as when idle",
        ),
        (
            {"rest_s": 0, "idle_band": 0.1, "timeout_s": 60},
            "; first waits up to 60 s until it draws as little as when idle",
        ),
    ],
)
def test_a_rest_is_said(cool_down: dict, said: str) -> None:
    assert rest_line(cool_down) == said


def test_a_repeated_run_makes_no_guess(tmp_path: Path) -> None:
    finished(tmp_path, "c", 59)
    assert progress_line(PLAN, tmp_path, "b", 1) == "run 2 of 3: b, repetition 1; time left unknown"


@pytest.mark.parametrize(
    ("record", "due"),
    [
        (None, 1),
        ({"status": "ok", "attempt": 1}, 1),
        ({"status": "ok", "attempt": 3}, 3),
        ({"status": "failed", "attempt": 1}, 2),
        ({"status": "ok", "valid": True, "attempt": 1}, 1),
        ({"status": "ok", "valid": False, "attempt": 1}, 2),
        ({"status": "unavailable", "valid": False, "attempt": 1}, 1),
        ({"status": "failed", "attempt": 1, "repeat": False}, 1),
    ],
)
def test_only_a_failure_worth_repeating_is_due_again(tmp_path: Path, record: dict | None, due: int) -> None:
    path = tmp_path / "run.json"
    if record is not None:
        path.write_text(json.dumps(record))
    assert attempt_of(path) == due


def test_another_job_begins_with_its_first_attempt(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"status": "failed", "attempt": 3, "job_sha256": "a"}))
    assert (attempt_of(path, "a"), attempt_of(path, "b")) == (4, 1)
