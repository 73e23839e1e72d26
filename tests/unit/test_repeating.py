"""A run that others disturbed is measured once more, and what became of its first try is kept."""

from pathlib import Path

import pytest
from disturbed import kernel
from records_factory import energy, run_record, window

from framewatt.files import sha256_of
from framewatt.records import write_run
from framewatt.runs import repeating
from framewatt.runs.repeating import measured_once_more, wait_until_quiet
from framewatt.witness.judgement import Seen, judge_window
from framewatt.witness.window import COUNTED

SEEN = Seen(10.0, 0.0, 2.0, 0.0, 0.0, {"cpu": 0.0, "memory": 0.0, "io": 0.0}, 0.0, 0.0, 0.0)
NOTHING = {"processors_usable": 2.0, "machine_cpu_s": 1.0, "others_cpu_s": 0.0, **dict.fromkeys(COUNTED.values(), 0.0)}
OTHERS = ["other work took 30 % of the processors"]


class Scripted:
    """Measures what a script says: what disturbed each try."""

    def __init__(self, path: Path, tries: list[list[str] | None], **record: object) -> None:
        self.path, self.tries, self.record = path, tries, record
        self.jobs: list[dict] = []

    def __call__(self, job: dict) -> str | None:
        disturbed = self.tries[len(self.jobs)]
        self.jobs.append(job)
        seen = {**NOTHING, **judge_window(SEEN), "disturbed": disturbed}
        domains = {"cpu:package-0": energy(100.0)}
        steady = window(domains) | {"witness": seen}
        chain = {"sequence": len(self.jobs), "previous_sha256": "0" * 64}
        first = {name: job[name] for name in ("first_try",) if name in job}
        record = run_record(domains, windows={"process": window(domains), "steady": steady}, chain=chain)
        write_run(self.path, record | {"attempt": job["attempt"]} | first | self.record)
        return f"try {len(self.jobs)}"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the machine was given to become quiet, each time."""
    found: list[float] = []
    monkeypatch.setattr(repeating, "wait_until_quiet", found.append)
    return found


def test_a_quiet_run_is_measured_once(tmp_path: Path, waits: list[float]) -> None:
    scripted = Scripted(tmp_path / "run.json", [[]])
    assert measured_once_more(scripted, {"attempt": 1}, scripted.path) == "try 1"
    assert (len(scripted.jobs), waits) == (1, [])


@pytest.mark.parametrize("second", [[], OTHERS])
def test_a_disturbed_run_is_repeated_once_and_no_more(second: list[str], tmp_path: Path, waits: list[float]) -> None:
    scripted = Scripted(tmp_path / "run.json", [OTHERS, second])
    hashes = []
    original = Scripted.__call__

    def noted(job: dict) -> str | None:
        reason = original(scripted, job)
        hashes.append(sha256_of(scripted.path))
        return reason

    assert measured_once_more(noted, {"attempt": 3}, scripted.path) == "try 2"
    assert waits == [10.0]
    assert [job["attempt"] for job in scripted.jobs] == [3, 4]
    assert scripted.jobs[1]["first_try"] == {
        "attempt": 3,
        "sequence": 1,
        "run_sha256": hashes[0],
        "duration_s": 10.0,
        "energy_gross_j": {"cpu:package-0": 100.0},
        "disturbed": OTHERS,
    }


@pytest.mark.parametrize("policy", ["flag", "invalid"])
def test_other_studies_repeat_nothing(policy: str, tmp_path: Path, waits: list[float]) -> None:
    scripted = Scripted(tmp_path / "run.json", [OTHERS])
    measured_once_more(scripted, {"attempt": 1, "disturbance": policy}, scripted.path)
    assert (len(scripted.jobs), waits) == (1, [])


@pytest.mark.parametrize("change", [{"primary_window": None, "status": "failed", "valid": False, "reasons": ["x"]}, {}])
def test_what_failed_or_cannot_be_told_is_not_repeated_here(change: dict, tmp_path: Path, waits: list[float]) -> None:
    scripted = Scripted(tmp_path / "run.json", [None if not change else OTHERS], **change)
    measured_once_more(scripted, {"attempt": 1}, scripted.path)
    assert len(scripted.jobs) == 1


def test_it_waits_until_the_machine_is_quiet_and_no_longer_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = kernel(tmp_path).write()
    clock, busy = [100.0], [1.0, 1.0, 0.5, 0.0]
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(repeating.time, "monotonic", lambda: clock[0])

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        scene.idle += round((2 - (busy.pop(0) if busy else 1.0)) * seconds * 100)
        scene.write()

    monkeypatch.setattr(repeating.time, "sleep", sleep)
    assert wait_until_quiet(60, tmp_path)
    assert clock[0] == 104
    assert not wait_until_quiet(10, tmp_path)
    assert clock[0] == 114
    assert not wait_until_quiet(10, tmp_path / "nothing")
