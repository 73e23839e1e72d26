"""Two studies at once: their measurements take turns, or the second ends with one line. And what a kill leaves."""

import itertools
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from checkout import READ_RARELY, Answer, Checkout

from framewatt.host.lock import VARIABLE, machine_lock
from framewatt.runs.records import read_run
from framewatt.workflow.folder import Presence

MODEL = '''
"""The smallest network that trains."""

from mxnet.gluon import nn


def build(facts, size):
    network = nn.HybridSequential()
    network.add(nn.Conv2D(4, 3, strides=4), nn.Flatten(), nn.Dense(facts.classes))
    return network
'''
STUDY = {
    "factors": [
        {
            **{"phase": ["train"], "workload": ["tiny"], "dataset": ["digits-few"], "runtime": ["mxnet"]},
            "batch_size": [8, 16],
        }
    ],
    "instruments": READ_RARELY,
    "training": {"epochs": 1},
    "calibration": {"idle_s": 1},
    "cool_down": {"rest_s": 1},
    "timeout_s": 600,
    "repetitions": 1,
}


HOLD = {
    "    frames = {\n": "    while Path('hold').exists():\n        __import__('time').sleep(0.05)\n    frames = {\n"
}
"""In scripts/statistics.py: the job goes on when the file `hold` is gone."""

TARGET = "results/{}/calibrate/idle_after.json"


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the lock of a machine of its own."""
    return tmp_path_factory.mktemp("lock")


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory: pytest.TempPathFactory, lock: Path) -> tuple[Checkout, Checkout]:
    """Two checkouts on that machine, each with a study of two short runs."""
    both = Checkout(tmp_path_factory.mktemp("a"), lock), Checkout(tmp_path_factory.mktemp("b"), lock)
    for checkout in both:
        checkout.share_environment("mxnet/cpu")
        checkout.add_model("mxnet", "tiny", MODEL)
        checkout.edit("scripts/statistics.py", HOLD)
        checkout.write_study(checkout.root.name[0], **STUDY)
    return both


@pytest.fixture(scope="module")
def answers(checkouts: tuple[Checkout, Checkout], lock: Path) -> list[Answer]:
    """What both said, which began to measure at once: when the lock of a third was released."""
    names = [checkout.root.name[0] for checkout in checkouts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(lock))
        with machine_lock("another"):
            started = [
                checkout.start(TARGET.format(name), config=f"study={name}")
                for checkout, name in zip(checkouts, names, strict=True)
            ]
            texts = [_until_it_waits(process) for process in started]
    texts = [text + process.communicate()[0] for text, process in zip(texts, started, strict=True)]
    return [Answer(process.returncode, text) for process, text in zip(started, texts, strict=True)]


def _until_it_waits(process: "subprocess.Popen[str]") -> str:
    """Return what a call printed until it waits for the lock, or until its end."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if line.startswith("waiting for study "):
            break
    return said


def test_two_studies_take_turns(checkouts: tuple[Checkout, Checkout], answers: list[Answer]) -> None:
    assert [answer.code for answer in answers] == [0, 0], answers
    assert all(answer.lines("waiting for study another") for answer in answers), answers
    records = [
        read_run(path) for checkout in checkouts for path in checkout.root.glob("results/*/measure/*/*/run.json")
    ]
    assert [record["status"] for record in records] == ["ok"] * 4
    spans = sorted((record["windows"]["process"] for record in records), key=lambda span: span["start_monotonic_ns"])
    for first, second in itertools.pairwise(spans):
        # The rest of a run lies under the lock, too.
        assert second["start_monotonic_ns"] - first["end_monotonic_ns"] > 0.9e9
    # Waiting is no part of a run.
    assert max(record["lock"]["waited_s"] for record in records) > 1
    assert all(record["cool_down_s"] < 60 for record in records)


def test_who_may_not_wait_ends_with_one_line_and_what_measures_nothing_waits_for_nobody(
    checkouts: tuple[Checkout, Checkout], answers: list[Answer], lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, _ = checkouts
    monkeypatch.setenv(VARIABLE, str(lock))
    before = sorted(checkout.root.glob("results/a/*/**/*.json"))
    with machine_lock("another"):
        refused = checkout.snakemake("--forcerun", "measure", "--", TARGET.format("a"), config="study=a wait=False")
        derived = checkout.snakemake("results/a/aggregate/runs.parquet", config="study=a wait=False")
    assert refused.code != 0
    (line,) = refused.lines("framewatt: ")
    assert line.startswith("framewatt: this machine measures study another (process ")
    assert not [word for word in ("Traceback", "Error") if word in refused.text]
    assert derived.code == 0, derived.text
    assert sorted(checkout.root.glob("results/a/*/**/*.json")) == before


def test_after_a_kill_the_lock_names_what_mends_it_and_the_next_call_makes_what_is_missing(
    checkouts: tuple[Checkout, Checkout], answers: list[Answer]
) -> None:
    _, checkout = checkouts
    results = checkout.root / "results/b"
    # What is asked for: killed before it is removed, Snakemake has nothing to do, and no lock to meet.
    made = results / "statistics/comparisons.csv"
    words = ("results/b/statistics/comparisons.csv",)
    assert checkout.snakemake(*words, config="study=b").code == 0
    before = {path.name: path.read_bytes() for path in made.parent.glob("*.csv")}
    (checkout.root / "hold").touch()
    process = checkout.start("--forcerun", "statistics", "--", *words, config="study=b")
    while made.exists():  # Snakemake removes what a job makes before it starts
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    (checkout.root / "hold").unlink()
    assert not made.exists()
    (results / "tables").mkdir()
    (results / "tables/.energy_time.csv.4711.partial").write_text("half")

    presence = Presence(checkout.root / ".snakemake", "")
    answer = checkout.snakemake(*words, config="study=b")
    (line,) = answer.lines("framewatt: ") or [answer.text]
    assert line.startswith("framewatt: another snakemake (process ")
    assert ", study b, since 20" in line
    os.close(presence.file)
    refused = checkout.snakemake(*words, config="study=b")
    assert refused.code != 0
    assert "Traceback" not in refused.text
    (line,) = refused.lines("framewatt: ")
    assert line.startswith("framewatt: a snakemake that was killed here left its lock. ")
    command = line.split(" remove the lock with ")[1].removesuffix(", and then start again as before.")
    assert command.endswith("snakemake --unlock --config study=b")
    subprocess.run(command, shell=True, cwd=checkout.root, check=True, capture_output=True)  # noqa: S602 # as a user does
    answer = checkout.snakemake(*words, config="study=b")
    assert answer.code == 0, answer.text
    assert {path.name: path.read_bytes() for path in made.parent.glob("*.csv")} == before
    assert not list(results.rglob(".*.partial"))
