"""A study that profiles its own cells, with stand-ins: tables, call graphs, package, and what is made again."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stand_ins
from checkout import Checkout
from package_tools import packed, passes_its_own_tools

from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of

CROSS = {"dataset": ["digits"], "workload": ["mobilenetv2"], "batch_size": [8]}
STUDY = {
    "title": "Where the time goes",
    "factors": [
        {**CROSS, "phase": ["train"], "runtime": ["torch"]},
        {**CROSS, "phase": ["infer"], "runtime": ["torch", "torch2onnx"]},
    ],
    "profile": "windows",
}
TRAIN = "train-mobilenetv2-digits-torch-b8"
RECORD = f"results/profiled/profiled/{TRAIN}/profile.json"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    stand_ins.install(made)
    made.write_study("profiled", **stand_ins.small(STUDY, 2))
    return made


@pytest.fixture(scope="module")
def package(checkout: Checkout) -> Path:
    return packed(checkout, "profiled", stand_ins.CONFIG)


@pytest.fixture(scope="module")
def results(checkout: Checkout, package: Path) -> Path:
    return checkout.root / "results" / "profiled"


def test_every_cell_has_a_profile_a_row_of_its_cost_and_a_call_graph(results: Path) -> None:
    told = rows_of(results / "profile" / "profiles.csv")
    assert len(told) == 3
    assert {row["status"] for row in told} == {"ok"}
    cost = rows_of(results / "tables" / "profiler_cost.csv")
    assert {row["cell"] for row in cost} == {row["cell"] for row in told}
    assert all(0.1 < float(row["windows_ratio"]) < 100 for row in cost)
    graphs = rows_of(results / "figures" / "callgraphs.csv")
    assert len(graphs) == 3
    drawn = [row for row in graphs if row["callgraph"]]
    assert all((results / "figures" / row["callgraph"]).is_file() for row in drawn)


def test_tables_are_of_engine_and_phase_and_the_report_has_them(results: Path) -> None:
    names = {path.stem for path in results.glob("tables/functions_*.csv")}
    assert names == {
        *("functions_torch_train", "functions_torch_infer", "functions_onnxruntime_infer"),
        "functions_unnamed",
    }
    listed = rows_of(results / "tables" / "functions_torch_train.csv")
    assert listed
    assert all(float(row["share_percent"]) > 1 for row in listed)
    page = (results / "report" / "report.html").read_text()
    assert 'id="profiles"' in page
    assert 'id="table-functions_onnxruntime_infer"' in page


def test_a_profiled_run_is_none_of_the_measured_ones(results: Path) -> None:
    runs = rows_of(results / "aggregate" / "runs.csv")
    assert len({(row["cell"], row["repetition"]) for row in runs}) == 6
    measured = max(json.loads(path.read_text())["clock"]["utc"] for path in results.glob("measure/*/*/run.json"))
    assert measured
    last = max(path.stat().st_mtime for path in results.glob("measure/*/*/run.json"))
    first = min(path.stat().st_mtime for path in results.glob("profiled/*/profile.json"))
    assert first > last


def test_its_package_is_verified_and_rebuilt_and_has_no_dump(package: Path, tmp_path: Path) -> None:
    passes_its_own_tools(package, tmp_path)
    assert not list((tmp_path / "unpacked").rglob("*.prof"))
    assert len(list((tmp_path / "unpacked").rglob("profile.json"))) == 3


FORGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another dump": (lambda one: one.update(dump_sha256="0" * 64), "dump_sha256: profile/profiles.csv has"),
    "quicker than its functions": (
        lambda one: one["passes"]["profiled"].update(windows_s=1e-6),
        "passes: the profiled one took 1e-06 s, its functions",
    ),
    "other work": (lambda one: one.update(job_sha256="0" * 64), "made under other settings than the study file's"),
    "another cell": (lambda one: one.update(cell_id="x"), "cell_id: it says x"),
    "failed": (lambda one: one.update(status="failed"), "it says failed, and there is a profile"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_records_are_noticed(package: Path, tmp_path: Path, name: str) -> None:
    change, told = FORGED[name]
    folder = unpack(package, tmp_path)
    path = folder / "data" / RECORD
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    assert any(told in line for line in problems_of(folder))


def test_nothing_is_done_again_and_other_work_is(checkout: Checkout, results: Path) -> None:
    config = f"study=profiled {stand_ins.CONFIG}"
    assert "Nothing to be done" in checkout.snakemake("-n", "all", config=config).text
    checkout.write_study("profiled", **{**stand_ins.small(STUDY, 2), "profile": "program"})
    again = checkout.snakemake("-n", "all", config=config).text.replace(",", " ").split()
    assert "profile_run" in again
    assert "measure" not in again


def test_a_dump_that_was_changed_is_not_opened(checkout: Checkout, results: Path) -> None:
    checkout.write_study("profiled", **stand_ins.small(STUDY, 2))
    (results / "profiled" / TRAIN / "profile.prof").write_bytes(b"anything")
    answer = checkout.snakemake(
        *("results/profiled/profile/profiles.csv", "--forcerun", "own_profile"),
        config=f"study=profiled {stand_ins.CONFIG}",
    )
    assert answer.code == 0, answer.text
    assert any(line.startswith("profiled: 1 of 3 dumps that cannot be read") for line in answer.text.splitlines())
    (row,) = (row for row in rows_of(results / "profile" / "profiles.csv") if row["cell"] == TRAIN)
    assert row["status"] == "failed"
    assert "unknown checksum" in row["reason"]


def test_a_cell_without_a_profile_is_told_in_the_end(checkout: Checkout, results: Path) -> None:
    """After all that can be made is made: the report has the reason."""
    worker = checkout.root / "src" / "framewatt" / "runs" / "profiled_worker.py"
    whole = worker.read_text()
    worker.write_text(whole.replace("    profiler = cProfile.Profile()\n", '    sys.exit("planted failure")\n', 1))
    for folder in (results / "profiled").iterdir():
        (folder / "profile.json").unlink()
    try:
        answer = checkout.snakemake("all", config=f"study=profiled {stand_ins.CONFIG}")
    finally:
        worker.write_text(whole)
    assert answer.code == 1, answer.text
    assert "framewatt: cells without a profile: 3; the report lists them" in answer.text
    assert f"missing: profile of {TRAIN}: " in answer.text
    assert "planted failure" in (results / "report" / "report.html").read_text()
