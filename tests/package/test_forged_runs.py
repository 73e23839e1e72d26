"""Forged packages of measured runs, all that follows mended: reasons, metrics, channels, attempts and clocks that do
not fit the rest of their study."""

import hashlib
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from forger import Forger, put
from package_factory import CELL, study_of
from records_factory import as_then

from framewatt.base.files import read_json, sha256_of
from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace
from framewatt.package.verification.opened import open_package
from framewatt.package.verification.statement import statement_of
from framewatt.package.verify import problems_of
from framewatt.runs.chain import FIRST, MEASURED, hashes_of
from framewatt.runs.chain import NAME as CHAIN
from framewatt.tasks.quality import described

ELEGANCE = {"elegance": {"value": 0.99, "unit": "", "better": "higher", "reason": None}}
"""A metric that no task has."""

B8, TRAINED = "infer-resnet50-digits-torch-b8", "train-resnet50-digits-torch-b16"
YEAR = timedelta(days=365)
S = 10**9

Edit = Callable[[Forger], object]
Entries = list[dict[str, Any]]


def found(forger: Forger, edit: Edit, chained: Callable[[Entries], Entries] = lambda entries: entries) -> list[str]:
    """What is wrong with a package that was edited, once all that follows and the chain were written anew."""
    path = forger.results / "measure" / CHAIN
    entries = chained([json.loads(line) for line in path.read_text().splitlines()])
    edit(forger)
    forger.follow(study_of(forger.study).settings)
    rechain(forger, entries)
    forger.mend()
    return list(problems_of(forger.folder))


def rechain(forger: Forger, entries: Entries) -> None:
    """The chain of some entries, with records that name theirs."""
    lines: list[bytes] = []
    for number, entry in enumerate(entries, 1):
        previous = hashlib.sha256(lines[-1]).hexdigest() if lines else FIRST
        link = {"sequence": number, "previous_sha256": previous}
        folder = forger.run(entry["cell"], entry["repetition"])
        last = all((one["cell"], one["repetition"]) != (entry["cell"], entry["repetition"]) for one in entries[number:])
        if last and entry["kind"] == MEASURED:
            forger.json(folder / "run.json", put("chain", link))
        hashes = {"sha256": hashes_of(folder, sha256_of(folder / "run.json"))} if last else {}
        lines.append(json.dumps({**entry, **hashes, **link}).encode())
    (forger.results / "measure" / CHAIN).write_bytes(b"".join(line + b"\n" for line in lines))


def of_record(change: dict[str, Any], cell: str = CELL, repetition: int = 1) -> Edit:
    return lambda forger: forger.record(cell, lambda record: record | change, repetition)


def of_channels(change: Callable[[Channel], Channel | None], cell: str = CELL) -> Edit:
    """The channels of one run, changed or taken out."""

    def edit(trace: Trace) -> Trace:
        changed = [change(one) for one in trace.channels]
        kept = [number for number, one in enumerate(changed) if one]
        mine = np.isin(trace.channel, kept)
        numbers = np.searchsorted(kept, trace.channel[mine]).astype(np.int32)
        return Trace(tuple(one for one in changed if one), trace.monotonic_ns[mine], numbers, trace.value[mine])

    return lambda forger: forger.trace(forger.run(cell), edit)


def without_memory(channel: Channel) -> Channel | None:
    return None if channel.domain == "cpu:dram-0" else channel


def with_field(**fields: Any) -> Callable[[Channel], Channel]:
    return lambda channel: Channel(**channel.to_dict() | fields)


def dated(by: timedelta, cell: str, repetition: int) -> Edit:
    """The wall clock of one run set by some time, with all its times of day."""

    def edit(forger: Forger) -> None:
        path = forger.run(cell, repetition) / "run.json"
        forger.json(path, put("clock.utc", lambda utc: (datetime.fromisoformat(utc) + by).isoformat()))
        forger.events(path.parent, lambda events: events)

    return edit


