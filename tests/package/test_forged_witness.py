"""Packages whose runs were disturbed: what their witnesses saw cannot be taken back, nor a first try invented."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forger import Forger, put
from package_factory import CELL, study_of
from test_forged_runs import rechain

from framewatt.base.files import read_json
from framewatt.meters.contract import WITNESS
from framewatt.meters.trace import Trace
from framewatt.package.verify import problems_of
from framewatt.runs.chain import NAME as CHAIN

CAUSE = "other work took 13 % of the processors"
MUCH = "other work took 38 % of the processors"


def neighbour(trace: Trace, idled: float = 0.75) -> Trace:
    """A trace in which processors idled less: by half a second in each, or for another share of their time."""
    idle = next(i for i, one in enumerate(trace.channels) if (one.instrument, one.quantity) == (WITNESS, "idle_s"))
    return Trace(
        trace.channels, trace.monotonic_ns, trace.channel, np.where(trace.channel == idle, idled, 1) * trace.value
    )


def busy_neighbour(trace: Trace) -> Trace:
    """A trace in which others take more than a run may lose and count."""
    return neighbour(trace, 0.25)


def without(dropped: Callable[[Any], bool]) -> Callable[[Trace], Trace]:
    """A trace without some of its channels."""

    def change(trace: Trace) -> Trace:
        kept = [index for index, one in enumerate(trace.channels) if not dropped(one)]
        rows = np.isin(trace.channel, kept)
        numbers = np.searchsorted(kept, trace.channel[rows]).astype(np.int32)
        return Trace(tuple(trace.channels[i] for i in kept), trace.monotonic_ns[rows], numbers, trace.value[rows])

    return change


def disturbed(forger: Forger, flags: list[str], by: Callable[[Trace], Trace] = neighbour) -> None:
    """Have others disturb the first run of a cell, and say so in its record."""
    folder = forger.run(CELL)
    forger.trace(folder, by)
    forger.record(CELL, lambda record: {**record, "flags": flags})


def told(forger: Forger, repeated: bool = False) -> list[str]:
    """What is wrong with a package, once all that follows is made anew and its chain has an entry a try."""
    path = forger.results / "measure" / CHAIN
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    forger.follow(study_of(forger.study).settings)
    if repeated:
        again = next(n for n, one in enumerate(entries) if (one["cell"], one["repetition"]) == (CELL, 1))
        entries.insert(again, {**entries[again], "sha256": {"run.json": "a" * 64}})
        entries[again + 1]["attempt"] = 2
        first = {"attempt": 1, "sequence": again + 1, "run_sha256": "a" * 64, "duration_s": 9.0, "energy_gross_j": {}}
        forger.record(CELL, put("attempt", 2))
        forger.record(CELL, put("first_try", {**first, "disturbed": ["others read 9 MB/s from disks"]}))
    rechain(forger, entries)
    forger.mend()
    return list(problems_of(forger.folder))


def test_a_run_that_was_disturbed_twice_and_says_so_is_true(forger: Forger) -> None:
    disturbed(
        forger, ["repeated, since the first try was disturbed: others read 9 MB/s from disks", f"disturbed: {CAUSE}"]
    )
    assert [line for line in told(forger, repeated=True) if "aggregate" not in line] == []


def test_a_run_that_was_disturbed_and_says_nothing_is_not(forger: Forger) -> None:
    disturbed(forger, [])
    text = "\n".join(told(forger))
    assert f"{CELL}/1: flags: the record has not 'disturbed: {CAUSE}'" in text
    # So little is no reason to measure a run again.
    assert "first_try" not in text


def test_a_run_that_was_disturbed_too_much_and_not_repeated_is_not(forger: Forger) -> None:
    disturbed(forger, [f"disturbed: {MUCH}"], busy_neighbour)
    text = "\n".join(told(forger))
    assert "flags: " not in text
    assert "first_try: the record has none, of a run that was disturbed, which the study has repeated" in text


def test_a_disturbance_that_the_trace_does_not_show_is_not(forger: Forger) -> None:
    forger.record(CELL, lambda record: {**record, "flags": [f"disturbed: {CAUSE}"]})
    assert any("follows from nothing" in line for line in told(forger))


def test_a_first_try_that_the_chain_does_not_know_is_not(forger: Forger) -> None:
    first = {"attempt": 1, "sequence": 2, "run_sha256": "b" * 64, "duration_s": 1.0, "energy_gross_j": {}}
    forger.record(CELL, lambda record: {**record, "first_try": {**first, "disturbed": [CAUSE]}})
    text = "\n".join(told(forger))
    assert "first_try: the record states attempt 1 before its own, 1" in text
    assert "first_try: entry 2 of the chain is not that of its first try" in text


LESS = {
    "the whole witness": (
        lambda one: one.instrument == WITNESS,
        "witness: the record has none",
    ),
    "the counter of idle time": (lambda one: one.quantity == "idle_s", "witness.0.quantity: its trace has 'steal_s'"),
}


@pytest.mark.parametrize(("dropped", "problem"), LESS.values(), ids=LESS)
def test_a_trace_without_its_witness_is_told(dropped: Callable[[Any], bool], problem: str, forger: Forger) -> None:
    forger.trace(forger.run(CELL), without(dropped))
    assert problem in "\n".join(told(forger))


def test_the_shares_of_a_record_are_those_of_its_trace(good: Path) -> None:
    steady = read_json(Forger(good).run(CELL) / "run.json")["windows"]["steady"]["witness"]
    assert steady["run_cpu_s"] == pytest.approx(1.97 * 9, rel=0.05)
    assert steady["others_share"] == pytest.approx(0.01 / 4, rel=0.05)
    assert (steady["disturbed"], steady["unknown"]) == ([], None)


@pytest.mark.parametrize("witness", [{"others_cpu_s": "many"}, {"others_cpu_s": -3.0}, "many"])
def test_nonsense_of_others_at_rest_is_told(forger: Forger, witness: object) -> None:
    forger.json("results/trial/calibrate/idle.json", lambda idle: idle | {"witness": witness})
    assert any("calibrate/idle.json: witness: it states others_cpu_s" in line for line in problems_of(forger.folder))
