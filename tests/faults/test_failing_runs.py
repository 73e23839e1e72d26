"""Workloads that crash, are killed, hang or take the whole run down, in the real workflow.

A study of a few short training runs of a tiny MXNet model (it imports fastest) some of which are told to fail.
"""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from checkout import Checkout

from framewatt.preflight import TOPICS, check_machine
from framewatt.runs.records import read_run

MODEL = '''
"""A tiny network that does as the file `fault` says, which names a fault for some batch sizes."""

import os
import resource
import time
from pathlib import Path

import mxnet
from mxnet.gluon import nn


class Network(nn.HybridSequential):
    """Hangs in its second epoch of two batches, after two calls to set up and two in the first epoch."""

    calls = 0

    def __call__(self, *inputs):
        self.calls += 1
        if _fault() == "stall" and self.calls > 5:
            Path("stalled").touch()
            time.sleep(600)
        return super().__call__(*inputs)


def build(facts):
    fault = _fault()
    if fault == "crash":
        raise RuntimeError("planted crash")
    if fault == "kill":
        os.kill(os.getpid(), 9)
    if fault == "hang":
        time.sleep(600)
    if fault == "gorge":
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        mxnet.nd.zeros((1 << 15, (1 << 16) - 8), dtype="float64").wait_to_read()
    network = Network()
    network.add(nn.Conv2D(4, 3, strides=4), nn.Flatten(), nn.Dense(facts.classes))
    return network


def _fault():
    import json
    import sys
    faults = json.loads(Path("fault").read_text()) if Path("fault").exists() else {}
    return faults.get(str(json.loads(Path(sys.argv[1]).read_text())["batch_size"]), "")
'''
FACTORS = {"phase": ["train"], "workload": ["tiny"], "dataset": ["digits-few"]}
QUICK = {
    "instruments": {"meters": ["estimate"]},
    "training": {"epochs": 1},
    "calibration": {"idle_s": 1},
    "cool_down": {"rest_s": 0},
    "disturbance": "flag",
    "timeout_s": 10,
    "repetitions": 1,
    "statistics": {"resamples": 100},
}
STUDY = "study=faulty"
FRAMES = "results/faulty/aggregate/runs.csv"
"""All runs, and no figures or report of them: half of what all takes."""

FAULTS = {
    8: ("crash", "ended with exit code 1: RuntimeError: planted crash"),
    16: ("kill", "killed by SIGKILL"),
    24: ("gorge", "out of main memory: ended with exit code 1: MXNetError: Failed to allocate CPU Memory"),
    32: ("hang", "took longer than 10 s and was ended"),
}
"""By batch size, a fault and the reason that the run's record gives."""


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    checkout = Checkout(tmp_path)
    checkout.share_environment("mxnet/cpu")
    (tmp_path / "src/framewatt/workloads/mxnet/tiny.py").write_text(MODEL)
    checkout.write_study("faulty", factors=[{**FACTORS, "runtime": ["mxnet"], "batch_size": [8, 16, 32]}], **QUICK)
    return checkout


def plant(checkout: Checkout, faults: dict[int, str]) -> None:
    """Have runs of these batch sizes fail."""
    (checkout.root / "fault").write_text(json.dumps(faults))


def record(checkout: Checkout, batch_size: int) -> dict:
    path = f"results/faulty/measure/train-tiny-digits-few-mxnet-b{batch_size}/1/run.json"
    return read_run(checkout.root / path)


def test_failing_workloads_leave_records_and_are_repeated_alone(checkout: Checkout) -> None:
    factors = [{**FACTORS, "runtime": ["mxnet"], "batch_size": [*FAULTS, 48]}]
    checkout.write_study("faulty", factors=factors, **QUICK)
    plant(checkout, {batch_size: fault for batch_size, (fault, _) in FAULTS.items()})
    first = checkout.snakemake(config=STUDY)
    assert first.code != 0
    assert "framewatt: 1 of 5 planned runs count" in first.text
    assert record(checkout, 48)["status"] == "ok"
    page = BeautifulSoup((checkout.root / "results/faulty/report/report.html").read_text(), "html.parser")
    said = " ".join(page.get_text(" ", strip=True).split())
    for batch_size, (_, reason) in FAULTS.items():
        failed = record(checkout, batch_size)
        assert (failed["status"], failed["valid"], failed["attempt"]) == ("failed", False, 1)
        assert failed["reasons"][0].startswith(reason)
        assert failed["primary_window"] is None
        assert reason in said

    (checkout.root / "fault").unlink()
    second = checkout.snakemake(config=STUDY)
    assert second.code == 0, second.text
    again = {line.split(":")[1].split(",")[0].strip() for line in second.lines("run ")}
    assert again == {f"train-tiny-digits-few-mxnet-b{batch_size}" for batch_size in FAULTS}
    for batch_size in FAULTS:
        repeated = record(checkout, batch_size)
        assert (repeated["status"], repeated["valid"], repeated["attempt"]) == ("ok", True, 2)
    assert "Nothing to be done" in checkout.snakemake(config=STUDY).text