def both_clocks(cell: str, repetition: int, by_s: int) -> Edit:
    """One run moved on both of its clocks."""

    def edit(forger: Forger) -> None:
        folder = forger.run(cell, repetition)
        forger.trace(folder, lambda t: Trace(t.channels, np.asarray(t.monotonic_ns) + by_s * S, t.channel, t.value))
        forger.events(folder, lambda events: [{**e, "monotonic_ns": e["monotonic_ns"] + by_s * S} for e in events])

    return edit


def accuracy_unknown(record: dict[str, Any], flag: str) -> dict[str, Any]:
    reason = flag.removesuffix(", so accuracy is unknown")
    return record | {"quality": described(dict.fromkeys(record["quality"]), reason), "flags": [flag]}


def named(quality: dict[str, Any]) -> Edit:
    return lambda forger: forger.record(CELL, lambda record: record | {"quality": quality(record["quality"])})


DIED = "the sampling process died or hung"
LATENCY = {"batches": 8, "mean_s": 1.0, "p50_s": 1.0, "p95_s": 1.0, "p99_s": 1.0, "max_s": 1.0}
NOTICED: dict[str, tuple[Edit, str]] = {
    "a run made invalid by hand": (
        of_record({"sampler": None, "valid": False, "reasons": ["the room was too warm"]}),
        "sampler: the record has none, and no reason why: the room was too warm",
    ),
    "no sampler and no reason": (of_record({"sampler": None}), "sampler: the record has none, and no reason why: none"),
    "a second reason": (
        of_record({"sampler": None, "valid": False, "reasons": [DIED, "the room was too warm"]}),
        "reasons: the record states the room was too warm, what was seen gives none",
    ),
    "a sampler that died and told": (
        of_record({"valid": False, "reasons": [DIED]}),
        "reasons: the record states the sampling process died or hung, what was seen gives none",
    ),
    "accuracy that is unknown and known": (
        of_record({"flags": ["outputs are not numbers, so accuracy is unknown"]}),
        "so accuracy is unknown', of a run with known accuracy, precision_macro, .*, top5_error",
    ),
    "accuracy unknown for no reason there is": (
        lambda forger: forger.record(CELL, lambda r: accuracy_unknown(r, "it was late, so accuracy is unknown")),
        "'it was late, so accuracy is unknown': data and weights give no such reason",
    ),
    "trained weights called random": (
        lambda forger: forger.record(CELL, lambda r: accuracy_unknown(r, "weights are random, so accuracy is unknown")),
        "'weights are random, so accuracy is unknown': data and weights give no such reason",
    ),
    "a metric of a made up name": (
        named(lambda quality: {**quality, **ELEGANCE}),
        "quality: the record has .*, elegance. The task has accuracy, .*, top1_error, top5_error",
    ),
    "a metric less": (
        named(lambda quality: {"f1_macro": quality["f1_macro"]}),
        "quality: the record has f1_macro. The",
    ),
    "an error beside another accuracy": (
        lambda forger: forger.record(CELL, put("quality.top1_error.value", 0.2)),
        "quality.top1_error: the record states 0.2, its accuracy gives 0.1",
    ),
    "an error of no whole number of samples": (
        lambda forger: forger.record(CELL, put("quality.top5_error.value", 0.0251)),
        "quality.top5_error: the record states 0.0251, which is no whole number of 360 samples",
    ),
    "an error of the best five that is not told": (
        named(lambda quality: {name: told for name, told in quality.items() if name != "top5_error"}),
        "quality: the record has accuracy, .*, top1_error. The task has .*, top5_error",
    ),
    "a metric of an epoch": (
        lambda forger: forger.record(TRAINED, put("epochs.0.quality.elegance", ELEGANCE["elegance"])),
        "epoch 1: quality: the record has .*, elegance. The task has",
    ),
    "accuracy of an epoch alone": (
        lambda forger: forger.record(TRAINED, put("epochs.0.quality.accuracy.value", None)),
        "epoch 1: quality: some are known and some are not",
    ),
    "phases of a task without phases": (
        of_record({"phases": {"decode": {"name": "generated token", "count": 9}}}, CELL),
        "phases.decode: the record states .*, the task gives",
    ),
    "latency of a training": (of_record({"latency": LATENCY}, TRAINED), "latency: the record has one, of a training"),
    "a channel less in one run": (
        of_channels(without_memory),
        "b1/1: its trace has no channel rapl cpu:dram-0 energy_j, which most runs of its machine and meters have",
    ),
    "a channel renamed in one run": (
        of_channels(lambda one: with_field(domain="cpu:psys")(one) if "dram" in one.domain else one),
        "b1/1: its trace has a channel rapl cpu:psys energy_j, which most runs of its machine and meters have not",
    ),
    "another resolution in one run": (
        of_channels(with_field(resolution=1e-9)),
        "b1/1: channel rapl cpu:package-0 energy_j.resolution: the trace states 1e-09, other runs have 6.1e-05",
    ),
    "a quicker meter in one run": (of_channels(with_field(update_period_s=1e-6), B8), "energy_j.update_period_s: the"),
    "a limit in one run": (of_channels(with_field(max_power_w=1e9), TRAINED), "energy_j.max_power_w: the trace states"),
    "a run dated a year before": (
        lambda forger: dated(-YEAR, *third(forger))(forger),
        "dated -365.0 days off the runs before it and .* after it, and its record has no step of the clock",
    ),
    "a run dated a year later": (lambda forger: dated(YEAR, *third(forger))(forger), r"dated \+365.0 days off"),
    "a place that another date hides": (
        lambda forger: (
            dated(YEAR, *planned(forger, 0))(forger),
            of_record({"position": 99}, *planned(forger, 5))(forger),
        ),
        "position: the record states 99, the plan gives 6",
    ),
    "a run moved on both clocks": (
        lambda forger: both_clocks(*third(forger), 10_000)(forger),
        "measured after .*, and its entry of the chain .* is from before",
    ),
    "a record of an older schema, which is held to less": (
        lambda forger: forger.record(CELL, lambda record: as_then(record, 2)),
        "schema_version: the record states 2, the code that made it writes 6",
    ),
    "a run from before the boot": (
        lambda forger: both_clocks(*third(forger), -10_000)(forger),
        "measured 9699 s before its machine was booted",
    ),
}
"""What is done to a package, and what verify has to say of it."""


