"""Changed studies, moved results and deleted files: what the real workflow then makes again, and what it leaves."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import stand_ins
from checkout import READ_RARELY, Checkout

from framewatt.runs.records import read_run

MODEL = '''
"""A tiny network."""

from mxnet.gluon import nn


def build(facts, size):
    network = nn.HybridSequential()
    network.add(nn.Conv2D(4, 3, strides=4), nn.Flatten(), nn.Dense(facts.classes))
    return network
'''
LEVELS = {"workload": ["tiny"], "runtime": ["mxnet"], "dataset": ["digits-few"]}
STUDY: dict[str, Any] = {
    "factors": [
        {**LEVELS, "phase": ["train"], "batch_size": [16]},
        {**LEVELS, "phase": ["infer"], "batch_size": [8]},
    ],
    "repetitions": 2,
    "instruments": READ_RARELY,
    "window": {"minimum_s": 0.1},
    "training": {"epochs": 1},
    "calibration": {"idle_s": 1},
    "cool_down": {"rest_s": 0},
    "statistics": {"resamples": 100},
}
CONFIG = "study=changed"
BEHIND = ("aggregate", "statistics", "tables", "figures", "write_report", "complete", "recalibrate", "plan", "pack")


class Changing(Checkout):
    """A checkout in which one small study is changed."""

    @property
    def results(self) -> Path:
        """Of the study."""
        return self.root / "results" / "changed"

    def write(self, **changes: Any) -> None:
        """Write the study with other values under some keys."""
        content = {key: {**STUDY.get(key, {}), **new} if isinstance(new, dict) else new for key, new in changes.items()}
        self.write_study("changed", **{**STUDY, **content})

    def planned(self, *words: str, target: str = "all") -> dict[str, int]:
        """How many jobs of which rule would run, but for those behind the records."""
        answer = self.snakemake("--dry-run", "--quiet", "host", *words, "--", target, config=CONFIG)
        assert answer.code == 0, answer.text
        if "Job stats:" not in answer.text:
            return {}
        table = answer.text.split("Job stats:")[1].split("total")[0]
        counts = dict(line.split() for line in table.splitlines()[3:] if line.strip())
        return {rule: int(count) for rule, count in counts.items() if rule not in (target, *BEHIND)}

    def records(self) -> dict[str, dict]:
        """Its records, by cell and repetition."""
        paths = sorted(self.results.glob("measure/*/*/run.json"))
        return {f"{path.parts[-3]}/{path.parts[-2]}": read_run(path) for path in paths}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Changing:
    """The study, measured."""
    checkout = Changing(tmp_path_factory.mktemp("changing"))
    checkout.share_environment("mxnet/cpu")
    checkout.add_model("mxnet", "tiny", MODEL)
    stand_ins.draw_nothing(checkout)
    checkout.write()
    answer = checkout.snakemake("all", config=CONFIG)
    assert answer.code == 0, answer.text
    assert answer.lines("due: ") == ["due: 4 of 4 runs are due: 4 not measured"]
    return checkout


@pytest.fixture
def study(finished: Changing) -> Iterator[Changing]:
    """The measured study, which a test may change."""
    with finished.put_back():
        yield finished
    finished.write()


def test_a_finished_study_has_nothing_to_do(finished: Changing) -> None:
    assert "Nothing to be done" in finished.snakemake("all", config=CONFIG).text


def test_every_record_and_the_plan_carry_the_hash_of_the_job(finished: Changing) -> None:
    order = json.loads((finished.results / "plan/plan.json").read_text())["order"]
    planned = {f"{entry['cell']}/{entry['repetition']}": entry["job_sha256"] for entry in order}
    assert {name: record["job_sha256"] for name, record in finished.records().items()} == planned
    assert len(set(planned.values())) == 4


def test_another_window_and_another_repetition_are_measured_in_the_same_call(study: Changing) -> None:
    study.write(window={"minimum_s": 0.3}, repetitions=3)
    answer = study.snakemake("all", config=CONFIG)
    assert answer.code == 0, answer.text
    assert answer.lines("due: ") == ["due: 4 of 6 runs are due: 2 measured under other settings, 2 not measured"]
    assert len(answer.lines("run ")) == 4
    infer = [record for name, record in study.records().items() if name.startswith("infer")]
    assert len(infer) == 3
    assert all(record["windows"]["steady"]["duration_s"] >= 0.3 for record in infer)
    assert "Nothing to be done" in study.snakemake("all", config=CONFIG).text


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({"training": {"epochs": 2}}, {"train": 1, "measure": 4}),
        ({"training": {"batch_size": 8}}, {"train": 1, "measure": 2}),
        ({"instruments": {"estimate_busy_w_per_core": 9}}, {"instruments": 1, "calibrate": 1, "measure": 4}),
        ({"calibration": {"idle_s": 2}}, {"calibrate": 1, "measure": 4}),
        ({"timeout_s": 50}, {}),
        ({"title": "Another title", "statistics": {"alpha": 0.1}}, {}),
    ],
)
def test_a_changed_key_measures_what_it_touches(study: Changing, change: dict, again: dict[str, int]) -> None:
    study.write(**change)
    assert study.planned() == again


def test_moved_results_are_not_measured_again(study: Changing) -> None:
    shutil.rmtree(study.root / ".snakemake")
    chance = random.Random(0)  # noqa: S311  # moments, not secrets
    for path in study.results.rglob("*"):
        moment = chance.uniform(1e9, 2e9)
        os.utime(path, (moment, moment))
    assert study.planned() == {}
    study.write(repetitions=3)
    assert study.planned() == {"measure": 2}


@pytest.mark.parametrize("deleted", ["", "power.parquet"])
def test_a_deleted_run_is_measured_again(study: Changing, deleted: str) -> None:
    folder = study.results / "measure/infer-tiny-digits-few-mxnet-b8/2"
    if deleted:
        (folder / deleted).unlink()
    else:
        shutil.rmtree(folder)
    assert study.planned() == study.planned(target="archive") == {"measure": 1}


def test_what_is_deleted_behind_the_records_is_made_again_without_measuring(study: Changing) -> None:
    assert study.snakemake("archive", config=CONFIG).code == 0
    for folder in ("tables", "statistics", "report"):
        shutil.rmtree(study.results / folder)
    (study.results / "figures/energy_time.svg").unlink()
    assert study.planned() == study.planned(target="archive") == {}
    answer = study.snakemake("all", config=CONFIG)
    assert answer.code == 0, answer.text
    assert not answer.lines("run ")
    assert (study.results / "report/report.html").is_file()
    assert (study.results / "tables/energy_time.csv").is_file()
    assert (study.results / "figures/energy_time.svg").is_file()
    assert list((study.results / "statistics").iterdir())


def test_what_the_study_has_no_more_leaves_its_frames_and_stays_on_the_disk(study: Changing) -> None:
    study.write(repetitions=1, factors=STUDY["factors"][1:])
    answer = study.snakemake("results/changed/aggregate/runs.parquet", config=CONFIG)
    assert answer.code == 0, answer.text
    assert not answer.lines("run ")
    runs = pd.read_parquet(study.results / "aggregate/runs.parquet")
    assert set(zip(runs["cell"], runs["repetition"], strict=True)) == {("infer-tiny-digits-few-mxnet-b8", 1)}
    assert len(study.records()) == 4


def test_a_record_of_another_job_is_measured_again(study: Changing) -> None:
    path = study.results / "measure/infer-tiny-digits-few-mxnet-b8/1/run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "job_sha256": "0" * 64}))
    assert study.planned() == {"measure": 1}


def test_weights_that_came_out_otherwise_make_their_runs_due(study: Changing) -> None:
    path = study.results / "train/tiny-digits-few-mxnet/train.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "weights_sha256": "0" * 64}))
    answer = study.snakemake("--dry-run", "all", config=CONFIG)
    assert answer.lines("due: ") == ["due: 2 of 4 runs are due: 2 measured with other weights"]


def test_weights_whose_file_is_gone_are_made_again_where_a_run_needs_them_and_only_that_run_is_measured(
    study: Changing,
) -> None:
    (study.results / "train/tiny-digits-few-mxnet/weights.params").unlink()
    assert study.planned() == {}
    shutil.rmtree(study.results / "measure/infer-tiny-digits-few-mxnet-b8/1")
    assert study.planned() == {"train": 1, "measure": 1}
    answer = study.snakemake("results/changed/aggregate/runs.parquet", config=CONFIG)
    assert answer.code == 0, answer.text
    assert len(answer.lines("run ")) == 1
    # The weights came out as they were, so that the other run stays.
    assert study.planned() == {}


def test_what_the_user_asks_for_is_made_again(study: Changing) -> None:
    assert study.planned("--forcerun", "measure") == {"measure": 4}
    # Where the weights come out as they were, their runs stay; else these are due.
    assert study.planned("--forcerun", "train") == {"train": 1}
    record = "results/changed/measure/infer-tiny-digits-few-mxnet-b8/1/run.json"
    assert study.planned("--forcerun", record) == {"measure": 1}


@pytest.mark.parametrize(
    "path", ["plan/plan.json", "calibrate/idle.json", "measure/infer-tiny-digits-few-mxnet-b8/1/run.json"]
)
def test_what_is_asked_for_by_its_path_and_is_there_is_nothing_to_do(finished: Changing, path: str) -> None:
    answer = finished.snakemake("--", f"results/changed/{path}", config=CONFIG)
    assert (answer.code, "Nothing to be done" in answer.text) == (0, True), answer.text


def test_another_target_measures_nothing(study: Changing) -> None:
    study.write(seed=5)
    assert study.planned(target="resources/data/digits-few.json") == {}


def test_a_study_without_a_run_that_counts_does_not_end_well(study: Changing) -> None:
    study.share_environment("onnxruntime/cpu")
    study.write_study(
        "broken", **{**STUDY, "factors": [{**STUDY["factors"][1], "runtime": ["mx2onnx"]}], "repetitions": 1}
    )
    export = study.root / "src/framewatt/prepare/exporters/mxnet.py"
    text = export.read_text()
    try:
        export.write_text(text.replace("def ", "raise RuntimeError('planted')\n\n\ndef ", 1))
        answer = study.snakemake("all", config="study=broken")
        again = study.snakemake("all", config="study=broken")
    finally:
        export.write_text(text)
    for said in (answer, again):
        assert said.code != 0
        assert "framewatt: 0 of 1 planned runs count" in said.text
        assert "missing: infer-tiny-digits-few-mx2onnx-cpu-b8, repetition 1: export: " in said.text