def test_stopping_in_the_middle_loses_no_finished_run(checkout: Checkout) -> None:
    plant(checkout, {16: "hang"})
    process = checkout.start(FRAMES, config=STUDY)
    position = _position(checkout, 16)
    log = checkout.root / "logs/faulty/measure/train-tiny-digits-few-mxnet-b16/1.log"
    deadline = time.monotonic() + 120
    while not log.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(2)
    # What a terminal does at Ctrl-C: the signal goes to the whole foreground group.
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert f"framewatt: stopped; the {position - 1} runs of study faulty that had ended stay; the same command" in said
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
    checkout.write_study("faulty", factors=factors, **{**QUICK, "training": {"epochs": 3}, "timeout_s": 60})
    plant(checkout, {48: "stall"})
    process = checkout.start(FRAMES, config=STUDY)
    deadline = time.monotonic() + 120
    while not (checkout.root / "stalled").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert (checkout.root / "stalled").exists()
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) != 0
    assert not list(checkout.root.glob("results/faulty/measure/*/*/run.json"))

    (checkout.root / "fault").unlink()
    answer = checkout.snakemake(FRAMES, config=STUDY)
    assert answer.code == 0, answer.text
    assert [epoch["epoch"] for epoch in record(checkout, 48)["epochs"]] == [1, 2, 3]


def test_training_whose_loss_is_no_number_is_kept_and_flagged(checkout: Checkout) -> None:
    factors = [{**FACTORS, "runtime": ["mxnet"], "batch_size": [16]}]
    checkout.write_study("faulty", factors=factors, **{**QUICK, "training": {"epochs": 2, "learning_rate": 1e30}})
    answer = checkout.snakemake(FRAMES, config=STUDY)
    assert answer.code == 0, answer.text
    diverged = record(checkout, 16)
    assert (diverged["status"], diverged["valid"]) == ("ok", True)
    assert "the loss is not a number in epoch 1, 2" in diverged["flags"]
    assert [epoch["loss_mean"] for epoch in diverged["epochs"]] == [None, None]
    assert diverged["quality"]["accuracy"]["value"] is None
    assert all(epoch["units"] == 96 for epoch in diverged["epochs"])


def _position(checkout: Checkout, batch_size: int) -> int:
    """Place of a run in the order, which is planned before anything is measured."""
    plan = checkout.root / "results/faulty/plan/plan.json"
    deadline = time.monotonic() + 60
    while not plan.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    order = json.loads(plan.read_text())["order"]
    return next(entry["position"] for entry in order if entry["cell"].endswith(f"-b{batch_size}"))


def test_an_environment_that_cannot_be_built_stops_only_its_own_runs(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a narrow terminal uv's message would take several lines, of which the last says nothing.
    monkeypatch.setenv("COLUMNS", "40")
    tiny = (checkout.root / "src/framewatt/workloads/mxnet/tiny.py").read_text()
    (checkout.root / "src/framewatt/workloads/torch/tiny.py").write_text(tiny)
    lock = checkout.root / "envs/torch/requirements.txt"
    lock.write_text(f"no-such-package-of-framewatt==1.0 --hash=sha256:{'0' * 64}\n")
    factors = [{**FACTORS, "runtime": ["torch", "mxnet"], "batch_size": [16]}]
    checkout.write_study("faulty", factors=factors, **QUICK)
    answer = checkout.snakemake(config=STUDY)
    assert answer.code != 0
    assert "missing: environment torch: uv pip: " in answer.text
    assert record(checkout, 16)["status"] == "ok"
    missing = read_run(checkout.root / "results/faulty/measure/train-tiny-digits-few-torch-b16/1/run.json")
    assert missing["status"] == "failed"
    assert missing["reasons"][0].startswith("environment torch: uv pip: ")
    text = (checkout.root / "results/faulty/report/report.html").read_text()
    assert "no-such-package-of-framewatt" in text


def test_the_hosts_own_interpreter_can_stand_in_for_every_environment(checkout: Checkout) -> None:
    python = checkout.root / "resources/environments/locked/mxnet/cpu/bin/python"
    answer = checkout.snakemake(FRAMES, config=f"{STUDY} environment=host host_python={python}")
    assert answer.code == 0, answer.text
    environment = record(checkout, 16)["identity"]["environment"]
    assert (environment["mode"], environment["lock_sha256"]) == ("host", None)


def test_a_meter_that_is_not_there_stops_the_study_before_anything_is_trained(checkout: Checkout) -> None:
    factors = [{**FACTORS, "runtime": ["mxnet"], "batch_size": [16]}]
    checkout.write_study("faulty", factors=factors, **{**QUICK, "instruments": {"meters": ["nvml"]}})
    answer = checkout.snakemake(FRAMES, config=STUDY)
    assert answer.code != 0
    (line,) = [line for line in answer.text.splitlines() if "which this machine lacks" in line]
    assert line.startswith("framewatt: instruments.meters: found nvml, which this machine lacks: ")
    assert not list(checkout.root.glob("results/faulty/measure/*"))


@pytest.mark.skipif(not check_machine(observe_s=0), reason="nothing disturbs a measurement on this machine")
def test_a_strict_study_stops_before_anything_is_trained_and_goes_on_with_what_it_accepts(checkout: Checkout) -> None:
    factors = [{**FACTORS, "runtime": ["mxnet"], "batch_size": [16]}]
    checkout.write_study("faulty", factors=factors, **QUICK, preflight={"strict": True})
    answer = checkout.snakemake(FRAMES, config=STUDY)
    assert answer.code != 0
    (line,) = [line for line in answer.text.splitlines() if line.startswith("framewatt: preflight: ")]
    assert line.endswith("allowed: a finding that preflight.accept names")
    assert not list(checkout.root.glob("results/faulty/measure/*"))
    checkout.write_study("faulty", factors=factors, **QUICK, preflight={"strict": True, "accept": list(TOPICS)})
    answer = checkout.snakemake(FRAMES, config=STUDY)
    assert answer.code == 0, answer.text
    assert record(checkout, 16)["valid"]
