"""Logs that other tools took become a report and a package: docs/your-measurements.md, run as it stands."""

import itertools
import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
import stand_ins
import yaml
from bs4 import BeautifulSoup
from checkout import ROOT, Answer, Checkout

from framewatt.package.rebuild import rebuild
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of
from framewatt.runs.records import read_run

DOCUMENT = (ROOT / "docs" / "your-measurements.md").read_text()
STUDY = re.search(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)[1]
SECONDS = 30
WATTS = {"small": 50.0, "middle": 80.0, "large": 120.0}
RUNS = {"small": 6, "middle": 5, "large": 6}


def log(watts: float, run: int) -> list[str]:
    """Lines of nvidia-smi: constant power over SECONDS, one watt more from run to run."""
    start = datetime(2026, 1, 1, 12, run, tzinfo=UTC)
    stamps = ((start + timedelta(seconds=s)).strftime("%Y/%m/%d %H:%M:%S.%f")[:-3] for s in range(SECONDS + 1))
    return ["timestamp, power.draw [W], utilization.gpu [%], memory.used [MiB]"] + [
        f"{stamp}, {watts + run:.2f} W, 90 %, 1024 MiB" for stamp in stamps
    ]


def write_logs(folder: Path) -> None:
    """Three groups; among them one log with a reading that failed, one cut short, one that is damaged."""
    for model, watts in WATTS.items():
        for run in range(1, RUNS[model] + 1):
            lines = log(watts, run)
            if (model, run) == ("small", 2):
                lines[10] = re.sub(r"\d+\.\d\d W", "[N/A]", lines[10])
            if (model, run) == ("middle", 3):
                lines[7] = lines[7].replace(".00 W", ",00 W")
            text = "\n".join(lines) + "\n"
            if (model, run) == ("large", 4):
                text = text[:-25]
            path = folder / model / f"gpu-power-{run}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (folder / "large" / "gpu-power-5.csv").unlink()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    (made.root / "config" / "studies" / "my-gpu.yaml").write_text(STUDY)
    write_logs(made.root / "my-logs")
    return made


@pytest.fixture(scope="module")
def answer(checkout: Checkout) -> Answer:
    return checkout.snakemake("all", "archive", config="study=my-gpu")


@pytest.fixture(scope="module")
def results(checkout: Checkout, answer: Answer) -> Path:
    assert answer.code != 0, "two of its runs cannot be read"
    (line,) = answer.lines("framewatt: ")
    assert "15 of 17 planned runs count" in line
    assert "leave those runs out with a reason (files.leave_out in the study)" in line
    return checkout.root / "results" / "my-gpu"


@pytest.fixture(scope="module")
def records(results: Path) -> dict[tuple[str, int], dict]:
    runs = [read_run(path) for path in results.glob("measure/*/*/run.json")]
    return {(run["cell_id"], run["repetition"]): run for run in runs}


def test_the_document_has_ten_lines_of_yaml() -> None:
    assert len(STUDY.strip().splitlines()) == 10
    assert yaml.safe_load(STUDY)["source"] == "files"


def test_every_log_is_a_run_and_what_is_not_there_is_one_too(records: dict) -> None:
    assert len(records) == sum(RUNS.values())
    failed = {key: run["reasons"] for key, run in records.items() if run["status"] == "failed"}
    assert failed == {
        ("large", 5): ["large/gpu-power-5.csv: no such file"],
        ("middle", 3): [
            "middle/gpu-power-3.csv: line 8: found 5 fields (a comma as decimal mark?); "
            "allowed: 4, as in the header or first line"
        ],
    }


def test_energy_is_power_over_the_log(records: dict) -> None:
    run = records["small", 1]
    assert run["windows"]["process"]["domains"]["gpu:0"]["energy_gross_j"] == pytest.approx(51 * SECONDS)
    assert run["files"][0]["path"] == "small/gpu-power-1.csv"
    assert run["windows"]["process"]["start_utc"] == "2026-01-01T12:01:00.000000+00:00"
    assert run["windows"]["process"]["gauges"]["gpu:0"]["utilization_percent"] == {"mean": 90, "max": 90}


def test_what_is_unknown_is_null_with_a_reason(records: dict) -> None:
    run = records["small", 1]
    energy = run["windows"]["process"]["domains"]["gpu:0"]
    assert energy["energy_net_j"] is None
    assert "no idle power, so no net energy" in energy["flags"]
    for field in ("units", "device", "threads", "workload", "sampler"):
        assert run[field] is None
        assert run["unknown"][field]


def test_a_reading_that_failed_is_bridged_and_a_line_cut_short_left_out(records: dict) -> None:
    bridged = records["small", 2]["windows"]["process"]["domains"]["gpu:0"]
    assert bridged["failed_reads"] == 1
    assert bridged["energy_gross_j"] == pytest.approx(52 * SECONDS)
    cut = records["large", 4]
    assert f"line {SECONDS + 2} of gpu-power-4.csv is cut short and left out" in cut["flags"]
    assert cut["windows"]["process"]["domains"]["gpu:0"]["energy_gross_j"] == pytest.approx(124 * (SECONDS - 1))


