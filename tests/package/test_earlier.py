"""Records of an earlier code: its uncertainties and flags are its own, its joules are not."""

from pathlib import Path

import frames_factory
import package_factory
import pandas as pd
import pytest
import statistics_settings
from package_factory import aggregate, before_sessions, make_package, pack, project_tree, records_of, results_tree
from records_factory import as_then, without_errors

from framewatt.base.files import read_json, write_json
from framewatt.base.identity import code_identity
from framewatt.base.spreadsheet import to_csv
from framewatt.package.unpack import unpack
from framewatt.package.verification.earlier import (
    as_read_then,
    same_but_for_added,
    significance_then,
    windows_as_then,
)
from framewatt.package.verify import problems_of
from framewatt.planning.plan import planned_cells
from framewatt.runs.chain import NAME as CHAIN
from framewatt.study.stopping_rule import rule_of, with_looks
from framewatt.study.study_file import with_planned_defaults, without_unset
from framewatt.study.wordings import same_meaning

FOUND = {
    "steady": {
        "duration_s": 10.0,
        "domains": {
            "gpu:0": {
                **{"energy_gross_j": 1000.0, "energy_net_j": 900.0, "mean_power_w": 100.0},
                **{"energy_uncertainty_j": 2.0, "energy_net_uncertainty_j": 3.0, "samples": 99},
                **{"valid": True, "reasons": [], "flags": [], "cross_checks": []},
            }
        },
    }
}


def told(**change: object) -> dict:
    """A record's windows, with something changed about the GPU."""
    gpu = {**FOUND["steady"]["domains"]["gpu:0"], **change}
    return {"steady": {**FOUND["steady"], "domains": {"gpu:0": gpu}}}


def test_joules_within_two_uncertainties_are_as_they_were_told() -> None:
    record = told(energy_gross_j=1007.0, energy_net_j=907.0, energy_uncertainty_j=4.0, flags=["a flag of then"])
    assert windows_as_then(record, FOUND) == record


def test_joules_further_off_are_those_that_are_found_now() -> None:
    record = told(energy_gross_j=1009.0, energy_uncertainty_j=4.0)
    found = windows_as_then(record, FOUND)["steady"]["domains"]["gpu:0"]
    assert (found["energy_gross_j"], found["energy_uncertainty_j"]) == (1000.0, 4.0)


def test_what_did_not_change_is_held_to_the_trace() -> None:
    record = told(samples=98)
    assert windows_as_then(record, FOUND)["steady"]["domains"]["gpu:0"]["samples"] == 99
    assert windows_as_then({}, FOUND) == FOUND


def test_a_study_from_before_there_were_answers_has_the_tests_of_then() -> None:
    then = {"settings": {"statistics": {"test": "wilcoxon", "alpha": 0.05}}}
    now = {"settings": {"statistics": {"test": "t", "alpha": 0.05, "noise": 0.05, "unmetered": "estimate"}}}
    assert as_read_then({"study": "x"}, then)["statistics"] == {"test": "wilcoxon", "unmetered": None}
    assert as_read_then({"source": "files", "statistics": {"compare": ["a"]}}, then)["statistics"] == {
        "test": "mannwhitney",
        "compare": ["a"],
        "unmetered": None,
    }
    said = {"study": "x", "statistics": {"test": "mannwhitney", "unmetered": "leave_out"}}
    assert as_read_then(said, then) == said
    assert as_read_then({"study": "x"}, now) == {"study": "x"}
    assert as_read_then({"study": "x"}, {}) == {"study": "x"}


ADDED = ["machine", "session"]


def frames_of(folder: Path, **change: object) -> list[tuple[Path, Path]]:
    """A frame of then, with something changed, and that of now, in both forms."""
    now = pd.DataFrame({"cell": ["a", "=b"], "machine": "m", "session": None, "joules": [1.5, None]})
    frames = {"then": now.drop(columns=ADDED).assign(**change), "now": now}
    for name, frame in frames.items():
        (folder / name).mkdir()
        (folder / name / "runs.csv").write_text(to_csv(frame))
        frame.to_parquet(folder / name / "runs.parquet", index=False)
    return [(folder / "then" / name, folder / "now" / name) for name in ("runs.csv", "runs.parquet")]


def test_a_frame_of_then_is_that_of_now_without_what_was_added(tmp_path: Path) -> None:
    assert all(same_but_for_added(*pair) for pair in frames_of(tmp_path))


@pytest.mark.parametrize("change", [{"joules": [1.5, 2.5]}, {"others": 1}, {"machine": "m"}])
def test_any_other_difference_is_one(tmp_path: Path, change: dict) -> None:
    assert not any(same_but_for_added(*pair) for pair in frames_of(tmp_path, **change))


