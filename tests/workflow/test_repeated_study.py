"""A study that repeats operators alone, with stand-ins: both ways side by side, in tables, report and package."""

import csv
import json
from pathlib import Path

import pytest
import stand_ins
from checkout import Checkout
from package_tools import packed, passes_its_own_tools

from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of

CROSS = {"dataset": ["digits"], "workload": ["mobilenetv2"], "batch_size": [8]}
STUDY = {
    "title": "Do both ways agree",
    "factors": [
        {**CROSS, "phase": ["train"], "runtime": ["torch"]},
        {**CROSS, "phase": ["infer"], "runtime": ["torch", "torch2onnx"]},
    ],
    "operators": True,
    "repeated_operators": 2,
}
TRAIN, INFER, EXPORTED = (
    "train-mobilenetv2-digits-torch-b8",
    *(f"infer-mobilenetv2-digits-{one}-b8" for one in ("torch", "torch2onnx-cpu")),
)
CONFIG = f"study=alone {stand_ins.CONFIG}"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    stand_ins.install(made)
    source = made.root / "src" / "framewatt"
    for engine in (source / "workloads").glob("*/engine.py"):
        slow = '        __import__("time").sleep(0.02)\n        (inputs,), labels = batch\n'
        slow_answer = '        __import__("time").sleep(0.02)\n        return self.answers(batch[0])\n'
        text = engine.read_text().replace("        (inputs,), labels = batch\n", slow)
        engine.write_text(text.replace("        return self.answers(batch[0])\n", slow_answer))
    unknown = source / "workloads" / "onnxruntime" / "_repeater.py"
    unknown.write_text(unknown.read_text().replace("= 0.02", "= None"))
    for name, old, new in (
        ("timeline_worker.py", "LONGEST_S = 10.0", "LONGEST_S = 0.6"),
        ("repeated.py", "LOOP_S = 1.0", "LOOP_S = 0.3"),
    ):
        path = source / "runs" / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    made.write_study("alone", **{**stand_ins.small(STUDY), "window": {"warm_up_batches": 1, "minimum_s": 0.8}})
    return made


@pytest.fixture(scope="module")
def package(checkout: Checkout) -> Path:
    return packed(checkout, "alone", stand_ins.CONFIG)


@pytest.fixture(scope="module")
def results(checkout: Checkout, package: Path) -> Path:
    return checkout.root / "results" / "alone"


def test_a_call_alone_takes_what_it_takes_in_the_program(results: Path) -> None:
    rows = [row for row in rows_of(results / "operators" / "repeated.csv") if row["cell"] == INFER]
    assert [row["by"] for row in rows] == ["operator", "call"]
    for row in rows:
        assert row["operator"] == "convolution"
        assert float(row["covered_percent"]) == 100
        assert float(row["repeated_s"]) == pytest.approx(0.02, rel=0.1)
        assert float(row["joined_s"]) == pytest.approx(0.02, rel=0.3)
        assert float(row["ratio_low"]) < float(row["ratio"]) < float(row["ratio_high"])
        assert float(row["ratio"]) == pytest.approx(float(row["joined_j"]) / float(row["repeated_j"]), rel=1e-3)
    (case,) = json.loads((results / "repeated" / INFER / "repeated.json").read_text())["cases"]
    assert len(case["loops"]) == 3
    assert {round(loop["duration_s"], 1) for loop in case["loops"]} == {0.3}


@pytest.mark.parametrize(
    ("cell", "operators", "reason"),
    [
        (EXPORTED, {"convolution"}, "cannot be repeated: its argument is unknown"),
        # Its epochs are too short for any operator to be told apart.
        (TRAIN, {"all operators"}, "cannot be repeated: a stand-in trains as a whole"),
    ],
)
def test_what_cannot_be_repeated_is_a_row_with_its_reason(
    results: Path, cell: str, operators: set[str], reason: str
) -> None:
    rows = [row for row in rows_of(results / "tables" / "repeated.csv") if row["cell"] == cell]
    assert {row["operator"] for row in rows} == operators
    assert {row["reason"] for row in rows} == {reason}
    assert {row["repeated_j"] for row in rows} == {""}
    assert {float(row["covered_percent"]) for row in rows} == {0}


def test_report_and_package_have_them(results: Path, package: Path, tmp_path: Path) -> None:
    assert 'id="table-repeated"' in (results / "report" / "report.html").read_text()
    passes_its_own_tools(package, tmp_path)
    assert len(list((tmp_path / "unpacked").rglob("repeated/*/repeated.json"))) == 3


def test_a_forged_comparison_is_noticed(package: Path, tmp_path: Path) -> None:
    folder = unpack(package, tmp_path)
    results = folder / "data" / "results" / "alone"
    record = results / "repeated" / INFER / "repeated.json"
    text = record.read_text()
    told = json.loads(text)
    loop = told["cases"][0]["loops"][0]
    domain = next(iter(loop["domains"].values()))
    domain["energy_gross_j"] *= 1.1
    record.write_text(json.dumps(told))
    assert any("operators/repeated.csv" in line for line in problems_of(folder))
    record.write_text(text)
    table = results / "operators" / "repeated.csv"
    first = next(row["repeated_j"] for row in rows_of(table) if row["repeated_j"])
    table.write_text(table.read_text().replace(first, f"{1.5 * float(first):.6g}"))
    assert any("repeated_j is" in line for line in problems_of(folder))


def test_nothing_is_done_again(checkout: Checkout, results: Path) -> None:
    assert "Nothing to be done" in checkout.snakemake("-n", "all", config=CONFIG).text
