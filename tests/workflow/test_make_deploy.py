"""`make deploy` on a real ONNX file: from the file to a ranked table, within the minutes that were given."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from checkout import Answer, Checkout, environment, python_of

from framewatt.base.files import read_json
from framewatt.runs.records import read_run

MAKE_MODEL = """
import numpy as np, onnx
from onnx import TensorProto, helper, numpy_helper
weights = np.random.default_rng(0).standard_normal((64, 10)).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("Flatten", ["image"], ["flat"]), helper.make_node("MatMul", ["flat", "weights"], ["scores"])],
    "digits",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, "width"])],
    [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", 10])],
    [numpy_helper.from_array(weights, "weights")],
)
opsets = [helper.make_opsetid("", 17)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
onnx.save(model, "my digits.onnx")
onnx.save(model, "apart.onnx", save_as_external_data=True, size_threshold=0)
"""
GIVEN = ("--model", "my digits.onnx", "--axes", "width=8", "--batch", "1,16", "--providers", "cpu,openvino")
MINUTES = "0.1"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    for name in ("onnxruntime/cpu", "onnxruntime/openvino"):
        made.share_environment(name)
    changes = {
        "_WINDOW_S, _IDLE_S = 1, 5": "_WINDOW_S, _IDLE_S = 0.2, 1",
        # Readings are rare, see checkout.READ_RARELY.
        '"fallback": "estimate"}': '"fallback": "estimate", "period_s": 5}',
        # Nor is any run set aside for what goes on beside this test.
        '"cool_down": {"rest_s": 0},': '"cool_down": {"rest_s": 0}, "disturbance": "flag",',
    }
    made.edit("src/framewatt/deploying/study_file.py", changes)
    subprocess.run([python_of("onnxruntime/cpu"), "-c", MAKE_MODEL], cwd=made.root, check=True)
    return made


def deploy(checkout: Checkout, *words: str) -> Answer:
    """Call the script as the Makefile does."""
    lock = {"FRAMEWATT_LOCK_FOLDER": str(checkout.root), "PYTHONPATH": "src"}
    done = subprocess.run(
        [sys.executable, "-P", "scripts/deploy.py", *words],
        cwd=checkout.root,
        env={**environment(), **lock, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Answer(done.returncode, done.stdout)


@pytest.fixture(scope="module")
def answer(checkout: Checkout) -> Answer:
    return deploy(checkout, *GIVEN, "--minutes", MINUTES)


@pytest.fixture(scope="module")
def results(checkout: Checkout, answer: Answer) -> Path:
    assert answer.code == 0, answer.text
    return checkout.root / "results" / "deploy-my-digits"


def test_the_table_ranks_every_choice_by_the_energy_of_the_statistics(results: Path, answer: Answer) -> None:
    lines = answer.text.splitlines()
    header = next(
        number for number, line in enumerate(lines) if re.match(r"\s+choice\s+energy\s+times the least", line)
    )
    rows = lines[header + 1 : header + 5]
    choices = pd.read_csv(results / "statistics" / "deploy.csv").sort_values("energy_ratio")
    expected = [f"onnx, {row.provider}, batch {row.batch_size}" for row in choices.itertuples()]
    assert [name for row in rows for name in expected if f" {name} " in row] == expected
    assert [row.split()[0] in ("best", "=") for row in rows] == [
        verdict in ("least", "not told apart") for verdict in choices["energy_verdict"]
    ]
    assert all(re.search(r"\d (MB|GB)\s+\d+$", row.replace("\N{NO-BREAK SPACE}", " ")) for row in rows), rows
    assert "(est.)" in rows[0] or "estimated" in rows[0]


def test_the_sentence_is_the_pages(results: Path, answer: Answer) -> None:
    page = BeautifulSoup((results / "report" / "report.html").read_text(), "html.parser")
    lead = page.select_one(".head").get_text()
    (said,) = [line for line in answer.text.splitlines() if line.startswith(("onnx/", "Not settled between"))]
    assert said in lead
    assert answer.text.splitlines()[-1] == "page: results/deploy-my-digits/report/report.html"
    assert "Energy is ESTIMATED from processor time, not measured" in answer.text
    assert "Not judged: the study names no metric, so accuracy is unknown." in answer.text


def test_no_block_began_that_would_have_ended_after_the_minutes(results: Path) -> None:
    stopping = read_json(results / "stopping" / "stopping.json")
    assert stopping["blocks"] >= 3
    assert stopping["blocks"] == 3 or stopping["minutes"] <= float(MINUTES)
    records = [read_run(path) for path in results.glob("measure/*/*/run.json")]
    assert len(records) == 4 * stopping["blocks"]
    assert all(record["workload"]["peak_memory_b"] > 20e6 for record in records)


def test_the_study_that_it_wrote_is_one_like_any_other(checkout: Checkout, results: Path) -> None:
    study = yaml.safe_load((checkout.root / "deploy" / "my_digits.yaml").read_text())
    assert study["models"]["my_digits"]["inputs"] == [{"name": "image", "shape": [1, 8, 8], "type": "float32"}]
    again = checkout.snakemake("-n", config="study=deploy/my_digits.yaml")
    assert again.code == 0, again.text
    assert "Nothing to be done" in again.text


def test_asking_again_measures_nothing_twice(checkout: Checkout, results: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in results.glob("measure/*/*/run.json")}
    assert deploy(checkout, *GIVEN, "--minutes", MINUTES).code == 0
    assert before == {path: path.stat().st_mtime_ns for path in results.glob("measure/*/*/run.json")}


def test_an_axis_without_a_size_is_asked_for_before_anything_is_measured(checkout: Checkout) -> None:
    found = deploy(checkout, "--model", "my digits.onnx", "--study", "other")
    assert found.code != 0
    assert found.text.splitlines()[-1] == (
        "framewatt: my digits.onnx: input image: the size of its axis width is open. Use AXES=width=…, or "
        "DATA=samples.npz."
    )
    assert not (checkout.root / "deploy" / "other.yaml").exists()


def test_a_file_that_is_no_model_is_refused_in_one_line(checkout: Checkout) -> None:
    (checkout.root / "bad.onnx").write_bytes(b"\x08\x07no model")
    for name, told in (
        ("bad.onnx", "bad.onnx is not an ONNX model"),
        ("apart.onnx", "apart.onnx has weights in other files. Write one file"),
    ):
        found = deploy(checkout, "--model", name)
        assert found.code != 0
        assert found.text.splitlines()[-1].startswith(f"framewatt: {told}")
