"""A study that tells joules by operator, with stand-ins: timelines, tables, figure, package, and what is made again."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import stand_ins
from checkout import Checkout
from package_tools import packed, passes_its_own_tools

from framewatt.meters.trace_file import open_trace, write_trace
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of
from framewatt.profiling.operators import frame_of
from framewatt.runs.spans_file import read_spans, write_spans
from framewatt.workloads.profilers import Spans

CROSS = {"dataset": ["digits"], "workload": ["mobilenetv2"], "batch_size": [8]}
STUDY = {
    "title": "Which operators take the joules",
    "factors": [
        {**CROSS, "phase": ["train"], "runtime": ["torch"]},
        {**CROSS, "phase": ["infer"], "runtime": ["torch", "torch2onnx"]},
    ],
    "operators": True,
}
CELLS = [
    "train-mobilenetv2-digits-torch-b8",
    *(f"infer-mobilenetv2-digits-{one}-b8" for one in ("torch", "torch2onnx-cpu")),
]
CONFIG = f"study=told {stand_ins.CONFIG}"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    stand_ins.install(made)
    small = stand_ins.small(STUDY)
    for engine in (made.root / "src/framewatt/workloads").glob("*/engine.py"):
        slow = '        __import__("time").sleep(0.02)\n        (inputs,), labels = batch\n'
        engine.write_text(engine.read_text().replace("        (inputs,), labels = batch\n", slow))
    worker = made.root / "src" / "framewatt" / "runs" / "timeline_worker.py"
    worker.write_text(worker.read_text().replace("LONGEST_S = 10.0", "LONGEST_S = 0.4"))
    made.write_study("told", **{**small, "window": {"warm_up_batches": 1, "minimum_s": 0.6}})
    return made


@pytest.fixture(scope="module")
def package(checkout: Checkout) -> Path:
    return packed(checkout, "told", stand_ins.CONFIG)


@pytest.fixture(scope="module")
def results(checkout: Checkout, package: Path) -> Path:
    return checkout.root / "results" / "told"


def test_every_cell_is_told_by_operator_and_by_api(results: Path) -> None:
    about = rows_of(results / "operators" / "timelines.csv")
    assert [row["cell"] for row in about] == CELLS
    assert {row["status"] for row in about} == {"ok"}, about
    joules = rows_of(results / "operators" / "joules.csv")
    for row in about:
        assert float(row["clock_drift"]) == pytest.approx(-2e-5, abs=1e-4)
        for by in ("operator", "api"):
            part = [one for one in joules if (one["cell"], one["by"]) == (row["cell"], by)]
            assert part[-1]["name"] == "between operators"
            assert sum(float(one["share_percent"]) for one in part) == pytest.approx(100)


def test_a_window_that_is_longer_than_what_is_recorded_is_cut_and_the_other_pass_is_not(results: Path) -> None:
    passes = json.loads((results / "timelines" / CELLS[1] / "timeline.json").read_text())["passes"]
    assert passes["profiled"]["window"]["duration_s"] == pytest.approx(0.4, abs=0.1)
    assert passes["plain"]["window"]["duration_s"] >= 0.6
    assert 0 < passes["profiled"]["units"]["count"] < passes["plain"]["units"]["count"]


def test_a_trace_that_does_not_cover_the_window_gives_no_joules(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / CELLS[1]
    shutil.copytree(results / "timelines" / CELLS[1], folder)
    trace = open_trace(folder / "power.parquet")
    window = json.loads((folder / "timeline.json").read_text())["passes"]["profiled"]["window"]
    early = trace.monotonic_ns < (window["start_monotonic_ns"] + window["end_monotonic_ns"]) / 2
    columns = {name: getattr(trace, name)[early] for name in ("monotonic_ns", "channel", "value")}
    write_trace(folder / "power.parquet", replace(trace, **columns))
    frame, (about,) = frame_of([folder])
    assert about["status"] == "failed"
    assert "allowed: a trace that covers the window" in about["reason"]
    assert frame.empty


def test_tables_figure_and_report_have_them(results: Path) -> None:
    for name in ("operators", "apis", "advice", "timelines"):
        assert (results / "tables" / f"{name}.md").is_file()
    assert (results / "figures" / "operators.svg").is_file()
    page = (results / "report" / "report.html").read_text()
    assert 'id="operators"' in page
    assert 'id="table-apis"' in page


def test_a_timeline_is_none_of_the_measured_runs(results: Path) -> None:
    runs = rows_of(results / "aggregate" / "runs.csv")
    assert len({(row["cell"], row["repetition"]) for row in runs}) == 3
    last = max(path.stat().st_mtime for path in results.glob("measure/*/*/run.json"))
    assert min(path.stat().st_mtime for path in results.glob("timelines/*/timeline.json")) > last


def test_its_package_is_verified_and_rebuilt(package: Path, tmp_path: Path) -> None:
    passes_its_own_tools(package, tmp_path)
    assert len(list((tmp_path / "unpacked").rglob("timelines/*/spans.parquet"))) == 3


def test_forged_joules_are_noticed(package: Path, tmp_path: Path) -> None:
    folder = unpack(package, tmp_path)
    path = folder / "data" / "results" / "told" / "operators" / "joules.csv"
    text = path.read_text()
    first = rows_of(path)[0]["energy_j"]
    path.write_text(text.replace(first, f"{2 * float(first):.6g}", 1))
    assert any("operators/joules.csv" in line for line in problems_of(folder))


@pytest.mark.parametrize("forged", ["7.0", "", "many"])
def test_forged_calls_in_which_the_host_waits_are_noticed(package: Path, tmp_path: Path, forged: str) -> None:
    folder = unpack(package, tmp_path)
    path = folder / "data" / "results" / "told" / "operators" / "timelines.csv"
    rows = rows_of(path)
    assert [row["host_reads_per_step"] for row in rows] == ["0.0", "0.0", ""], "its profile has none"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows([{**rows[0], "host_reads_per_step": forged}, *rows[1:]])
    assert any(f"{CELLS[0]}: host_reads_per_step is" in line for line in problems_of(folder))


def test_a_package_from_before_they_were_counted_has_no_such_problem(package: Path, tmp_path: Path) -> None:
    folder = unpack(package, tmp_path)
    path = folder / "data" / "results" / "told" / "operators" / "timelines.csv"
    rows = [{name: value for name, value in row.items() if name != "host_reads_per_step"} for row in rows_of(path)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    assert not any("host_reads_per_step" in line for line in problems_of(folder))


def test_nothing_is_done_again(checkout: Checkout, results: Path) -> None:
    assert "Nothing to be done" in checkout.snakemake("-n", "all", config=CONFIG).text


def test_a_timeline_whose_clock_was_set_is_told_in_the_end(checkout: Checkout, results: Path) -> None:
    path = results / "timelines" / CELLS[1] / "spans.parquet"
    kept = path.read_bytes()
    spans = read_spans(path)
    half = len(spans.start_ns) // 2
    later = np.arange(len(spans.start_ns)) >= half
    set_then = {name: getattr(spans, name) + 1e9 * later for name in ("start_ns", "end_ns")}
    write_spans(path, Spans(**{**vars(spans), **set_then}))
    try:
        answer = checkout.snakemake("all", "--forcerun", "operators", config=CONFIG)
    finally:
        path.write_bytes(kept)
    assert answer.code == 1, answer.text
    assert f"missing: operators of {CELLS[1]}: " in answer.text
    assert "framewatt: cells without joules by operator: 1; the report" in answer.text
    (row,) = (row for row in rows_of(results / "operators" / "timelines.csv") if row["cell"] == CELLS[1])
    assert "clock" in row["reason"]
    assert json.loads((results / "timelines" / CELLS[1] / "timeline.json").read_text())["status"] == "ok"
