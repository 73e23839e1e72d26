"""What packages from before say of how their study ended is recounted, and what is not compared is told."""

from pathlib import Path

import pytest
from forger import Forger
from package_factory import CELL, make_package, study_of

from framewatt.package.unpack import unpack
from framewatt.package.verification.opened import open_package
from framewatt.package.verification.statement import statement_of
from framewatt.package.verify import problems_of

COMPLETE = "report/complete.txt"


def failed(record: dict) -> dict:
    gone = ("primary_window", "units", "throughput_per_s", "latency", "workload")
    ended = {"status": "failed", "valid": False, "reasons": ["killed by SIGKILL"], "quality": {}, "epochs": []}
    return record | dict.fromkeys(gone) | ended


@pytest.mark.parametrize("text", ["6 runs, none failed or invalid\n", "6 of 6 planned runs count\n"])
@pytest.mark.parametrize("old_form", [True, False])
def test_an_end_that_is_so_is_believed(tmp_path: Path, text: str, old_form: bool) -> None:
    forger = Forger(unpack(make_package(tmp_path / "made", old_form=old_form), tmp_path / "out"))
    (forger.results / COMPLETE).write_text(text)
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    assert list(problems_of(forger.folder)) == []


@pytest.mark.parametrize(
    "text", ["6 runs, none failed or invalid\n", "6 of 6 planned runs count\n", "", "all is well\n"]
)
def test_none_failed_beside_a_failed_run_is_noticed(forger: Forger, text: str) -> None:
    forger.record(CELL, failed)
    (forger.results / COMPLETE).write_text(text)
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    problems = [problem for problem in problems_of(forger.folder) if problem.startswith(COMPLETE)]
    assert problems == [
        f"{COMPLETE}: it states {text.strip()!r} and 0 lines, the records give '5 of 6 planned runs count'"
    ]


def test_a_run_that_failed_is_told_as_it_was(forger: Forger) -> None:
    forger.record(CELL, failed)
    (forger.results / COMPLETE).write_text(f"5 of 6 planned runs count\n{CELL}, repetition 1: killed by SIGKILL\n")
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    assert not [problem for problem in problems_of(forger.folder) if problem.startswith(COMPLETE)]


def test_what_is_not_compared_is_told(forger: Forger) -> None:
    (forger.results / "figures").mkdir(exist_ok=True)
    (forger.results / "figures" / "callgraph_x.svg").write_text("<svg/>")
    said = "\n".join(statement_of(open_package(forger.folder), 12))
    assert "1 files that are not made again and compared: figures/callgraph_x.svg" in said
    assert "12 files made again" in said
