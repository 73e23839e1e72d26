"""How far a study has come, and which attempt is due."""

import json
from pathlib import Path

import pytest

from framewatt.prepare.stage import attempt_of
from framewatt.workflow.progress import Progress, rest_line

PLAN = {"order": [{"position": n, "cell": cell, "repetition": 1} for n, cell in enumerate("abc", 1)]}


def record(measured: Path, cell: str, seconds: float, joules: float | None = None, **keys: object) -> None:
    """A run that has ended, as much of its record as progress reads."""
    energy = {"energy_gross_j": joules, "valid": joules is not None, "estimated": True}
    window = {"duration_s": seconds, "domains": {"cpu:estimate": energy}}
    said = {"status": "ok", "valid": True, "reasons": [], "cool_down_s": 1, "windows": {"process": window}}
    folder = measured / cell / "1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps({**said, **keys}))


def test_the_first_run_knows_neither_time_nor_energy(tmp_path: Path) -> None:
    told = Progress(PLAN, tmp_path, ["a/1", "b/1", "c/1"]).line("a/1")
    assert told == "run 1 of 3 (0 done; time left unknown; energy unknown): a, repetition 1"


def test_later_runs_guess_by_those_that_ended_and_add_up_their_joules(tmp_path: Path) -> None:
    progress = Progress(PLAN, tmp_path, ["a/1", "b/1", "c/1"])
    record(tmp_path, "a", 59, 1234)
    progress.take("a/1")
    assert progress.line("b/1") == ("run 2 of 3 (1 done; about 2 min left; 1.23 kJ so far, estimated): b, repetition 1")


def test_what_does_not_count_is_counted_apart_and_unknown_joules_are_no_zero(tmp_path: Path) -> None:
    record(tmp_path, "a", 1, None, status="failed", valid=False, reasons=["killed"])
    record(tmp_path, "b", 1, 10, valid=False, reasons=["no reading"])
    record(tmp_path, "c", 1, None, status="unavailable", valid=False, reasons=["no export"])
    progress = Progress(PLAN, tmp_path, [])
    assert progress.done == "3 done, 1 failed, 1 invalid, 1 with nothing to run"
    assert progress.energy == "at least 10.0 J so far, estimated"
    assert progress.seconds_left == 0


def test_a_run_that_is_repeated_is_not_done(tmp_path: Path) -> None:
    for cell in "abc":
        record(tmp_path, cell, 59, 1)
    progress = Progress(PLAN, tmp_path, ["b/1"])
    assert progress.line("b/1").startswith("run 2 of 3 (2 done; about 60 s left; 2.00 J")
    assert progress.whole_blocks() == 0
    progress.take("b/1")
    assert (progress.left, progress.whole_blocks()) == ([], 1)


def test_a_run_that_left_no_record_is_still_left(tmp_path: Path) -> None:
    progress = Progress(PLAN, tmp_path, ["a/1"])
    progress.take("a/1")
    (tmp_path / "b/1").mkdir(parents=True)
    (tmp_path / "b/1/run.json").write_text('{"status": "ok"')
    assert (progress.left, Progress(PLAN, tmp_path, []).ended) == (["a/1"], {})


def test_no_more_time_is_left_than_the_study_allows(tmp_path: Path) -> None:
    rule = {"at_least": 3, "at_most": 9, "minutes": 1.5, "until": {"best": "energy"}}
    plan = {**PLAN, "settings": {"repetitions": rule}, "stopping": {}}
    record(tmp_path, "a", 59)
    progress = Progress(plan, tmp_path, ["b/1", "c/1"])
    assert progress.line("b/1").startswith("run 2 of at most 3 (1 done; at most about 30 s left; energy unknown)")


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


@pytest.mark.parametrize(
    ("content", "due"),
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
def test_only_a_failure_worth_repeating_is_due_again(tmp_path: Path, content: dict | None, due: int) -> None:
    path = tmp_path / "run.json"
    if content is not None:
        path.write_text(json.dumps(content))
    assert attempt_of(path) == due


def test_another_job_begins_with_its_first_attempt(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"status": "failed", "attempt": 3, "job_sha256": "a"}))
    assert (attempt_of(path, "a"), attempt_of(path, "b")) == (4, 1)