def planned(forger: Forger, place: int) -> tuple[str, int]:
    """The run in a place of the order, from 0."""
    entry = read_json(forger.results / "plan" / "plan.json")["order"][place]
    return entry["cell"], entry["repetition"]


def third(forger: Forger) -> tuple[str, int]:
    """The run in the third place of six."""
    return planned(forger, 2)


def last_words(forger: Forger) -> str:
    return "\n".join(statement_of(open_package(forger.folder), None))


def test_what_a_forger_mends_is_as_it_was(forger: Forger) -> None:
    assert found(forger, lambda _: None) == []


@pytest.mark.parametrize("name", NOTICED)
def test_a_forged_run_is_noticed(forger: Forger, name: str) -> None:
    edit, essence = NOTICED[name]
    problems = found(forger, edit)
    assert any(re.search(essence, problem) for problem in problems), problems


def test_epochs_of_an_inference_are_noticed(forger: Forger) -> None:
    epoch = {"epoch": 1, "units": 1, "loss_mean": 1.0}
    forger.record(CELL, lambda record: record | {"epochs": [epoch | {"quality": record["quality"]}]})
    forger.mend()
    assert f"{CELL}/1: epochs: the record has 1, of an inference" in list(problems_of(forger.folder))


@pytest.mark.parametrize("reason", [DIED, "the sampling process ended: meter perf: found nothing"])
def test_a_sampler_that_died_is_believed_and_told(forger: Forger, reason: str) -> None:
    assert found(forger, of_record({"sampler": None, "valid": False, "reasons": [reason]})) == []
    assert "that the sampling process of 1 runs did not live to their end" in last_words(forger)


def test_unlabelled_data_make_accuracy_unknown(forger: Forger) -> None:
    why = "the study names no metric"
    forger.json("resources/data/digits.json", put("classes_reason", why))
    problems = "\n".join(found(forger, of_record({})))
    assert f"are known, and {why}" in problems


