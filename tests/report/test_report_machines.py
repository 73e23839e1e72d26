"""What the page says of the machines and sessions on which its runs took place."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from report_factory import STATISTICS, TENSORFLOW, TORCH, answered_study, head, run_record

from framewatt.report import Material
from framewatt.report.answers import answer_study
from framewatt.report.machines import machine_facts, machines_of, sessions_of, several_machines_sentence
from framewatt.report.material import ENERGY
from framewatt.report.numbers import Facts
from framewatt.report.sentences import machines_sentence
from framewatt.statistics.machines import answer_by_machine
from framewatt.study.cell import Cell


def on_two(one: dict[Cell, list[float]], other: dict[Cell, list[float]]) -> Material:
    """A study whose cells took these joules on each of two machines, which share its blocks."""
    found = answered_study({cell: [*one[cell], *other[cell]] for cell in one})
    blocks = len(next(iter(one.values())))
    machine = ["b" if repetition > blocks else "a" for repetition in found.runs["repetition"]]
    runs = found.runs.assign(machine=machine, session=machine)
    return dataclasses.replace(found, runs=runs, machines=answer_by_machine(runs, STATISTICS))


def test_the_page_begins_with_what_machines_say_together() -> None:
    cheap, dear = [1.0, 1.1, 0.9, 1.05], [2.02, 2.2, 1.8, 1.98]
    found = on_two({TORCH: cheap, TENSORFLOW: dear}, {TORCH: dear, TENSORFLOW: [3.9, 4.4, 3.7, 4.1]})
    told = head(found).text
    assert told.startswith("On all 2 machines, in the mean over them: torch takes the least energy for one sample")
    assert "Between machines ratios differ by at most" in told


def test_machines_that_do_not_agree_are_never_averaged() -> None:
    cheap, dear = [1.0, 1.1, 0.9, 1.05], [2.02, 2.2, 1.8, 1.98]
    found = on_two({TORCH: cheap, TENSORFLOW: dear}, {TORCH: dear, TENSORFLOW: cheap})
    (sentence,) = map(machines_sentence, answer_study(found).over_machines[ENERGY])
    assert sentence == (
        "Machines do not agree in energy for one sample (Inference, batch 1 (resnet50, digits)): "
        "on a it is torch and on b it is tensorflow."
    )
    assert sentence in head(found).text


def test_one_machine_has_nothing_to_agree_with() -> None:
    found = answered_study({TORCH: [1.0, 1.1], TENSORFLOW: [2.0, 2.2]})
    assert answer_study(found).over_machines[ENERGY] == []


def facts_of_machines(found: Material) -> list[Facts]:
    return machine_facts(machines_of(found), sessions_of(found), merged=found.merged)


def several(found: Material) -> str:
    return several_machines_sentence(sessions_of(found), merged=found.merged)


def placed(one: Material, places: Sequence[Mapping[str, Any]]) -> Material:
    """A study whose runs were measured in turn on these machines."""
    records = [run_record(row) for row in one.totals.to_dict("records")]
    told = [
        {**record, "machine": {**record["machine"], **places[place % len(places)]}}
        for place, record in enumerate(records)
    ]
    return dataclasses.replace(one, records=told)


@pytest.mark.parametrize(
    ("places", "scope", "sessions"),
    [
        ([{"session": "a"}], "On this machine, in this session: ", [None]),
        ([{"session": "a"}, {"session": "b"}], "On this machine, in 2 sessions: ", ["2, with 4 runs, 4 runs"]),
        (
            [{"session": "a"}, {"session": "b", "cpu_model": "Abacus 4000"}],
            "On these 2 machines, in 2 sessions: ",
            ["1, with 4 runs"] * 2,
        ),
        # An update of the kernel is no other machine.
        ([{"session": "a"}, {"session": "b", "kernel": "6.8"}], "On this machine, in 2 ", ["2, with 4 runs, 4 runs"]),
    ],
)
def test_the_page_says_of_how_many_machines_and_sessions_the_runs_are(
    places: list[dict[str, Any]], scope: str, sessions: list[str | None]
) -> None:
    found = placed(answered_study({TORCH: [1.0, 1.1, 0.9, 1.0], TENSORFLOW: [2.02, 2.2, 1.8, 1.98]}), places)
    assert head(found).text.startswith(scope)
    told = [dict(facts) for facts in facts_of_machines(found)]
    assert [one.get("Sessions (boots)") for one in told] == sessions
    assert several(found).startswith("Means over all runs mix them.")
    assert all("a" not in one.values() for one in told)


def test_records_from_before_sessions_are_told_as_they_were() -> None:
    untold = {"fingerprint": "a", "session": None}
    found = placed(answered_study({TORCH: [1.0, 1.1], TENSORFLOW: [2.0, 2.2]}), [untold])
    old = [
        {**record, "machine": {k: v for k, v in record["machine"].items() if k not in ("id", "session")}}
        for record in found.records
    ]
    (facts,) = facts_of_machines(dataclasses.replace(found, records=old))
    assert several(dataclasses.replace(found, records=old)) == "Their numbers do not compare."
    assert facts == [("cpu model", "Abacus 3000"), ("memory", "16.0 GiB"), ("gpus", "none"), ("kernel", "6.1")]
