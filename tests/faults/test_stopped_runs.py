"""A study that is stopped in the middle, by the keys of a terminal, and goes on by the same command."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from checkout import Checkout
from failing_study import FACTORS, FRAMES, QUICK, STUDY, plant, record, study_in


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return study_in(tmp_path)


def _until(path: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until a file is there, which a call that goes on makes."""
    while not path.exists():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.1)


def _position(checkout: Checkout, batch_size: int) -> int:
    """Return the place of a run in the order, which is planned before anything is measured."""
    order = json.loads((checkout.root / "results/faulty/plan/plan.json").read_text())["order"]
    return next(entry["position"] for entry in order if entry["cell"].endswith(f"-b{batch_size}"))


def test_stopping_in_the_middle_loses_no_finished_run(checkout: Checkout) -> None:
    plant(checkout, {16: "hang"})
    process = checkout.start(FRAMES, config=STUDY)
    _until(checkout.root / "hangs", process)
    position = _position(checkout, 16)
    # What a terminal does at Ctrl-C: the signal goes to the whole foreground group.
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate()
    assert process.returncode != 0
    assert f"framewatt: stopped; the {position - 1} complete runs of study faulty stay; the same command" in said
    assert not [word for word in ("RuleException", "CalledProcessError", "Traceback", "WorkflowError") if word in said]
    finished = {path: path.stat().st_mtime_ns for path in checkout.root.glob("results/faulty/measure/*/*/run.json")}
    assert len(finished) == position - 1
    assert not list(checkout.root.glob("results/faulty/measure/*/*/.*partial"))

    (checkout.root / "fault").unlink()
    answer = checkout.snakemake(FRAMES, config=STUDY)
    assert answer.code == 0, answer.text
    assert len(answer.lines("run ")) == 3 - len(finished)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert record(checkout, 16)["attempt"] == 1


def test_training_that_was_stopped_in_an_epoch_is_repeated_from_its_start(checkout: Checkout) -> None:
    factors = [{**FACTORS, "runtime": ["mxnet"], "batch_size": [48]}]
    checkout.write_study("faulty", factors=factors, **{**QUICK, "training": {"epochs": 3}})
    plant(checkout, {48: "stall"})
    process = checkout.start(FRAMES, config=STUDY)
    _until(checkout.root / "stalled", process)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate()
    assert process.returncode != 0
    assert not list(checkout.root.glob("results/faulty/measure/*/*/run.json"))

    (checkout.root / "fault").unlink()
    answer = checkout.snakemake(FRAMES, config=STUDY)
    assert answer.code == 0, answer.text
    assert [epoch["epoch"] for epoch in record(checkout, 48)["epochs"]] == [1, 2, 3]