def test_accuracy_of_outputs_that_are_no_numbers_is_believed(forger: Forger) -> None:
    flag = "outputs of shape (360, 2) are no scores of 10 classes, so accuracy is unknown"

    def edit(forger: Forger) -> None:
        forger.record(CELL, lambda record: accuracy_unknown(record, flag))
        forger.answers(forger.run(CELL), None)

    assert found(forger, edit) == []


@pytest.mark.parametrize("change", [{"meters": []}, {"device": "cuda"}])
def test_channels_are_those_of_runs_with_the_same_meters(forger: Forger, change: dict[str, Any]) -> None:
    def edit(forger: Forger) -> None:
        of_channels(without_memory)(forger)
        of_record(change)(forger)

    assert not any("which most runs of its machine" in problem for problem in found(forger, edit))


def test_a_clock_that_is_set_right_is_told(forger: Forger) -> None:
    order = read_json(forger.results / "plan" / "plan.json")["order"]
    first = order[0]["cell"], order[0]["repetition"]
    assert found(forger, dated(-YEAR, *first)) == []
    assert "the wall clock was set, or the machine slept, before" in last_words(forger)


def test_a_clock_that_says_that_it_moved_is_believed(forger: Forger) -> None:
    def edit(forger: Forger) -> None:
        cell, repetition = third(forger)
        dated(-YEAR, cell, repetition)(forger)
        order = read_json(forger.results / "plan" / "plan.json")["order"]
        moved = {(order[1]["cell"], order[1]["repetition"]): -YEAR, (cell, repetition): YEAR}
        for run, by in moved.items():
            forger.record(run[0], put("clock.moved_s", by.total_seconds()), run[1])

    assert not any("days off" in problem for problem in found(forger, edit))


def attempts(*numbers: int) -> Callable[[Entries], Entries]:
    """The entries of a run by its attempts, the last of which is its record's."""

    def change(entries: Entries) -> Entries:
        (mine,) = (entry for entry in entries if (entry["cell"], entry["repetition"]) == (CELL, 1))
        others = [entry for entry in entries if entry is not mine]
        place = entries.index(mine)
        return [*others[:place], *({**mine, "attempt": number} for number in numbers), *others[place:]]

    return change


def attempted(number: int) -> Edit:
    flags = [f"attempt {number}; earlier ones failed"] if number > 1 else []
    return of_record({"attempt": number, "flags": flags})


@pytest.mark.parametrize("numbers", [(1,), (1, 2), (1, 1, 2), (1, 2, 1), (1, 2, 2, 3), (1, 2, 1, 2)])
def test_attempts_that_follow_each_other_are_believed(forger: Forger, numbers: tuple[int, ...]) -> None:
    assert found(forger, attempted(numbers[-1]), attempts(*numbers)) == []


@pytest.mark.parametrize(("numbers", "before"), [((2,), "none"), ((1, 3), "1"), ((1, 2, 4), "1, 2")])
def test_an_attempt_that_none_came_before_is_named(forger: Forger, numbers: tuple[int, ...], before: str) -> None:
    problems = "\n".join(found(forger, attempted(numbers[-1]), attempts(*numbers)))
    assert re.search(f"{CELL}/1: entry \\d of the chain is attempt {numbers[-1]}; before it: {before}\n?", problems)


def test_an_entry_of_another_attempt_than_its_records_is_named(forger: Forger) -> None:
    problems = "\n".join(found(forger, attempted(1), attempts(1, 2)))
    assert "attempt: the record states 1, its entry states 2" in problems


@pytest.mark.parametrize("number", [None, 0, -1, True, "2"])
def test_an_entry_without_a_number_of_its_attempt_is_none(forger: Forger, number: object) -> None:
    problems = "\n".join(found(forger, attempted(1), attempts(number)))
    assert "is not an entry" in problems


def test_an_attempt_of_a_record_older_than_its_chain_is_believed(forger: Forger) -> None:
    def found_first(entries: Entries) -> Entries:
        (mine,) = (entry for entry in entries if (entry["cell"], entry["repetition"]) == (CELL, 1))
        older = {**mine, "kind": "found", "attempt": None}
        return [older, *(entry for entry in entries if entry is not mine), {**mine, "attempt": 4}]

    assert not any("is attempt" in problem for problem in found(forger, attempted(4), found_first))
