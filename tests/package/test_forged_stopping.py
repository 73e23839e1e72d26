"""Packages of a study that stopped when its rule said so, changed: verify recounts after how many blocks that was."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from forger import Forger, assert_noticed, put
from package_factory import CELL, make_package, study_of

from framewatt.base.files import read_json, write_json
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of

RULE = {"at_least": 2, "at_most": 3, "until": {"best": "energy"}}
RECORD, ROWS = "results/trial/stopping/stopping.json", "results/trial/stopping/stopping.csv"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good package of a study with a rule, unpacked."""
    root = tmp_path_factory.mktemp("stopped")
    return unpack(make_package(root / "made", repetitions=RULE), root / "out")


def test_a_package_of_a_study_that_stopped_is_verified(good: Path) -> None:
    assert list(problems_of(good)) == []
    record = read_json(good / "data" / RECORD)
    assert (record["blocks"], record["settled"], record["repetitions"]) == (3, False, {**RULE, "looks": "fixed"})
    assert record["why"].startswith("Stopped after 3 blocks, the most that the study allows: which choice takes the")
    assert [step["looked"] for step in record["steps"]] == [False, True, True]


def test_a_package_of_a_study_with_an_interval_is_verified(tmp_path: Path) -> None:
    rule = {"at_least": 2, "at_most": 3, "until": {"interval": 0.5}}
    assert list(problems_of(unpack(make_package(tmp_path / "made", repetitions=rule), tmp_path / "out"))) == []


def one_block_fewer(forger: Forger) -> None:
    """The last block is gone, as if the study had stopped before."""
    for path in forger.results.glob("measure/*/3"):
        shutil.rmtree(path)
    forger.json(RECORD, put("blocks", 2))
    forger.follow(study_of(forger.study).settings)


def one_block_more(forger: Forger) -> None:
    shutil.copytree(forger.run(CELL, 3), forger.run(CELL, 4))


def rule_to_a_number(forger: Forger) -> None:
    forger.settings(put("repetitions", 3))
    forger.replan()
    forger.follow(study_of(forger.study).settings)


def changed_repetitions(forger: Forger, content: object = "a list") -> None:
    write_json(forger.results / "plan" / "repetitions.json", content)


@pytest.mark.parametrize(
    ("edit", "essence"),
    [
        (lambda forger: forger.json(RECORD, put("settled", True)), r"stopping\.json: settled: it states True"),
        (
            lambda forger: forger.json(RECORD, put("why", "Stopped since we liked it.")),
            r"stopping\.json: why: it states",
        ),
        (lambda forger: forger.json(RECORD, put("blocks", 30)), r"stopping\.json: blocks: it states 30"),
        (lambda forger: forger.json(RECORD, put("steps.2.groups", {})), r"stopping\.json: steps\.2\.groups"),
        (lambda forger: forger.json(RECORD, lambda content: []), r"stopping\.json holds a list"),
        (lambda forger: (forger.data / RECORD).write_text("{"), r"stopping\.json: not JSON"),
        (lambda forger: (forger.data / RECORD).unlink(), r"stopping/stopping\.json: not there"),
        (lambda forger: (forger.data / ROWS).unlink(), r"stopping/stopping\.csv: not there"),
        (lambda forger: forger.text(f"data/{ROWS}", "False", "True"), r"stopping\.csv: is not what the records give"),
        (one_block_fewer, "the records of 2 blocks do not end the study"),
        (lambda forger: forger.record(CELL, put("repetition", 10**9), 2), "repetition: the record states 1000000000"),
        (
            lambda forger: forger.record(CELL, put("repetition", 1), 2),
            "repetition: the record states 1, the plan gives 2",
        ),
        (one_block_more, "b1/4: files of a run that is not planned"),
        (rule_to_a_number, r"stopping\.json: of a study that has a fixed number of blocks"),
        (changed_repetitions, r"plan/repetitions\.json is not a list of changes"),
        (lambda forger: changed_repetitions(forger, [{"from": 2, "to": 9}]), r"plan/repetitions\.json is not a list"),
        (
            lambda forger: changed_repetitions(forger, [{"from": 2, "to": 9, "seen_blocks": 2, "kept_runs": 6}]),
            r"plan/repetitions\.json: the last change is to 9",
        ),
    ],
)
def test_what_does_not_follow_from_the_records_is_noticed(
    forger: Forger, edit: Callable[[Forger], object], essence: str
) -> None:
    edit(forger)
    forger.mend()
    assert_noticed(forger, essence)
