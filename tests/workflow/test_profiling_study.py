"""A study that profiles its cells in every way, with stand-ins: joules by operator, operators alone, functions.

Tables, figures, call graphs, package, what a forged package gives away, and what is made again. One study has all
three, since its set-up and the rebuilding of its package take minutes.
"""

import csv
import json
import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stand_ins
import yaml
from checkout import Checkout
from package_tools import packed
from stand_ins import EXPORTED, LONGEST_S, LOOP_S, STEP_S, WINDOW_S
from stand_ins import INFERRED as INFER
from stand_ins import PROFILED as CELLS
from stand_ins import TRAINED as TRAIN

from framewatt.energy import windows
from framewatt.meters.trace_file import open_trace, write_trace
from framewatt.package.rebuild import rebuild
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of
from framewatt.profiling.operators import frame_of
from framewatt.runs.timelines import read_spans, write_spans
from framewatt.workloads.profilers import Spans

CONFIG = f"study=profiled {stand_ins.CONFIG}"
GAP_S = 30.0
"""Seconds without a reading that are tolerated here. Readings must be frequent to distinguish operators, and with 0.1 s
a busy machine would make windows invalid. The package is checked with the same number.
"""


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    """Write the rows of a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module", autouse=True)
def _tolerated_gap() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "_SHORTEST_GAP_S", GAP_S)
        yield


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    stand_ins.install(made)
    made.write_study("profiled", **stand_ins.profiled_study(made, training_step_s=0.002, gap_s=GAP_S))
    for profiler in (made.root / "src/framewatt/workloads").glob("*/profiler.py"):
        # The outer operator has most of a step, so that few readings distinguish it from the inner one.
        middle = {"(start_ns + end_ns) / 2": "0.1 * start_ns + 0.9 * end_ns"}
        made.edit(str(profiler.relative_to(made.root)), middle)
    return made


@pytest.fixture(scope="module")
def package(checkout: Checkout) -> Path:
    return packed(checkout, "profiled", stand_ins.CONFIG)


@pytest.fixture(scope="module")
def results(checkout: Checkout, package: Path) -> Path:
    return checkout.root / "results" / "profiled"


@pytest.fixture
def unpacked(package: Path, tmp_path: Path) -> Path:
    """The package, which a test may forge."""
    return unpack(package, tmp_path)


@pytest.fixture
def changing(checkout: Checkout, results: Path) -> Iterator[Checkout]:
    """The study with its results, which a test may change."""
    path = checkout.root / "config/studies/profiled.yaml"
    text = path.read_text()
    with checkout.put_back():
        yield checkout
    path.write_text(text)


def test_every_cell_is_told_by_operator_and_by_api(results: Path) -> None:
    about = rows_of(results / "operators" / "timelines.csv")
    assert [row["cell"] for row in about] == list(CELLS)
    assert {row["status"] for row in about} == {"ok"}, about
    joules = rows_of(results / "operators" / "joules.csv")
    for row in about:
        assert math.isfinite(float(row["clock_drift"]))
        for by in ("operator", "api"):
            part = [one for one in joules if (one["cell"], one["by"]) == (row["cell"], by)]
            assert part[-1]["name"] == "between operators"
            assert sum(float(one["share_percent"]) for one in part) == pytest.approx(100)


def test_a_window_that_is_longer_than_what_is_recorded_is_cut_and_the_other_pass_is_not(results: Path) -> None:
    folder = results / "timelines" / INFER
    passes = json.loads((folder / "timeline.json").read_text())["passes"]
    ends_ns = read_spans(folder / "spans.parquet").steps_ns[:, 1]
    window, longest_ns = passes["profiled"]["window"], round(LONGEST_S * 1e9)
    # It ends with the step in which the time was over.
    assert passes["profiled"]["units"]["count"] == 8 * len(ends_ns)
    assert window["end_monotonic_ns"] == ends_ns[-1]
    assert ends_ns[-2] <= window["start_monotonic_ns"] + longest_ns < ends_ns[-1]
    assert passes["plain"]["window"]["duration_s"] >= WINDOW_S


def test_a_trace_that_does_not_cover_the_window_gives_no_joules(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / INFER
    shutil.copytree(results / "timelines" / INFER, folder)
    trace = open_trace(folder / "power.parquet")
    window = json.loads((folder / "timeline.json").read_text())["passes"]["profiled"]["window"]
    early = trace.monotonic_ns < (window["start_monotonic_ns"] + window["end_monotonic_ns"]) / 2
    columns = {name: getattr(trace, name)[early] for name in ("monotonic_ns", "channel", "value")}
    write_trace(folder / "power.parquet", replace(trace, **columns))
    frame, (about,) = frame_of([folder])
    assert about["status"] == "failed"
    assert "Use a trace that covers the window" in about["reason"]
    assert frame.empty


def test_a_call_alone_is_compared_with_the_same_call_in_the_program(results: Path) -> None:
    rows = [row for row in rows_of(results / "operators" / "repeated.csv") if row["cell"] == INFER]
    assert [row["by"] for row in rows] == ["operator", "call"]
    (case,) = json.loads((results / "repeated" / INFER / "repeated.json").read_text())["cases"]
    loops = case["loops"]
    assert len(loops) == 3
    steps_s = np.diff(read_spans(results / "timelines" / INFER / "spans.parquet").steps_ns, axis=1) * 1e-9
    assert all(loop["duration_s"] >= LOOP_S for loop in loops)
    for row in rows:
        assert row["operator"] == "convolution"
        assert float(row["covered_percent"]) == 100
        assert float(row["repeated_s"]) >= STEP_S
        assert min(loop["duration_s"] / loop["calls"] for loop in loops) <= float(row["repeated_s"]) * (1 + 1e-6)
        assert max(loop["duration_s"] / loop["calls"] for loop in loops) >= float(row["repeated_s"]) * (1 - 1e-6)
        # The inner operator has the last tenth of a step; a call takes as long as the steps that were recorded.
        assert float(row["joined_s"]) >= 0.9 * STEP_S * (1 - 1e-3)
        assert 0.9 * steps_s.min() * (1 - 1e-3) <= float(row["joined_s"]) <= steps_s.max() * (1 + 1e-3)
        assert float(row["ratio_low"]) < float(row["ratio"]) < float(row["ratio_high"])
        assert float(row["ratio"]) == pytest.approx(float(row["joined_j"]) / float(row["repeated_j"]), rel=1e-3)


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (EXPORTED, "cannot be repeated: its argument is unknown"),
        (TRAIN, "cannot be repeated: a stand-in trains as a whole"),
    ],
)
def test_what_cannot_be_repeated_is_a_row_with_its_reason(results: Path, cell: str, reason: str) -> None:
    rows = [row for row in rows_of(results / "tables" / "repeated.csv") if row["cell"] == cell]
    assert {row["reason"] for row in rows} == {reason}
    assert {row["repeated_j"] for row in rows} == {""}
    assert {float(row["covered_percent"]) for row in rows} == {0}


def test_every_cell_has_a_profile_a_row_of_its_cost_and_a_call_graph(results: Path) -> None:
    profiles = rows_of(results / "profile" / "profiles.csv")
    assert len(profiles) == 3
    assert {row["status"] for row in profiles} == {"ok"}
    cost = rows_of(results / "tables" / "profiler_cost.csv")
    assert {row["cell"] for row in cost} == {row["cell"] for row in profiles}
    for row in cost:
        record = json.loads((results / "profiled" / row["cell"] / "profile.json").read_text())
        passes = (record["passes"][name] for name in ("profiled", "plain"))
        # A window lasts for a time, so that the two need not have as many samples.
        profiled_s, plain_s = (one["windows_s"] / one["units"]["count"] for one in passes)
        assert float(row["windows_ratio"]) == pytest.approx(profiled_s / plain_s, rel=1e-5)
    graphs = rows_of(results / "figures" / "callgraphs.csv")
    assert len(graphs) == 3
    drawn = [row for row in graphs if row["callgraph"]]
    assert all((results / "figures" / row["callgraph"]).is_file() for row in drawn)


def test_tables_of_functions_are_of_engine_and_phase(results: Path) -> None:
    names = {path.stem for path in results.glob("tables/functions_*.csv")}
    assert names == {
        *("functions_torch_train", "functions_torch_infer", "functions_onnxruntime_infer"),
        "functions_unnamed",
    }
    listed = rows_of(results / "tables" / "functions_torch_train.csv")
    assert listed
    assert all(float(row["share_percent"]) > 1 for row in listed)


def test_tables_figure_and_report_have_them(results: Path) -> None:
    for name in ("operators", "apis", "advice", "timelines"):
        assert (results / "tables" / f"{name}.md").is_file()
    assert (results / "figures" / "operators.svg").is_file()
    page = (results / "report" / "report.html").read_text()
    for name in ("operators", "table-apis", "table-repeated", "profiles", "table-functions_onnxruntime_infer"):
        assert f'id="{name}"' in page


@pytest.mark.parametrize("profiles", ["timelines/*/timeline.json", "profiled/*/profile.json"])
def test_what_is_profiled_is_none_of_the_measured_runs(results: Path, profiles: str) -> None:
    runs = rows_of(results / "aggregate" / "runs.csv")
    assert len({(row["cell"], row["repetition"]) for row in runs}) == 3
    last = max(path.stat().st_mtime for path in results.glob("measure/*/*/run.json"))
    assert min(path.stat().st_mtime for path in results.glob(profiles)) > last


def test_its_package_is_verified_and_has_no_dump(package: Path, tmp_path: Path) -> None:
    folder = unpack(package, tmp_path / "unpacked")
    assert list(problems_of(folder)) == []
    assert not list(folder.rglob("*.prof"))
    for name in ("profile.json", "timelines/*/spans.parquet", "repeated/*/repeated.json"):
        assert len(list(folder.rglob(name))) == 3


@pytest.mark.thorough  # Packages of other studies are rebuilt in make test; this one has tables by operator, too.
def test_its_package_is_rebuilt(package: Path, checkout: Checkout, tmp_path: Path) -> None:
    assert rebuild(package, tmp_path / "again", checkout.root) == []


def test_forged_joules_are_noticed(unpacked: Path) -> None:
    path = unpacked / "data" / "results" / "profiled" / "operators" / "joules.csv"
    first = rows_of(path)[0]["energy_j"]
    path.write_text(path.read_text().replace(first, f"{2 * float(first):.6g}", 1))
    assert any("operators/joules.csv" in line for line in problems_of(unpacked))


@pytest.mark.parametrize("forged", ["7.0", "", "many"])
def test_forged_calls_in_which_the_host_waits_are_noticed(unpacked: Path, forged: str) -> None:
    path = unpacked / "data" / "results" / "profiled" / "operators" / "timelines.csv"
    rows = rows_of(path)
    assert [row["host_reads_per_step"] for row in rows] == ["0.0", "0.0", ""], "its profile has none"
    write_rows(path, [{**rows[0], "host_reads_per_step": forged}, *rows[1:]])
    assert any(f"{CELLS[0]}: host_reads_per_step is" in line for line in problems_of(unpacked))


def test_a_package_from_before_they_were_counted_has_no_such_problem(unpacked: Path) -> None:
    path = unpacked / "data" / "results" / "profiled" / "operators" / "timelines.csv"
    rows = rows_of(path)
    write_rows(path, [{name: value for name, value in row.items() if name != "host_reads_per_step"} for row in rows])
    assert not any("host_reads_per_step" in line for line in problems_of(unpacked))


def test_a_forged_comparison_is_noticed(unpacked: Path) -> None:
    results = unpacked / "data" / "results" / "profiled"
    record = results / "repeated" / INFER / "repeated.json"
    text = record.read_text()
    forged = json.loads(text)
    domain = next(iter(forged["cases"][0]["loops"][0]["domains"].values()))
    domain["energy_gross_j"] *= 1.1
    record.write_text(json.dumps(forged))
    assert any("operators/repeated.csv" in line for line in problems_of(unpacked))
    record.write_text(text)
    table = results / "operators" / "repeated.csv"
    first = next(row["repeated_j"] for row in rows_of(table) if row["repeated_j"])
    table.write_text(table.read_text().replace(first, f"{1.5 * float(first):.6g}"))
    assert any("repeated_j is" in line for line in problems_of(unpacked))


FORGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another dump": (lambda one: one.update(dump_sha256="0" * 64), "dump_sha256: profile/profiles.csv has"),
    "quicker than its functions": (
        lambda one: one["passes"]["profiled"].update(windows_s=1e-6),
        "passes: the profiled one took 1e-06 s, its functions",
    ),
    "other work": (lambda one: one.update(job_sha256="0" * 64), "made under other settings than the study file's"),
    "another cell": (lambda one: one.update(cell_id="x"), "cell_id: it states x"),
    "failed": (lambda one: one.update(status="failed"), "it states failed, and there is a profile"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_records_are_noticed(unpacked: Path, name: str) -> None:
    change, message = FORGED[name]
    path = unpacked / "data" / "results" / "profiled" / "profiled" / TRAIN / "profile.json"
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    assert any(message in line for line in problems_of(unpacked))


def test_nothing_is_done_again_and_other_work_is(changing: Checkout) -> None:
    assert "Nothing to be done" in changing.snakemake("-n", "all", config=CONFIG).text
    path = changing.root / "config/studies/profiled.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "profile": "program"}))
    again = changing.snakemake("-n", "all", config=CONFIG).text.replace(",", " ").split()
    assert "profile_run" in again
    assert not {"measure", "timeline"} & set(again)


def test_a_dump_that_was_changed_is_not_opened(changing: Checkout, results: Path) -> None:
    (results / "profiled" / TRAIN / "profile.prof").write_bytes(b"anything")
    answer = changing.snakemake("results/profiled/profile/profiles.csv", "--forcerun", "own_profile", config=CONFIG)
    assert answer.code == 0, answer.text
    assert any(line.startswith("profiled: 1 of 3 dumps that cannot be read") for line in answer.text.splitlines())
    (row,) = (row for row in rows_of(results / "profile" / "profiles.csv") if row["cell"] == TRAIN)
    assert row["status"] == "failed"
    assert "is not known, and marshal data" in row["reason"]


def test_a_cell_without_a_profile_is_told_in_the_end(changing: Checkout, results: Path) -> None:
    """After all that can be made is made: the report has the reason."""
    worker = changing.root / "src" / "framewatt" / "runs" / "profiled_worker.py"
    whole = worker.read_text()
    worker.write_text(whole.replace("    profiler = cProfile.Profile()\n", '    sys.exit("planted failure")\n', 1))
    for folder in (results / "profiled").iterdir():
        (folder / "profile.json").unlink()
    try:
        answer = changing.snakemake("all", config=CONFIG)
    finally:
        worker.write_text(whole)
    assert answer.code == 1, answer.text
    assert "framewatt: cells without a profile: 3; the report lists them" in answer.text
    assert f"missing: profile of {TRAIN}: " in answer.text
    assert "planted failure" in (results / "report" / "report.html").read_text()


def test_a_timeline_whose_clock_was_set_is_told_in_the_end(changing: Checkout, results: Path) -> None:
    path = results / "timelines" / INFER / "spans.parquet"
    spans = read_spans(path)
    later = np.arange(len(spans.start_ns)) >= len(spans.start_ns) // 2
    set_then = {name: getattr(spans, name) + 1e9 * later for name in ("start_ns", "end_ns")}
    write_spans(path, Spans(**{**vars(spans), **set_then}))
    answer = changing.snakemake("all", "--forcerun", "operators", config=CONFIG)
    assert answer.code == 1, answer.text
    assert f"missing: operators of {INFER}: " in answer.text
    assert "framewatt: cells without joules by operator: 1; the report" in answer.text
    (row,) = (row for row in rows_of(results / "operators" / "timelines.csv") if row["cell"] == INFER)
    assert "clock" in row["reason"]
    assert json.loads((results / "timelines" / INFER / "timeline.json").read_text())["status"] == "ok"
