"""Runs that a study of files leaves out by a stated rule."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from framewatt.base.errors import FramewattError
from framewatt.base.validation import load_yaml
from framewatt.imports.file_study import load_file_study
from framewatt.planning.plan import plan_of
from framewatt.study.study import FileStudy

SCHEMA = load_yaml(Path(__file__).parents[2] / "config" / "schemas" / "study.schema.yaml")
PATHS = [f"{model}-{run}.csv" for model in ("small", "middle", "large") for run in (1, 2, 3)]
WARM = {"repetitions": [1], "reason": "the first run of each model warmed the cache"}
CABLE = {"where": {"model": "large"}, "reason": "the cable was loose"}


@pytest.fixture
def load(tmp_path: Path):
    """Load a study of three models with three runs each and some rules."""

    def load_with(*rules: dict[str, Any], paths: list[str] = PATHS) -> FileStudy:
        for path in paths:
            (tmp_path / path).write_text("")
        log = {"pattern": "{model}-{run}.csv", "reader": "nvidia-smi"}
        files = {"repetition": "run", "logs": [log], "leave_out": list(rules)}
        content = {"study": "trial", "title": "A trial", "source": "files", "files": files}
        path = tmp_path / "trial.yaml"
        path.write_text(yaml.safe_dump(content | {"statistics": {"compare": ["model"]}}))
        return load_file_study(path, load_yaml(path), SCHEMA, {}, tmp_path / "results")

    return load_with


def test_a_run_that_is_left_out_is_neither_read_nor_planned_and_is_listed_with_the_reason(load) -> None:
    study = load(WARM)
    assert [run.repetition for run in study.runs()] == [2, 2, 2, 3, 3, 3]
    assert not [path for path in study.source_files() if path.name.endswith("-1.csv")]
    plan = plan_of(study)
    assert plan["left_out"][0] == {
        "cell": "large",
        "repetition": 1,
        "files": ["large-1.csv"],
        "reason": "the first run of each model warmed the cache",
    }
    assert len(plan["left_out"]) == 3
    assert (len(plan["order"]), plan["repetitions"], plan["cells_without_runs"]) == (6, 2, [])


def test_a_cell_that_is_left_without_runs_stays_in_the_plan_and_is_named(load) -> None:
    plan = plan_of(load(CABLE))
    assert [cell["id"] for cell in plan["cells"]] == ["large", "middle", "small"]
    assert plan["cells_without_runs"] == ["large"]
    assert plan["significance"]["n_comparisons"] == 1, "nothing is compared with what has no runs"


def test_a_run_that_two_rules_leave_out_has_both_reasons(load) -> None:
    (first, *_) = plan_of(load(WARM, CABLE))["left_out"]
    assert first["reason"] == f"{WARM['reason']}; {CABLE['reason']}"


def test_a_run_that_was_never_taken_may_be_left_out_instead_of_missing(load) -> None:
    rule = {"where": {"model": ["small", "large"]}, "repetitions": [2], "reason": "power failure"}
    study = load(rule, paths=[path for path in PATHS if path not in ("small-2.csv", "large-2.csv")])
    assert not any(run.missing for run in study.available)
    assert [one["files"] for one in plan_of(study)["left_out"]] == [[], []]


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"where": {"modle": "small"}}, "leave_out.0.where: 'modle' is not a factor of the study. Use one of model"),
        (
            {"where": {"model": "smal"}},
            "leave_out.0.where.model: 'smal' is not a level of model. Use one of large, middle, small",
        ),
        (
            {"where": {"model": ["small", "huge"]}},
            "leave_out.0.where.model: 'huge' is not a level of model. Use one of large",
        ),
        ({"repetitions": [1, 30]}, "leave_out.0.repetitions: no such run is repetition 30. Use one of 1, 2, 3"),
        ({}, "files.leave_out leaves out all 9 runs. Leave at least one run to be read"),
        ({"reason": " "}, "files.leave_out.0.reason: ' ' is not allowed"),
        ({"repetition": 1}, "leave_out.0.repetition is not a known key. Use one of: reason, repetitions, where"),
        ({"where": {"model": None}}, "leave_out.0.where.model: None is not allowed"),
    ],
)
def test_a_rule_that_no_run_fits_is_one_line(load, rule: dict[str, Any], told: str) -> None:
    with pytest.raises(FramewattError) as error:
        load({"reason": "it was odd", **rule})
    assert told in str(error.value)


def test_levels_that_no_run_has_together_are_one_line(tmp_path: Path, load) -> None:
    load()
    (tmp_path / "old-small-1.csv").write_text("")
    (tmp_path / "new-large-1.csv").write_text("")
    content = load_yaml(tmp_path / "trial.yaml")
    content["files"]["logs"][0]["pattern"] = "{driver,old|new}-{model}-{run}.csv"
    content["files"]["leave_out"] = [{"where": {"driver": "old", "model": "large"}, "reason": "broken"}]
    with pytest.raises(FramewattError, match=r"leave_out\.0\.where: no run has driver old, model large\."):
        load_file_study(tmp_path / "trial.yaml", content, SCHEMA, {}, tmp_path)
