"""Settings changed after measuring, in study file, plan and hashes of jobs: what runs show is held to them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from forger import Forger, assert_noticed, put
from package_factory import CELL, make_package, study_of
from played_runs import S

from framewatt.meters.trace import Trace
from framewatt.package.unpack import unpack
from framewatt.package.verification.opened import open_package
from framewatt.package.verification.statement import statement_of
from framewatt.package.verify import problems_of

Edit = Callable[[Forger], object]


def said(path: str, value: object) -> Edit:
    """A setting, and all that follows from it."""

    def edit(forger: Forger) -> None:
        section, _, key = path.partition(".")
        forger.settings(lambda study: study.setdefault(section, {}).update({key: value}))
        forger.replan()
        forger.follow(study_of(forger.study).settings)

    return edit


def of_every_trace(change: Callable[[Trace], Trace]) -> Edit:
    return lambda forger: [forger.trace(path, change) for path in forger.results.glob("measure/*/*")]


def then(*edits: Edit) -> Edit:
    """Edits, one after the other, and all that follows from them."""

    def edit(forger: Forger) -> None:
        for one in edits:
            one(forger)
        forger.follow(study_of(forger.study).settings)

    return edit


def paced(period_s: float) -> Callable[[Trace], Trace]:
    """Channels that say another pace, and their readings as they were."""

    def change(trace: Trace) -> Trace:
        channels = tuple(type(c)(**c.to_dict() | {"period_s": period_s}) for c in trace.channels)
        return Trace(channels, trace.monotonic_ns, trace.channel, trace.value)

    return change


def moved_together(forger: Forger) -> None:
    """Every run begins 2 s after the one before it, and says that it rested for 100 s."""
    for path in forger.results.glob("measure/*/*"):
        position: list[int] = []
        forger.json(path / "run.json", lambda record, position=position: position.append(record["position"]))
        back_ns = (position[0] - 1) * 86 * S
        forger.trace(path, lambda t, back_ns=back_ns: Trace(t.channels, t.monotonic_ns - back_ns, t.channel, t.value))
        forger.events(
            path, lambda events, back_ns=back_ns: [{**e, "monotonic_ns": e["monotonic_ns"] - back_ns} for e in events]
        )
    forger.every_record(put("cool_down_s", 100.0))


FORGED: dict[str, tuple[Edit, str]] = {
    "a longer window": (said("window.minimum_s", 600.0), "the study file sets 600, the window has 9"),
    "a shorter window": (said("window.minimum_s", 5.0), "the study file sets 5, the window went on after"),
    "more warm-up": (said("window.warm_up_batches", 20000), "the study file sets 20000, the warm-up has"),
    "warm-up without a window": (
        then(
            lambda forger: forger.events(
                forger.run(CELL), lambda events: [e for e in events if e["window"] != "warm_up"]
            )
        ),
        "the record has no warm_up",
    ),
    "a rest": (
        said("cool_down.rest_s", 300.0),
        "cool_down_s: the record states 0.0, the study file has a rest of 300 s",
    ),
    "a rest in the records too": (
        then(
            lambda forger: forger.every_record(put("cool_down_s", 300.0)),
            said("cool_down.rest_s", 300.0),
        ),
        r"cool_down_s: the record states 300, .* ended 88 s before",
    ),
    "runs one right after the other": (
        then(moved_together),
        r"cool_down_s: the record states 100, .* ended 2 s before",
    ),
    "a wait for idle": (said("cool_down.idle_band", 0.1), "returned_to_idle: the record states None"),
    "a wait that ended without": (
        then(
            said("cool_down.idle_band", 0.1),
            lambda forger: forger.every_record(lambda r: r | {"returned_to_idle": False, "cool_down_s": 1.0}),
        ),
        "the study file has a rest of 300 s",
    ),
    "a finer pace": (said("instruments.period_s", 0.001), "period_s: its trace states 0.01, the study gives 0.001"),
    "a finer pace in the traces too": (
        then(of_every_trace(paced(0.001)), said("instruments.period_s", 0.001)),
        "missed_reads: the record states 0, of 13980 reads that were due 1399 are there",
    ),
    "a coarser pace in the traces too": (
        then(of_every_trace(paced(0.1)), said("instruments.period_s", 0.1)),
        "1400 readings in 13.99 s, planned every 0.1 s: more often than that",
    ),
    "a finer pace of idle power": (
        said("instruments.period_s", 0.001),
        "idle.json: sampler: it states 299 reads were due in",
    ),
    "batches within the window, of few data": (
        then(lambda forger: forger.every_record(put("batches", {"made": "streamed", "pass_b": 1000}))),
        "batches: the record states streamed, with 1000 bytes a pass they are ahead",
    ),
    "batches ahead, where none are asked for": (
        then(
            lambda forger: forger.every_record(put("batches", {"made": "ahead", "pass_b": 1000})),
            said("window.ahead_gb", 0),
        ),
        "batches: the record states ahead, with 1000 bytes a pass they are streamed",
    ),
    "batches of which nothing is told": (
        said("window.ahead_gb", 1),
        "batches: the record does not state how they were made; the study file sets window.ahead_gb 1",
    ),
    "batches within the window, without a word": (
        then(
            lambda forger: forger.every_record(put("batches", {"made": "streamed", "pass_b": 1000})),
            said("window.ahead_gb", 0),
        ),
        "flags: the record has not 'batches were made within the window",
    ),
    "other reads": (
        then(lambda forger: forger.record(CELL, put("sampler.reads", 9999))),
        "sampler.reads: the record states 9999, its trace has 1399",
    ),
    "another level in force, without a word": (
        then(lambda forger: forger.record(CELL, put("workload.options.compile.in_force", "compiled"))),
        "what was seen gives option compile: plain was requested, compiled was in force",
    ),
    "another level requested and in force": (
        then(lambda forger: forger.record(CELL, put("workload.options.threads", {"requested": 16, "in_force": 16}))),
        r"workload.options: the record states .*'threads': 16.* was requested, the study file sets .*'threads': 2",
    ),
    "options of which nothing is recorded": (
        then(lambda forger: forger.record(CELL, lambda record: record["workload"].pop("options") and None)),
        r"workload.options: the record states \{\} was requested",
    ),
    "other threads": (
        then(lambda forger: (forger.settings(put("threads", 16)), forger.replan())),
        "'threads': 2.* was requested, the study file sets .*'threads': 16",
    ),
    "more epochs": (said("training.epochs", 10), "epochs: the record states"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_setting_that_the_runs_contradict_is_noticed(forger: Forger, name: str) -> None:
    edit, essence = FORGED[name]
    edit(forger)
    forger.mend()
    assert_noticed(forger, essence)


def test_what_can_be_so_is_believed(forger: Forger) -> None:
    """Reads are lost, a rest may be longer than asked for, and a warm-up may have no batches."""
    said("window.warm_up_batches", 0)(forger)
    forger.every_record(put("cool_down_s", 80.0))
    forger.every_record(lambda record: record["sampler"].update(missed_reads=7, duration_s=14.1))
    then()(forger)
    forger.mend()
    assert list(problems_of(forger.folder)) == []


def test_runs_of_before_jobs_had_hashes_are_not_held_to_the_last_settings_and_that_is_told(tmp_path: Path) -> None:
    forger = Forger(unpack(make_package(tmp_path / "made", old_form=True), tmp_path / "out"))
    forger.settings(put("window.minimum_s", 600.0))
    forger.json("results/trial/plan/plan.json", put("settings.window.minimum_s", 600.0))
    forger.mend()
    assert list(problems_of(forger.folder)) == []
    said = "\n".join(statement_of(open_package(forger.folder), None))
    assert "that runs were measured under the last settings of the study file" in said
