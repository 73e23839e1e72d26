"""Workloads that crash, are killed, hang or take the whole run down, in the real workflow."""

from collections.abc import Iterator

import pytest
from bs4 import BeautifulSoup
from checkout import Checkout
from failing_study import FACTORS, MODEL, QUICK, STUDY, plant, record, study_in

from framewatt.preflight import TOPICS, check_machine
from framewatt.runs.records import read_run

FAULTS = {
    8: ("crash", "ended with exit code 1: RuntimeError: planted crash"),
    16: ("kill", "killed by SIGKILL"),
    24: ("gorge", "out of main memory: ended with exit code 1: MXNetError: Failed to allocate CPU Memory"),
}
"""By batch size, a fault and the reason that the run's record gives."""

SLOW = 32
"""Batch size of a run that takes longer than it may."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Of every test, which has a study of its own name there: their data are made once."""
    return study_in(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(autouse=True)
def _no_fault_is_left(checkout: Checkout) -> Iterator[None]:
    yield
    (checkout.root / "fault").unlink(missing_ok=True)


def frames_of(study: str) -> str:
    """All runs of a study, and no report of them."""
    return f"results/{study}/aggregate/runs.csv"


def test_failing_workloads_leave_records_and_are_repeated_alone(checkout: Checkout) -> None:
    factors = [{**FACTORS, "runtime": ["mxnet"], "batch_size": [*FAULTS, SLOW, 48]}]
    # On any machine MXNet takes longer than this to be imported.
    checkout.write_study("faulty", factors=factors, **{**QUICK, "timeout_s": 0.1})
    checkout.snakemake(f"results/faulty/measure/train-tiny-digits-few-mxnet-b{SLOW}/1/run.json", config=STUDY)
    slow = record(checkout, SLOW)
    assert (slow["status"], slow["valid"], slow["attempt"]) == ("failed", False, 1)
    assert slow["reasons"][0].startswith("took longer than 0.1 s and was ended")

    checkout.write_study("faulty", factors=factors, **QUICK)
    plant(checkout, {batch_size: fault for batch_size, (fault, _) in FAULTS.items()})
    first = checkout.snakemake(config=STUDY)
    assert first.code != 0
    assert "framewatt: 2 of 5 planned runs count" in first.text
    assert [record(checkout, batch_size)["attempt"] for batch_size in (SLOW, 48)] == [2, 1]
    assert {record(checkout, batch_size)["status"] for batch_size in (SLOW, 48)} == {"ok"}
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


def test_training_whose_loss_is_no_number_is_kept_and_flagged(checkout: Checkout) -> None:
    factors = [{**FACTORS, "runtime": ["mxnet"], "batch_size": [16]}]
    checkout.write_study("diverging", factors=factors, **{**QUICK, "training": {"epochs": 2, "learning_rate": 1e30}})
    answer = checkout.snakemake(frames_of("diverging"), config="study=diverging")
    assert answer.code == 0, answer.text
    diverged = record(checkout, 16, "diverging")
    assert (diverged["status"], diverged["valid"]) == ("ok", True)
    assert "the loss is not a number in epoch 1, 2" in diverged["flags"]
    assert [epoch["loss_mean"] for epoch in diverged["epochs"]] == [None, None]
    assert diverged["quality"]["accuracy"]["value"] is None
    assert all(epoch["units"] == 96 for epoch in diverged["epochs"])


def test_an_environment_that_cannot_be_built_stops_only_its_own_runs(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a narrow terminal uv's message would take several lines, of which the last says nothing.
    monkeypatch.setenv("COLUMNS", "40")
    checkout.add_model("torch", "tiny", MODEL)
    lock = checkout.root / "envs/torch/requirements.txt"
    lock.write_text(f"no-such-package-of-framewatt==1.0 --hash=sha256:{'0' * 64}\n")
    factors = [{**FACTORS, "runtime": ["torch", "mxnet"], "batch_size": [16]}]
    checkout.write_study("unbuilt", factors=factors, **QUICK)
    answer = checkout.snakemake(config="study=unbuilt")
    assert answer.code != 0
    assert "missing: environment torch: uv pip: " in answer.text
    assert record(checkout, 16, "unbuilt")["status"] == "ok"
    missing = read_run(checkout.root / "results/unbuilt/measure/train-tiny-digits-few-torch-b16/1/run.json")
    assert missing["status"] == "failed"
    assert missing["reasons"][0].startswith("environment torch: uv pip: ")
    text = (checkout.root / "results/unbuilt/report/report.html").read_text()
    assert "no-such-package-of-framewatt" in text


def test_the_hosts_own_interpreter_can_stand_in_for_every_environment(checkout: Checkout) -> None:
    factors = [{**FACTORS, "runtime": ["mxnet"], "batch_size": [16]}]
    checkout.write_study("hosted", factors=factors, **QUICK)
    python = checkout.root / "resources/environments/locked/mxnet/cpu/bin/python"
    answer = checkout.snakemake(frames_of("hosted"), config=f"study=hosted environment=host host_python={python}")
    assert answer.code == 0, answer.text
    environment = record(checkout, 16, "hosted")["identity"]["environment"]
    assert (environment["mode"], environment["lock_sha256"]) == ("host", None)


def test_a_meter_that_is_not_there_stops_the_study_before_anything_is_trained(checkout: Checkout) -> None:
    factors = [{**FACTORS, "runtime": ["mxnet"], "batch_size": [16]}]
    checkout.write_study("unmetered", factors=factors, **{**QUICK, "instruments": {"meters": ["nvml"]}})
    answer = checkout.snakemake(frames_of("unmetered"), config="study=unmetered")
    assert answer.code != 0
    (line,) = [line for line in answer.text.splitlines() if "cannot be read here" in line]
    assert line.startswith("framewatt: instruments.meters: nvml cannot be read here: ")
    assert not list(checkout.root.glob("results/unmetered/measure/*"))


@pytest.mark.skipif(not check_machine(observe_s=0), reason="nothing disturbs a measurement on this machine")
def test_a_strict_study_stops_before_anything_is_trained_and_goes_on_with_what_it_accepts(checkout: Checkout) -> None:
    factors = [{**FACTORS, "runtime": ["mxnet"], "batch_size": [16]}]
    checkout.write_study("strict", factors=factors, **QUICK, preflight={"strict": True})
    answer = checkout.snakemake(frames_of("strict"), config="study=strict")
    assert answer.code != 0
    (line,) = [line for line in answer.text.splitlines() if line.startswith("framewatt: preflight: ")]
    assert line.endswith("Correct it, or name the finding in preflight.accept.")
    assert not list(checkout.root.glob("results/strict/measure/*"))
    checkout.write_study("strict", factors=factors, **QUICK, preflight={"strict": True, "accept": list(TOPICS)})
    answer = checkout.snakemake(frames_of("strict"), config="study=strict")
    assert answer.code == 0, answer.text
    assert record(checkout, 16, "strict")["valid"]
