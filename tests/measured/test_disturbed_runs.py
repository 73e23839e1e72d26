"""A real study beside a real neighbour: the run that it disturbs is repeated, and the package tells of both tries."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from checkout import Checkout
from failing_study import MODEL, QUICK, STUDY
from stand_ins import draw_nothing

from framewatt.runs.records import read_run

VERIFY = """
import sys
from pathlib import Path
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of
print(list(problems_of(unpack(Path(sys.argv[1]), Path(sys.argv[2])))))
"""


# Its neighbour and its study keep both processors at work, so that a process that waits is late by its own doing.
@pytest.mark.measured(twin="tests/runs/test_repeating.py::test_a_disturbed_run_is_repeated_once_and_no_more", late_s=1)
def test_a_run_that_others_disturb_is_repeated_once_in_the_same_call(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.share_environment("mxnet/cpu")
    checkout.add_model("mxnet", "tiny", MODEL)
    draw_nothing(checkout)
    # Epochs of some tenths of a second: shorter ones are no measurement on a machine that is at work.
    cross = {"phase": ["train"], "workload": ["tiny"], "dataset": ["digits"], "runtime": ["mxnet"], "batch_size": [8]}
    longer = {"training": {"epochs": 4}, "timeout_s": 120, "disturbance": "repeat"}
    checkout.write_study("faulty", factors=[cross], **{**QUICK, **longer})
    neighbour = subprocess.Popen(["nice", "-n", "5", sys.executable, "-c", "while True: pass"])
    try:
        answer = checkout.snakemake("all", "archive", config=STUDY)
    finally:
        neighbour.kill()
        neighbour.wait()
    assert answer.code == 0, answer.text
    (path,) = (checkout.root / "results/faulty/measure").glob("*/1/run.json")
    repeated = read_run(path)
    assert (repeated["status"], repeated["valid"], repeated["attempt"]) == ("ok", True, 2)
    assert any(cause.startswith("other work took") for cause in repeated["first_try"]["disturbed"])
    chain = (checkout.root / "results/faulty/measure/chain.jsonl").read_text().splitlines()
    first, second = map(json.loads, chain)
    assert [first["attempt"], second["attempt"]] == [1, 2]
    assert first["sha256"]["run.json"] == repeated["first_try"]["run_sha256"]
    assert any(flag.startswith("repeated, since the first try was disturbed") for flag in repeated["flags"])
    page = BeautifulSoup((checkout.root / "results/faulty/report/report.html").read_text(), "html.parser")
    assert "Others disturbed 1 of the 1 run: other work in 1" in page.select_one("header").text
    assert "Nothing to be done" in checkout.snakemake(config=STUDY).text
    (package,) = (checkout.root / "results/faulty/archive").glob("*.zip")
    # Only the checkout knows its model.
    verify = [sys.executable, "-c", VERIFY, str(package), str(checkout.root / "out")]
    src = {"PYTHONPATH": str(checkout.root / "src")}
    assert subprocess.run(verify, capture_output=True, text=True, check=True, env=src).stdout == "[]\n"
