"""A run is invalid if its engine had another level of an option in force than the one requested, or reports none."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_worker import TEN, Clock, Scripted, ScriptedTraining

from framewatt.datasets.storing import save_arrays
from framewatt.runs import events, worker
from framewatt.runs.conditions import ignored, in_force, requested, unconfirmed
from framewatt.study.options import OPTIONS
from framewatt.study.runtimes import RUNTIMES, Runtime

OTHER = {"threads": 7, "learning_rate": 0.5, "load": "20/s", "precision": "bf16"}
"""Levels that are not the default, of options without a list of two."""

BEFORE_THE_WORKER = "caches"


def level_of(name: str) -> Any:
    """A level other than the default."""
    return OTHER.get(name) or next(one for one in OPTIONS[name].levels["enum"] if one != OPTIONS[name].default)


def job_with(name: str, **change: Any) -> dict[str, Any]:
    """A job of an engine that lists every option, with one of them at a level other than the default."""
    phase = OPTIONS[name].phase or "infer"
    job = {"engine": "dummy", "phase": phase, "threads": 2, "training": {}, "options": {}}
    if phase == "train":
        job["training"] = {"epochs": 1, "learning_rate": 0.001}
    if name == "threads":
        return {**job, "threads": level_of(name), **change}
    if name == "learning_rate":
        return {**job, "training": {"epochs": 1, "learning_rate": level_of(name)}, **change}
    return {**job, "options": {name: level_of(name)}, **change}


@pytest.fixture(autouse=True)
def dummy(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that lists every option."""
    row = Runtime("dummy", "dummy", {name: None for name, option in OPTIONS.items() if not option.by_worker})
    monkeypatch.setitem(RUNTIMES, "dummy", row)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name != BEFORE_THE_WORKER])
def test_an_option_that_an_engine_ignores_makes_the_run_invalid(name: str) -> None:
    wanted = requested(job_with(name))
    assert wanted[name] == level_of(name)
    as_ever = {name: option.default for name, option in OPTIONS.items()} | {"threads": 1, "learning_rate": 0.001}
    (line,) = ignored(in_force(wanted, {**wanted, name: as_ever[name]}))
    assert line == f"option {name}: {level_of(name)} was requested, {as_ever[name]} was in force"
    silent = {other: level for other, level in wanted.items() if other != name}
    (line,) = ignored(in_force(wanted, silent))
    assert line == f"option {name}: {level_of(name)} was requested, and the engine does not report what was in force"
    assert list(ignored(in_force(wanted, wanted))) == []


@pytest.mark.parametrize("name", ["precision", "compile", "optimizer", "update", "graph_optimization", "client"])
def test_a_default_that_is_not_in_force_makes_the_run_invalid_too(name: str) -> None:
    plain = job_with(name, options={})
    wanted = requested(plain)
    assert wanted[name] == OPTIONS[name].default
    assert list(ignored(in_force(wanted, {**wanted, name: level_of(name)})))


def test_a_level_that_a_library_cannot_report_is_a_flag() -> None:
    job = job_with("graph_optimization")
    wanted = requested({**job, "options": {**job["options"], "client": "node"}})
    levels = in_force(wanted, {**wanted, "graph_optimization": None, "threads": None})
    assert list(ignored(levels)) == []
    levels.pop("threads")
    (flag,) = unconfirmed(levels)
    assert flag == "option graph_optimization: disabled was requested; the library does not report what was in force"


@pytest.mark.parametrize("name", ["compile", "precision", "threads"])
def test_no_other_library_may_leave_a_level_unreported(name: str) -> None:
    wanted = requested(job_with(name))
    (line,) = ignored(in_force(wanted, {**wanted, name: None}))
    assert line == f"option {name}: {level_of(name)} was requested, and the engine does not report what was in force"


def test_a_learning_rate_in_single_precision_is_the_same() -> None:
    wanted = requested(job_with("learning_rate"))
    assert list(ignored(in_force(wanted, {**wanted, "learning_rate": 0.5 + 1e-8}))) == []
    assert list(ignored(in_force(wanted, {**wanted, "learning_rate": 0.501})))


def test_the_rates_of_a_schedule_are_not_one_level() -> None:
    training = {"epochs": 1, "learning_rate": 0.5, "schedule": {"kind": "cosine"}}
    assert "learning_rate" not in requested(job_with("learning_rate", training=training))


@pytest.mark.parametrize("phase", ["infer", "train"])
def test_the_worker_records_what_was_requested_and_what_the_engine_reports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, phase: str
) -> None:
    clock = Clock()
    for module in (worker, events):
        monkeypatch.setattr(module, "time", clock)
    made = Scripted(clock) if phase == "infer" else ScriptedTraining(clock)
    made.levels = lambda: {"precision": "fp32", "threads": 2, "learning_rate": 0.001}
    make = "make_inference" if phase == "infer" else "make_training"
    monkeypatch.setattr(worker, make, lambda engine, spec, data: made)
    save_arrays(tmp_path / "data.npz", TEN)
    job = {
        **job_with("precision", phase=phase, training={"epochs": 1, "learning_rate": 0.001}),
        **{"data": str(tmp_path / "data.npz"), "events": str(tmp_path / "events"), "weights": "trained"},
        **{"result": str(tmp_path / "result.json"), "model": "m", "batch_size": 3, "device": "cpu", "seed": 1},
        **{"provider": "native", "window": {"warm_up_batches": 1, "minimum_s": 0}},
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    worker.main(str(tmp_path / "job.json"))
    options = json.loads((tmp_path / "result.json").read_text())["workload"]["options"]
    assert options["precision"] == {"requested": "bf16", "in_force": "fp32"}
    assert options["threads"] == {"requested": 2, "in_force": 2}
    assert options["compile"] == {"requested": "plain"}, "nothing was reported, and nothing asked for"
    assert list(ignored(options)) == ["option precision: bf16 was requested, fp32 was in force"]
