"""A run that others disturbed is measured once more, and what became of its first try is kept."""

from pathlib import Path

import pytest
from disturbed import kernel
from records_factory import energy, run_record, window

from framewatt.base.files import sha256_of
from framewatt.runs import aside
from framewatt.runs.aside import SHARES, measured_once_more, wait_until_quiet
from framewatt.runs.records import write_run
from framewatt.witness.judgement import Seen, judge_window
from framewatt.witness.window import COUNTED

SEEN = Seen(10.0, 0.0, 2.0, 0.0, 0.0, {"cpu": 0.0, "memory": 0.0, "io": 0.0}, 0.0, 0.0, 0.0)
NOTHING = {"processors_usable": 2.0, "machine_cpu_s": 1.0, "others_cpu_s": 0.0, **dict.fromkeys(COUNTED.values(), 0.0)}
OTHERS = ["other work took 30 % of the processors"]
FEW = ["other work took 3 % of the processors"]


class Scripted:
    """Measures what a script says: what disturbed each try."""

    def __init__(self, path: Path, tries: list[list[str] | None], **record: object) -> None:
        self.path, self.tries, self.record = path, tries, record
        self.jobs: list[dict] = []

    def __call__(self, job: dict) -> str | None:
        disturbed = self.tries[len(self.jobs)]
        self.jobs.append(job)
        others = {"others_share": 0.3} if disturbed == OTHERS else {}
        seen = {**NOTHING, **judge_window(SEEN), **others, "disturbed": disturbed}
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
    monkeypatch.setattr(aside, "wait_until_quiet", lambda timeout_s, *_, **__: found.append(timeout_s))
    return found


def test_a_quiet_run_is_measured_once(tmp_path: Path, waits: list[float]) -> None:
    scripted = Scripted(tmp_path / "run.json", [[]])
    assert measured_once_more(scripted, {"attempt": 1}, scripted.path, None) == "try 1"
    assert (len(scripted.jobs), waits) == (1, [10.0])


@pytest.mark.parametrize("second", [[], OTHERS])
def test_a_disturbed_run_is_repeated_once_and_no_more(second: list[str], tmp_path: Path, waits: list[float]) -> None:
    scripted = Scripted(tmp_path / "run.json", [OTHERS, second])
    hashes = []
    original = Scripted.__call__

    def noted(job: dict) -> str | None:
        reason = original(scripted, job)
        hashes.append(sha256_of(scripted.path))
        return reason

    assert measured_once_more(noted, {"attempt": 3}, scripted.path, None) == "try 2"
    assert waits == [10.0, 10.0]
    assert [job["attempt"] for job in scripted.jobs] == [3, 4]
    assert scripted.jobs[1]["first_try"] == {
        "attempt": 3,
        "sequence": 1,
        "run_sha256": hashes[0],
        "duration_s": 10.0,
        "energy_gross_j": {"cpu:package-0": 100.0},
        "disturbed": OTHERS,
        **dict.fromkeys(SHARES, 0.0),
        "others_share": 0.3,
        "after_load": False,
    }


@pytest.mark.parametrize("policy", ["flag", "invalid"])
def test_other_studies_repeat_nothing(policy: str, tmp_path: Path, waits: list[float]) -> None:
    scripted = Scripted(tmp_path / "run.json", [OTHERS])
    measured_once_more(scripted, {"attempt": 1, "disturbance": policy}, scripted.path, None)
    assert (len(scripted.jobs), waits) == (1, [])


def test_little_work_of_others_is_a_reason_to_repeat_a_run_only_where_the_study_says_repeat(
    tmp_path: Path, waits: list[float]
) -> None:
    for policy, tries in (("set_aside", 1), ("repeat", 2)):
        scripted = Scripted(tmp_path / "run.json", [FEW, []])
        measured_once_more(scripted, {"attempt": 1, "disturbance": policy}, scripted.path, None)
        assert len(scripted.jobs) == tries


@pytest.mark.parametrize("change", [{"primary_window": None, "status": "failed", "valid": False, "reasons": ["x"]}, {}])
def test_what_failed_or_cannot_be_told_is_not_repeated_here(change: dict, tmp_path: Path, waits: list[float]) -> None:
    scripted = Scripted(tmp_path / "run.json", [None if not change else OTHERS], **change)
    measured_once_more(scripted, {"attempt": 1}, scripted.path, None)
    assert len(scripted.jobs) == 1


class Played:
    """A machine of two processors on which others, and a hypervisor, take so many, second by second; then as the last.

    Its clock goes on while somebody sleeps.
    """

    def __init__(self, root: Path, taken: list[tuple[float, float]], monkeypatch: pytest.MonkeyPatch) -> None:
        self.scene, self.taken, self.clock_s = kernel(root).write(), taken, 100.0
        monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
        monkeypatch.setattr(aside.time, "monotonic", lambda: self.clock_s)
        monkeypatch.setattr(aside.time, "sleep", self._sleep)

    def _sleep(self, seconds: float) -> None:
        others, stolen = self.taken.pop(0) if len(self.taken) > 1 else self.taken[0]
        self.clock_s += seconds
        self.scene.ticked += round(others * seconds * 100)
        self.scene.steal += round(stolen * seconds * 100)
        self.scene.idle += round((2 - others - stolen) * seconds * 100)
        self.scene.write()


@pytest.mark.parametrize(
    ("taken", "at_rest", "waited_s"),
    [
        ([(1.0, 0.0), (1.0, 0.0), (0.5, 0.0), (0.0, 0.0)], None, 4),
        ([(0.0, 0.5), (0.0, 0.03), (0.0, 0.01)], None, 3),
        ([(0.06, 0.0)], 0.04, 1),
    ],
    ids=["others", "a hypervisor", "others, as at rest"],
)
def test_it_waits_until_the_machine_is_quiet(
    taken: list[tuple[float, float]],
    at_rest: float | None,
    waited_s: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = Played(tmp_path, taken, monkeypatch)
    assert wait_until_quiet(60, at_rest, tmp_path)
    assert played.clock_s == 100 + waited_s


@pytest.mark.parametrize("taken", [(1.0, 0.0), (0.0, 1.0), (0.06, 0.0)])
def test_it_waits_no_longer_than_it_may(
    taken: tuple[float, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = Played(tmp_path, [taken], monkeypatch)
    assert not wait_until_quiet(10, None, tmp_path)
    assert played.clock_s == 110
    assert not wait_until_quiet(10, None, tmp_path / "nothing")


def test_a_run_before_which_the_machine_was_busy_says_how_long_it_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = Played(tmp_path / "machine", [(1.5, 0.0)] * 10 + [(0.3, 0.0)], monkeypatch)
    looked = aside.wait_until_quiet
    there = tmp_path / "machine"
    monkeypatch.setattr(aside, "wait_until_quiet", lambda *one, **how: looked(*one, there, **how))
    scripted = Scripted(tmp_path / "run.json", [[], []])
    # What is left then is no more than a quarter of the machine: no run waits for that.
    for said in ({"waited_s": pytest.approx(2.2)}, {}):
        measured_once_more(scripted, {"attempt": 1}, scripted.path, None)
        assert scripted.jobs[-1] == {"attempt": 1, **said}
    assert played.clock_s == pytest.approx(102.4)
