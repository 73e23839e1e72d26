"""What nobody can tell from a package is not called noticed: verify says that it cannot be proved."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from forged_edits import IDLE, TRAINED, Edit, last_words, of_json, of_record, relabel_run
from forger import Forger, put, scaled
from package_factory import CELL, make_package, study_of
from played_runs import MACHINE

from framewatt.host.machine import machine_of
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of

BETTER = {**MACHINE, "cpu_model": "a better one"}
BETTER["id"] = machine_of(BETTER)

BETTER_TOLD = (("accuracy", 0.95), ("top1_error", 0.05))
"""Each follows from the other, so that one alone would be told."""


def relabel(forger: Forger, domain: str, field: str, value: object) -> None:
    """Change what a channel is, in all traces, baselines and records."""

    def of_idle(idle: dict) -> None:
        entry = idle["domains"].pop(domain)
        name = value if field == "domain" else domain
        idle["domains"][name] = entry if field == "domain" else entry | {field: value}

    for path in forger.results.glob("measure/*/*"):
        relabel_run(path, forger, domain, field, value)
    for name in ("idle", "idle_after"):
        forger.json(f"results/trial/calibrate/{name}.json", of_idle)


def everywhere(*edits: Edit) -> Edit:
    """Some edits, and all that follows from them made anew."""

    def edit(forger: Forger) -> None:
        for one in edits:
            one(forger)
        forger.follow(study_of(forger.study).settings)

    return edit


def of_runs(change: Callable[[Forger, Path], object]) -> Edit:
    """An edit of every run's folder."""
    return lambda forger: [change(forger, path) for path in sorted(forger.results.glob("measure/*/*"))]


def estimate_called_rapl(forger: Forger) -> None:
    """An estimate is called a measurement of RAPL's, everywhere."""
    relabel(forger, "cpu:estimate", "instrument", "rapl")
    relabel(forger, "cpu:estimate", "estimated", False)
    relabel(forger, "cpu:estimate", "domain", "cpu:package-0")
    forger.json("results/trial/calibrate/instruments.json", call_rapl_available)
    for name in ("idle", "idle_after"):
        forger.json(f"results/trial/calibrate/{name}.json", put("meters", ["rapl"]))
    forger.every_record(put("meters", ["rapl"]))


def call_rapl_available(content: dict) -> None:
    content["meters"] = ["rapl"]
    content["available"]["rapl"] = {"available": True, "reason": ""}


def last_repetition_removed(forger: Forger) -> None:
    forger.settings(put("repetitions", 1))
    forger.replan()
    for path in forger.results.glob("measure/*/2"):
        shutil.rmtree(path)


def setting_changed(forger: Forger) -> None:
    forger.settings(put("training.momentum", 0.5))
    forger.replan()


def unwelcome_run_failed(forger: Forger) -> None:
    """A run whose window never ended, by its events, and that was killed, by its record."""
    gone = ("primary_window", "units", "throughput_per_s", "latency", "workload")
    forger.events(
        forger.run(CELL, 2), lambda events: [e for e in events if (e["window"], e["edge"]) != ("steady", "end")]
    )
    forger.record(
        CELL,
        lambda record: (
            record
            | dict.fromkeys(gone)
            | {"status": "failed", "valid": False, "reasons": ["killed by SIGKILL"], "quality": {}}
        ),
        2,
    )
    forger.answers(forger.run(CELL, 2), None)


UNPROVABLE: dict[str, Edit] = {
    "all readings scaled": everywhere(of_runs(lambda forger, path: forger.trace(path, scaled(0.9)))),
    "a channel called another domain": everywhere(
        lambda forger: relabel(forger, "cpu:dram-0", "domain", "cpu:package-1")
    ),
    "less idle power": everywhere(
        of_json(IDLE, "domains.cpu:package-0.mean_power_w", 0.1), of_json(IDLE, "domains.cpu:dram-0.mean_power_w", 0.1)
    ),
    "idle power after the runs": everywhere(
        of_json("results/trial/calibrate/idle_after.json", "domains.cpu:package-0.mean_power_w", 0.1)
    ),
    "another machine": everywhere(
        lambda forger: forger.every_record(put("machine", BETTER)),
        *(
            of_json(f"results/trial/calibrate/{name}.json", "machine", BETTER)
            for name in ("idle", "idle_after", "instruments")
        ),
        of_json("identity.json", "machine", BETTER),
    ),
    "better accuracy": everywhere(
        *(lambda forger, one=one: forger.every_record(put(f"quality.{one[0]}.value", one[1])) for one in BETTER_TOLD),
        *(of_record(f"epochs.1.quality.{name}.value", value, TRAINED) for name, value in BETTER_TOLD),
        *(
            lambda forger, one=one: forger.record(TRAINED, put(f"epochs.1.quality.{one[0]}.value", one[1]), 2)
            for one in BETTER_TOLD
        ),
        of_json("results/trial/train/resnet50-digits-torch/train.json", "epochs.1.quality.accuracy.value", 0.95),
        of_runs(lambda forger, path: forger.answers(path, np.arange(360) < 342)),
    ),
    "a smaller loss": everywhere(of_record("epochs.0.loss_mean", 0.1, TRAINED)),
    "a lower percentile": everywhere(of_record("latency.p95_s", lambda s: s * 0.99)),
    "an objection of the preflight": everywhere(
        of_record("preflight", [{"topic": "load", "found": "1", "meaning": "2", "remedy": "3"}])
    ),
    "the last repetition removed": everywhere(last_repetition_removed),
    "a setting of the study": everywhere(setting_changed),
    "an unwelcome run called failed": everywhere(unwelcome_run_failed),
    "a study's question": everywhere(
        lambda forger: forger.settings(put("description", "Another question")), Forger.replan
    ),
}
"""What cannot be told where it was done everywhere: with all that follows from it, chain, crate and manifests."""


@pytest.mark.parametrize("name", UNPROVABLE)
def test_what_cannot_be_told_is_told_not_to_be(forger: Forger, name: str) -> None:
    UNPROVABLE[name](forger)
    forger.mend()
    assert list(problems_of(forger.folder)) == []
    assert "not provable: that readings, events, study file" in last_words(forger.folder)


def test_an_estimate_that_is_called_a_measurement_is_told_by_its_digits(tmp_path: Path) -> None:
    forger = Forger(unpack(make_package(tmp_path / "made", estimated=True), tmp_path / "out"))
    estimate_called_rapl(forger)
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    assert any("are no whole number of 1e-06 J, as rapl gives" in problem for problem in problems_of(forger.folder))


def test_other_code_of_some_runs_is_told(forger: Forger) -> None:
    forger.record(CELL, put("identity.code.sha256", "0" * 64))
    forger.follow(study_of(forger.study).settings)
    forger.mend()
    assert "1 of 6 runs were made by other code than is packed: 000000000000 (1)" in last_words(forger.folder)
