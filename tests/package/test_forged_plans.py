"""Forged study files and plans, and runs put in other runs' places: verify notices each."""

import shutil

import numpy as np
import pytest
from forged_edits import B8, Edit, add, assert_edit_noticed, of_json, of_record
from forger import Forger, put
from package_factory import CELL, study_of
from played_runs import S

from framewatt.base.files import read_json
from framewatt.meters.trace import Trace


def study_changed_too(path: str, value: object) -> Edit:
    """A setting in study file and plan, and not in what was measured under it."""

    def edit(forger: Forger) -> None:
        forger.settings(put(path, value))
        forger.json("results/trial/plan/plan.json", put(f"settings.{path}", value))

    return edit


def run_removed(forger: Forger) -> None:
    shutil.rmtree(forger.run(CELL, 2))


def run_added(forger: Forger) -> None:
    shutil.copytree(forger.run(CELL), forger.run(CELL, 3))


def run_copied(forger: Forger) -> None:
    """The better repetition takes the place of the other, head and all."""
    head = read_json(forger.run(CELL, 2) / "run.json")
    shutil.copytree(forger.run(CELL), forger.run(CELL, 2), dirs_exist_ok=True)
    forger.record(CELL, lambda record: record | {k: head[k] for k in ("repetition", "block", "position")}, 2)


def run_copied_and_moved(forger: Forger) -> None:
    """As run_copied, at another time."""
    run_copied(forger)
    folder = forger.run(CELL, 2)
    forger.trace(folder, lambda t: Trace(t.channels, np.asarray(t.monotonic_ns) + 5000 * S, t.channel, t.value))
    forger.events(folder, lambda events: [{**e, "monotonic_ns": e["monotonic_ns"] + 5000 * S} for e in events])
    forger.follow(study_of(forger.study).settings)


def cells_exchanged(forger: Forger) -> None:
    """Two cells exchange their measurements and keep their names and places."""
    one, other, aside = forger.run(CELL), forger.run(B8), forger.run("aside")
    keys = ("cell_id", "cell", "position")
    heads = {path: {key: read_json(path / "run.json")[key] for key in keys} for path in (one, other)}
    shutil.move(one, aside)
    shutil.move(other, one)
    shutil.move(aside, other)
    aside.parent.rmdir()
    for path, head in heads.items():
        forger.json(path / "run.json", lambda record, head=head: record | head)
    forger.follow(study_of(forger.study).settings)


NOTICED: dict[str, tuple[Edit, str]] = {
    "the plan's order": (of_json("results/trial/plan/plan.json", "order", lambda o: o[::-1]), "plan.json: order.0"),
    "the plan's device": (of_json("results/trial/plan/plan.json", "device", "cuda"), "device"),
    "the plan's settings": (
        of_json("results/trial/plan/plan.json", "settings.window.minimum_s", 60.0),
        "plan.json: settings.window.minimum_s: the plan states 60",
    ),
    "the plan's power": (
        of_json("results/trial/plan/plan.json", "significance.ratio", 1.001),
        "plan.json: significance.ratio",
    ),
    "the plan's title": (of_json("results/trial/plan/plan.json", "title", "Proof"), "plan.json: title"),
    "fewer repetitions in the study file": (
        lambda forger: forger.settings(put("repetitions", 1)),
        "plan.json: repetitions: the plan states 2, the study file gives 1",
    ),
    "more repetitions in study file and plan": (
        study_changed_too("repetitions", 3),
        "b1/3: planned, and has no record",
    ),
    "another seed": (lambda forger: forger.settings(put("seed", 2)), "plan.json: order.0"),
    "another threshold": (
        lambda forger: forger.settings(put("statistics.alpha", 0.2)),
        "plan.json: .*alpha",
    ),
    "other threads in study file and plan": (
        study_changed_too("threads", 1),
        "threads: the record states 2|plan.json: threads",
    ),
    "a second study file": (
        add("data/config/studies/other.yaml", "study: other\n"),
        "config/studies holds other.yaml, trial.yaml",
    ),
    "another study's file": (lambda forger: forger.settings(put("study", "other")), "the study file is that of other"),
    "a repetition removed": (run_removed, "b1/2: planned, and has no record"),
    "a run added": (run_added, "b1/3: files of a run that is not planned"),
    "a run in another's place": (run_copied, "measured at the same time as .*, or its copy"),
    "a run in another's place and time": (run_copied_and_moved, "its trace holds the readings of"),
    "two cells exchanged": (cells_exchanged, "units"),
    "a trace removed": (lambda forger: (forger.run(CELL) / "power.parquet").unlink(), "has no power.parquet"),
    "a second trace": (
        lambda forger: (forger.run(CELL) / "better.parquet").write_text(""),
        "better.parquet: no file of",
    ),
    "another study in a record": (of_record("study", "other"), "study: the record states 'other'"),
    "another level in a record": (
        of_record("cell.runtime", "tensorflow"),
        "cell.runtime: the record states 'tensorflow'",
    ),
    "another repetition": (of_record("repetition", 2), "repetition: the record states 2, the plan gives 1"),
    "another block": (of_record("block", 2), "block: the record states 2"),
    "another position": (of_record("position", 99), "position: the record states 99"),
    "another device": (of_record("device", "cuda"), "device: the record states 'cuda'"),
    "other threads": (of_record("threads", 1), "threads: the record states 1"),
    "other meters": (of_record("meters", ["nvml"]), "meters"),
    "called imported": (of_record("source", "files"), "source: the record states 'files'"),
}
"""What is done to a package, and what verify has to say of it."""


@pytest.mark.parametrize("name", NOTICED)
def test_a_forgery_is_noticed(forger: Forger, name: str) -> None:
    assert_edit_noticed(forger, *NOTICED[name])