def older_results(root: Path, schema_version: int = 3) -> Path:
    """Results of before records told sessions, with frames of then."""
    results = results_tree(root)
    code = code_identity(project_tree(root, schema_version))
    (results / "measure" / CHAIN).unlink()
    for path in results.glob("measure/*/*/run.json"):
        record = before_sessions(read_json(path)) if schema_version == 3 else read_json(path)
        record["identity"]["code"] = code
        kept = {name: value for name, value in record.items() if name != "chain"}
        write_json(path, as_then(kept, 3) if schema_version == 3 else {**without_errors(kept), "schema_version": 4})
    for name in ("idle", "idle_after", "instruments"):
        path = results / "calibrate" / f"{name}.json"
        if schema_version == 3 and path.is_file() and "machine" in (told := read_json(path)):
            write_json(path, before_sessions(told))
    aggregate(results, records_of(results))
    for path in results.glob("aggregate/*.parquet"):
        frame = pd.read_parquet(path).drop(columns=ADDED)
        frame.to_parquet(path, index=False)
        path.with_suffix(".csv").write_text(to_csv(frame))
    return results


def problems_in(root: Path, results: Path) -> list[str]:
    return [line for line in problems_of(unpack(pack(root, results), root / "unpacked")) if "chain" not in line]


def test_a_package_of_before_records_told_sessions_verifies(tmp_path: Path) -> None:
    assert problems_in(tmp_path, older_results(tmp_path)) == []


def test_a_package_of_before_there_were_errors_of_the_best_verifies_and_its_frames_have_none(tmp_path: Path) -> None:
    results = older_results(tmp_path, schema_version=4)
    aggregate(results, records_of(results))
    assert not {"top1_error", "top5_error"} & set(pd.read_parquet(results / "aggregate/runs.parquet"))
    assert problems_in(tmp_path, results) == []


def test_frames_of_records_that_tell_sessions_have_to_name_them(tmp_path: Path) -> None:
    found = problems_in(tmp_path, older_results(tmp_path, schema_version=4))
    assert sorted(line for line in found if line.startswith("aggregate/")) == [
        f"aggregate/{name}.{suffix}: is not what the records give"
        for name in ("epochs", "runs")
        for suffix in ("csv", "parquet")
    ]


def test_a_rule_for_the_best_looked_after_every_block_before_it_said_when() -> None:
    rule = {"at_least": 5, "at_most": 6, "until": {"best": "energy"}}
    statistics = {"noise": 0.05, "unmetered": "estimate"}
    now = {"settings": {"statistics": statistics, "repetitions": with_looks(rule)}}
    then = {"settings": {"statistics": statistics, "repetitions": rule}}
    assert as_read_then({"repetitions": rule}, now) == {"repetitions": rule}
    read = as_read_then({"repetitions": rule}, then)["repetitions"]
    assert with_looks(read) == rule
    assert rule_of({"repetitions": with_looks(read)}).looks == (5, 6)
    assert as_read_then({"repetitions": 8}, then) == {"repetitions": 8}
    interval = {**rule, "until": {"interval": 0.5}}
    then = {"settings": {"statistics": statistics, "repetitions": interval}}
    assert as_read_then({"repetitions": interval}, then) == {"repetitions": interval}


def test_what_a_study_was_begun_with_it_goes_on_with() -> None:
    """Disturbed runs were repeated and counted, and totals lacked processors without a meter."""
    then = {"settings": {"disturbance": "repeat", "statistics": {"noise": 0.05}}}
    assert with_planned_defaults({"study": "x"}, then) == {
        "study": "x",
        "disturbance": "repeat",
        "statistics": {"unmetered": None},
    }
    assert without_unset({"noise": 0.05, "unmetered": None}) == {"noise": 0.05}
    # What the file says holds, and what was begun since is as it is.
    said = {"disturbance": "set_aside", "statistics": {"unmetered": "leave_out"}}
    assert with_planned_defaults(said, then) == said
    now = {"settings": {"disturbance": "set_aside", "statistics": {"noise": 0.05, "unmetered": "estimate"}}}
    assert with_planned_defaults({"study": "x"}, now) == with_planned_defaults({"study": "x"}, {}) == {"study": "x"}
    # A study of packages has the settings of these.
    merged = {"study": "x", "source": "packages", "packages": {"a": "0" * 64, "b": "1" * 64}}
    assert as_read_then(merged, then) == merged


def test_a_plan_of_one_block_says_what_it_said_too() -> None:
    cells = [frames_factory.cell(name) for name in ("torch", "mxnet")]
    settings = {"statistics": {**statistics_settings.settings(), "test": "t"}}
    then = significance_then({"repetitions": 1, "settings": settings}, cells)
    stated = "1 block says nothing of the noise, so that nothing can be told: at least 2 are needed."
    assert same_meaning(then["sentence"], stated)
    assert then["ratio"] is None


def test_a_plan_of_two_blocks_says_what_it_said_before_a_test_took_three(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(package_factory.STUDY, "statistics", {"compare": ["batch_size"]})
    folder = unpack(make_package(tmp_path / "made"), tmp_path / "out")
    path = folder / "data/results/trial/plan/plan.json"
    plan = read_json(path)
    assert (plan["repetitions"], plan["significance"]["ratio"]) == (2, None)
    then = significance_then(plan, planned_cells(plan))
    assert then["ratio"] > 1
    write_json(path, {**plan, "significance": then})
    assert not [line for line in problems_of(folder) if "significance" in line]
    write_json(path, {**plan, "significance": {**then, "ratio": 1.1}})
    assert [line for line in problems_of(folder) if "significance" in line]