def test_three_groups_are_compared_by_the_energy_of_a_run(results: Path) -> None:
    compared = pd.read_csv(results / "statistics" / "comparisons.csv")
    energy = compared[compared["quantity"] == "energy_gross_j"]
    assert set(zip(energy["cell_a"], energy["cell_b"], strict=True)) == {
        ("large", "middle"),
        ("large", "small"),
        ("middle", "small"),
    }
    assert set(energy["test"]) == {"Welch's t on logarithms"}
    assert set(energy["beside_test"]) == {"mann-whitney rank-sum, exact"}
    assert pd.read_csv(results / "statistics" / "omnibus.csv").empty, "nobody asked for a second procedure"
    answers = pd.read_csv(results / "statistics" / "answers.csv").set_index("quantity")
    assert answers.loc["energy_gross_j", ["best", "settled", "next"]].tolist() == ["small", True, "middle"]
    assert set(json.loads(answers.loc["energy_gross_j", "ratios"])) == {"middle", "large"}


def test_the_report_names_file_and_line(results: Path) -> None:
    page = BeautifulSoup((results / "report" / "report.html").read_text(), "html.parser")
    problems = page.find(id="problems").get_text(" ")
    assert "middle/gpu-power-3.csv: line 8" in problems
    assert "large/gpu-power-5.csv: no such file" in problems
    head = page.find(class_="head").get_text(" ")
    assert "In the runs that were read: small takes the least energy for one run" in head
    assert "15 of 17 planned runs count" in page.find(class_="head").get_text(" ")


def test_the_package_is_whole_and_rebuilds_without_the_logs(results: Path, tmp_path: Path) -> None:
    (package,) = (results / "archive").glob("*.zip")
    folder = unpack(package, tmp_path / "unpacked")
    assert list(problems_of(folder)) == []
    assert not list(folder.rglob("gpu-power-*.csv"))
    assert (
        len(json.loads((folder / "data/results/my-gpu/measure/small/1/run.json").read_text())["files"][0]["sha256"])
        == 64
    )
    assert rebuild(package, tmp_path / "again", ROOT) == []


def test_runs_are_left_out_by_a_rule_and_the_page_says_which_and_why(checkout: Checkout) -> None:
    study = yaml.safe_load(STUDY) | {"study": "without"}
    study["files"]["leave_out"] = [
        {"where": {"model": "middle"}, "repetitions": [3], "reason": "the disk was full"},
        {"where": {"model": "large"}, "repetitions": [5], "reason": "never taken"},
        {"where": {"model": "small"}, "reason": "the wrong GPU"},
    ]
    path = checkout.root / "config" / "studies" / "without.yaml"
    path.write_text(yaml.safe_dump(study))
    stand_ins.draw_nothing(checkout)
    try:
        told = checkout.snakemake("report", config="study=without")
    finally:
        shutil.copy2(ROOT / "scripts/figures.py", checkout.root / "scripts")
    assert told.code == 0, told.text
    assert "8 runs left out by the study; none is left of small" in told.text
    results = checkout.root / "results" / "without"
    assert not list(results.glob("measure/small*"))
    page = BeautifulSoup((results / "report" / "report.html").read_text(), "html.parser")
    assert "9 of 9 planned runs count" in page.find(class_="head").get_text(" ")
    assert "Not compared, since none of its runs counts: small." in page.find(class_="head").get_text(" ")
    rows = [[cell.text for cell in row.select("td")] for row in page.select("#table-left-out-runs tbody tr")]
    assert ["large", "5", "none", "never taken"] in rows
    assert ["middle", "3", "middle/gpu-power-3.csv", "the disk was full"] in rows
    assert len(rows) == 8
    answers = pd.read_csv(results / "statistics" / "answers.csv")
    assert set(answers["without"]) == {"small"}
    study["files"]["leave_out"][0]["where"] = {"model": "midle"}
    path.write_text(yaml.safe_dump(study))
    (line,) = checkout.snakemake("report", config="study=without").lines("framewatt: ")
    assert "files.leave_out.0.where.model: 'midle' is not a level of model. Use one of large, middle, small" in line


def test_a_pattern_that_matches_nothing_is_one_line(checkout: Checkout) -> None:
    study = yaml.safe_load(STUDY) | {"study": "none"}
    study["files"]["logs"][0]["pattern"] = "{model}/cpu-{run}.csv"
    (checkout.root / "config" / "studies" / "none.yaml").write_text(yaml.safe_dump(study))
    told = checkout.snakemake(config="study=none")
    assert told.code != 0
    (line,) = told.lines("framewatt: ")
    assert "none.yaml: files.logs.0.pattern: '{model}/cpu-{run}.csv' matches no file" in line


def test_a_study_whose_files_the_configuration_names_is_made_beside_another(checkout: Checkout, tmp_path: Path) -> None:
    folder = tmp_path / "measurements_inference"
    folder.mkdir()
    perf = "1.00 Joules power/energy-pkg/\n2.00 Joules power/energy-ram/\n10.0 seconds time elapsed\n"
    for run, framework in itertools.product((1, 2), ("PyTorch", "TensorFlow")):
        (folder / f"ncf_{framework}_perf_{run}.txt").write_text(perf)
        (folder / f"ncf_{framework}_nvidia_smi_{run}.txt").write_text("5.00 W\n" * 11)
    runs = "results/georgiou2022-published/aggregate/runs.csv"
    told = checkout.snakemake(runs, config=f"study=my-gpu published_georgiou2022={tmp_path}")
    assert told.code == 0, told.text
    frame = pd.read_csv(checkout.root / runs)
    assert set(frame["study"]) == {"georgiou2022-published"}
    assert frame.loc[frame["domain"] == "total", "energy_gross_j"].dropna().tolist() == pytest.approx([53.0] * 4)
    plan = json.loads((checkout.root / "results/georgiou2022-published/plan/plan.json").read_text())
    assert plan["study"] == "georgiou2022-published"
