"""A synthetic study is one that was measured, as far as the workflow can tell."""

import json
import shutil
from pathlib import Path

import played_runs
import pytest
import yaml
from package_factory import hashes_of, project_tree
from played_runs import DATA

from framewatt.base.files import write_json
from framewatt.planning.due import due_of
from framewatt.planning.plan import plan_of
from framewatt.planning.planned import planned_runs
from framewatt.runs.chain import NAME as CHAIN
from framewatt.runs.records import LIST, list_text, record_paths
from scale.grown import grow, study_content

RUNS, READINGS = 50, 400


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a study of 50 runs."""
    folder = project_tree(tmp_path_factory.mktemp("scale"))
    (folder / "config" / "studies").mkdir()
    write_json(folder / "resources/data/digits.json", DATA)
    grow(folder, "grown", RUNS, READINGS)
    return folder


def test_nothing_of_it_is_due_and_every_record_is_the_plans(root: Path) -> None:
    hashes = hashes_of(root / "config/studies/grown.yaml")
    results = root / "results" / "grown"
    due = due_of(hashes, plan_of(hashes), results, root / "resources", lambda rule, path: False)
    assert (due.plan, due.instruments, due.idle, due.idle_after, due.weights, due.runs) == (None, {}, {}, {}, {}, {})
    records = planned_runs(results / "plan/plan.json", str(results / "measure")).values()
    assert len(records) == RUNS
    assert all(record["valid"] and record["status"] == "ok" for record in records)
    assert len((results / "measure" / CHAIN).read_text().splitlines()) == RUNS


def test_a_run_that_is_lost_is_due_and_grows_again_alone(root: Path, tmp_path: Path) -> None:
    root = shutil.copytree(root, tmp_path / "project")
    hashes = hashes_of(root / "config/studies/grown.yaml")
    results = root / "results" / "grown"
    lost, kept, *_ = sorted(results.glob("measure/*/*/run.json"))
    before = kept.stat().st_mtime_ns
    lost.unlink()
    due = due_of(hashes, plan_of(hashes), results, root / "resources", lambda rule, path: False)
    assert due.runs == {f"{lost.parts[-3]}/{lost.parts[-2]}": "not measured"}
    grow(root, "grown", RUNS, READINGS)
    assert lost.is_file()
    assert kept.stat().st_mtime_ns == before


def test_its_runs_differ_by_the_compared_factor(root: Path) -> None:
    found = {}
    for path in (root / "results/grown").glob("measure/*/*/run.json"):
        record = json.loads(path.read_text())
        found.setdefault(record["cell"]["threads"], []).append(
            record["windows"]["steady"]["domains"]["cpu:package-0"]["energy_gross_j"]
        )
    means = [sum(found[level]) / len(found[level]) for level in sorted(found)]
    assert means == sorted(means)


@pytest.mark.parametrize("runs", [0, 49, 51, 18_050])
def test_another_number_of_runs_is_refused(runs: int) -> None:
    with pytest.raises(ValueError, match="multiples of 50, up to 18000"):
        study_content("x", runs)


def test_a_list_of_records_stands_for_them(root: Path, tmp_path: Path) -> None:
    records = record_paths(str(root / "results/grown/measure"))
    (tmp_path / LIST).write_text(list_text(records))
    assert record_paths(str(tmp_path / LIST)) == records
    assert record_paths([str(tmp_path / LIST), str(records[0])]) == [*records, records[0]]


def test_the_last_batch_of_a_pass_may_be_smaller(tmp_path: Path) -> None:
    study = tmp_path / "seven.yaml"
    study.write_text(yaml.safe_dump(study_content("seven", 350)))
    run = next(run for run in hashes_of(study).study.runs() if run.cell.batch_size == 7)
    result, _ = played_runs._infer(0, run)
    # 360 images are 51 batches of seven, and one of three.
    passes, rest = divmod(result["latency"]["batches"], 52)
    assert result["units"]["count"] == passes * 360 + rest * 7
