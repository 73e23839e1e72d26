"""A study that stops when its answer is known, by the real workflow on stand-ins that sleep for known times."""

import contextlib
import json
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest
import stand_ins
from checkout import READ_RARELY, ROOT, Answer, Checkout
from package_tools import passes_its_own_tools

MOST = 12
RULE = {"at_least": 3, "at_most": MOST, "until": {"best": "energy"}, "looks": "every_block"}
STUDY: dict[str, Any] = {
    "factors": [
        {
            "phase": ["infer"],
            "workload": ["resnet50"],
            "runtime": ["torch", "tensorflow"],
            "dataset": ["digits"],
            "batch_size": [4],
        }
    ],
    "repetitions": RULE,
    "instruments": READ_RARELY,
    "training": {"epochs": 1},
    "window": {"warm_up_batches": 1, "minimum_s": 0.2},
    "calibration": {"idle_s": 1},
    "cool_down": {"rest_s": 0},
    "statistics": {"resamples": 100},
}
CONFIG = f"study=stops {stand_ins.CONFIG}"
TORCH, TENSORFLOW = (f"infer-resnet50-digits-{name}-b4" for name in ("torch", "tensorflow"))
RUN = "    def run(self, batch: Any) -> Outputs:\n"
LOOKED = ("Goes on after", "Stopped after")
STOPPED = "results/stops/stopping/stopping.json"
"""All blocks, and no figures or report of them: half of what all takes."""


class Stopping(Checkout):
    """A checkout with such a study."""

    @property
    def results(self) -> Path:
        """Of the study."""
        return self.root / "results" / "stops"

    def plant(self, engine: str, line: str) -> None:
        """Have an engine do something at every batch that is timed."""
        source = self.root / "src/framewatt/workloads" / engine / "engine.py"
        shutil.copy2(Path(stand_ins.__file__).with_name("engine.py"), source)
        text = source.read_text()
        assert RUN in text, "the stand-in has another `run` now"
        source.write_text(text.replace(RUN, f"{RUN}        {line}\n"))

    def sleeping(self) -> None:
        """TensorFlow's stand-in takes 20 times as long as PyTorch's, which no load of the machine makes up for."""
        for engine, seconds in (("torch", 0.01), ("tensorflow", 0.2)):
            self.plant(engine, f'__import__("time").sleep({seconds})')

    def call(self, *words: str, **changes: Any) -> Answer:
        """Run the study with other values under some keys."""
        self.write_study("stops", **{**STUDY, **changes})
        return self.snakemake(*(words or ("all",)), config=CONFIG)

    def measured(self) -> dict[str, set[int]]:
        """The blocks of which there are records, by cell."""
        return {
            cell: {int(path.parent.name) for path in self.results.glob(f"measure/{cell}/*/run.json")}
            for cell in (TORCH, TENSORFLOW)
        }

    def stopped(self) -> dict[str, Any]:
        """stopping.json."""
        return json.loads((self.results / "stopping/stopping.json").read_text())

    def page(self) -> str:
        """The report."""
        return (self.results / "report/report.html").read_text()


def looks(answer: Answer) -> list[str]:
    """What the looks of a call said, in their order; the last is said again when it is noted."""
    return [line for line in answer.text.splitlines() if line.startswith(LOOKED)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Stopping:
    """The study, measured until its answer was known."""
    checkout = Stopping(tmp_path_factory.mktemp("stopping"))
    stand_ins.install(checkout)
    checkout.sleeping()
    answer = checkout.call("all", "archive")
    assert answer.code == 0, answer.text
    assert answer.lines("due: ") == [
        f"due: 6 runs are due up to the look after block 3: 6 not measured; then {2 * (MOST - 3)} more at most"
    ]
    assert looks(answer)[0].startswith("Goes on after 3 blocks")
    assert len(looks(answer)) >= 3
    assert len(answer.lines("run ")) == 2 * checkout.stopped()["blocks"]
    return checkout


@pytest.fixture
def study(finished: Stopping) -> Iterator[Stopping]:
    """The measured study, which a test may change, and which draws nothing from then on."""
    stand_ins.draw_nothing(finished)
    with finished.put_back():
        yield finished
    shutil.copy2(ROOT / "scripts/figures.py", finished.root / "scripts")
    finished.sleeping()


def test_it_measures_until_the_best_is_known_and_no_block_more(finished: Stopping) -> None:
    told = finished.stopped()
    assert (told["settled"], told["repetitions"]) == (True, RULE)
    assert 3 < told["blocks"] < MOST, "three blocks of two cells cannot settle it; twenty times the sleep soon does"
    blocks = set(range(1, told["blocks"] + 1))
    assert finished.measured() == {TORCH: blocks, TENSORFLOW: blocks}
    assert [step["settled"] for step in told["steps"]] == [step["blocks"] == told["blocks"] for step in told["steps"]]
    (group,) = told["steps"][-1]["groups"].values()
    assert group["leader"] == TORCH
    runs = pd.read_csv(finished.results / "aggregate/runs.csv")
    joules = runs[runs["domain"] == "total"].pivot_table("energy_per_sample_j", "repetition", "cell")
    logs = np.log(joules[TENSORFLOW] / joules[TORCH])
    assert group["others"][0]["ratio"] == pytest.approx(np.exp(logs.mean()), rel=1e-5)
    assert group["others"][0]["ratio"] > 1


def test_everything_behind_it_is_of_these_blocks(finished: Stopping) -> None:
    blocks = finished.stopped()["blocks"]
    runs = pd.read_parquet(finished.results / "aggregate/runs.parquet")
    assert set(runs["repetition"]) == set(range(1, blocks + 1))
    rows = pd.read_csv(finished.results / "stopping/stopping.csv")
    assert list(rows["blocks"]) == list(range(1, blocks + 1))
    assert (finished.results / "figures/stopping.svg").is_file()
    page = finished.page()
    assert f"Stopped after {blocks} blocks: which choice takes the least energy is known in every group." in page
    assert f"Measures 3 to {MOST} blocks, until it is known which choice of every group takes the least energy" in page
    assert f"{blocks} blocks of every one of 2 cells" in page
    assert (finished.results / "report/complete.txt").read_text().startswith(f"{2 * blocks} of {2 * blocks} planned")


def test_a_study_that_has_stopped_has_nothing_to_do(finished: Stopping) -> None:
    assert "Nothing to be done" in finished.call().text


def test_wherever_a_study_that_has_stopped_lies_it_measures_nothing(study: Stopping) -> None:
    shutil.rmtree(study.root / ".snakemake")
    shutil.rmtree(study.results / "stopping")
    answer = study.call("--dry-run", "all")
    assert answer.lines("due: ") == []
    answer = study.call("--", "results/stops/figures/stopping.svg")
    assert answer.code == 0, answer.text
    assert not answer.lines("run ")


@pytest.mark.thorough  # tests/package/test_forged_stopping asks of each number whether it is verified.
def test_its_package_is_verified_and_rebuilt(finished: Stopping, tmp_path: Path) -> None:
    (package,) = finished.results.glob("archive/*.zip")
    passes_its_own_tools(package, tmp_path)


def test_after_a_kill_it_goes_on_where_it_was(study: Stopping) -> None:
    blocks = study.stopped()["blocks"]
    for cell in (TORCH, TENSORFLOW):
        for block in range(2, blocks + 1):
            shutil.rmtree(study.results / "measure" / cell / str(block))
    study.write_study("stops", **STUDY)
    process = study.start(STOPPED, config=CONFIG)
    while not (study.results / "measure" / TORCH / "3" / "run.json").is_file():
        assert process.poll() is None
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while _works_in(study.root):  # a job that Snakemake left behind
        time.sleep(0.2)
    assert study.snakemake("--unlock", config=CONFIG).code == 0
    there = {cell: set(found) for cell, found in study.measured().items()}
    answer = study.call(STOPPED)
    assert answer.code == 0, answer.text
    assert all(found >= there[cell] for cell, found in study.measured().items())
    again = sum(len(found) for found in study.measured().values()) - sum(len(found) for found in there.values())
    assert len(answer.lines("run ")) == again
    assert study.stopped()["settled"]


def _works_in(folder: Path) -> bool:
    """Whether a process has this current folder."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cwd() == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                return True
    return False


@pytest.mark.thorough
def test_a_run_that_is_deleted_is_measured_again_and_then_it_looks_anew(study: Stopping) -> None:
    blocks = study.stopped()["blocks"]
    shutil.rmtree(study.results / "measure" / TORCH / "2")
    answer = study.call()
    assert answer.code == 0, answer.text
    assert answer.lines("due: ")[0].startswith("due: 1 run is due up to the look after block 3: 1 not measured; then")
    assert study.stopped()["settled"]
    assert study.measured()[TORCH] >= set(range(1, blocks + 1)), "what is there is not measured again"
    assert len(answer.lines("run ")) <= 1 + 2 * (MOST - blocks)


def test_a_cell_that_always_fails_ends_the_study(study: Stopping) -> None:
    shutil.rmtree(study.results / "measure" / TENSORFLOW)
    study.plant("tensorflow", 'raise RuntimeError("planted")')
    answer = study.call()
    assert answer.code != 0
    assert "framewatt: 3 of 6 planned runs count" in answer.text
    assert len(answer.lines("run ")) == 3
    assert study.stopped()["blocks"] == 3
    assert "0 of 1 group; in 1 at most one choice has runs that count" in study.page()
    study.sleeping()
    answer = study.call(STOPPED, repetitions={**RULE, "looks": "fixed"})
    assert answer.code == 0, answer.text
    assert study.stopped()["settled"]
    assert study.stopped()["blocks"] in (3, 5, 8, 12)
    assert {step["blocks"] for step in study.stopped()["steps"] if step["looked"]} <= {3, 5, 8, 12}


@pytest.mark.thorough
def test_equal_cells_are_measured_to_the_end(study: Stopping) -> None:
    study.plant("tensorflow", '__import__("time").sleep(0.01)')
    answer = study.call("--forcerun", "measure", "--", "all", repetitions={**RULE, "at_most": 4})
    assert answer.code == 0, answer.text
    assert len(answer.lines("run ")) == 8
    assert (study.stopped()["blocks"], study.stopped()["settled"]) == (4, False)
    assert "Stopped after 4 blocks, the most that the study allows" in study.page()


def test_another_rule_measures_what_it_needs_and_a_number_by_hand_is_told(study: Stopping) -> None:
    blocks = study.stopped()["blocks"]
    answer = study.call(repetitions={**RULE, "at_most": blocks})
    assert answer.code == 0, answer.text
    assert not answer.lines("run ")
    assert (study.stopped()["blocks"], study.stopped()["settled"]) == (blocks, True)
    assert f"Repetitions were changed from 3 to {MOST} until it is known" in study.page()
    answer = study.call("all", "archive", repetitions=blocks + 1)
    assert answer.code == 0, answer.text
    assert len(answer.lines("run ")) == 2
    page = study.page()
    assert f"to {blocks + 1} when results of {blocks} blocks had been written" in page
    assert "finds it too often" in page
    assert "Stopped after" not in page
