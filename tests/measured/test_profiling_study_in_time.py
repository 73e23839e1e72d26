"""A profiled study of stand-ins that sleep for known times: its numbers are these times, where nothing disturbs it."""

import csv
import json
from pathlib import Path

import pytest
import stand_ins
from checkout import Checkout
from stand_ins import EXPORTED, INFERRED, LONGEST_S, LOOP_S, PROFILED, STEP_S, TRAINED, WINDOW_S

from framewatt.runs.records import read_run

TARGETS = ("aggregate/runs.csv", "operators/repeated.csv", "operators/timelines.csv", "tables/profiler_cost.csv")


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    checkout = Checkout(tmp_path)
    stand_ins.install(checkout)
    checkout.write_study("timed", **stand_ins.profiled_study(checkout, training_step_s=STEP_S))
    targets = [f"results/timed/{name}" for name in TARGETS]
    answer = checkout.snakemake(*targets, config=f"study=timed {stand_ins.CONFIG}")
    assert answer.code == 0, answer.text
    return checkout.root / "results" / "timed"


@pytest.mark.measured(
    twin="tests/workflow/test_profiling_study.py::test_a_call_alone_is_compared_with_the_same_call_in_the_program"
)
def test_every_way_of_profiling_finds_the_times_that_were_slept(results: Path) -> None:
    repeated = rows_of(results / "operators" / "repeated.csv")
    compared = [row for row in repeated if row["cell"] == INFERRED]
    assert [row["by"] for row in compared] == ["operator", "call"]
    for row in compared:
        assert float(row["repeated_s"]) == pytest.approx(STEP_S, rel=0.1)
        assert float(row["joined_s"]) == pytest.approx(STEP_S, rel=0.3)
    (case,) = json.loads((results / "repeated" / INFERRED / "repeated.json").read_text())["cases"]
    assert {round(loop["duration_s"], 1) for loop in case["loops"]} == {LOOP_S}
    # The epochs of the training are too short to distinguish its operators.
    operators = {cell: {row["operator"] for row in repeated if row["cell"] == cell} for cell in PROFILED}
    assert (operators[TRAINED], operators[EXPORTED]) == ({"all operators"}, {"convolution"})

    drifts = [float(row["clock_drift"]) for row in rows_of(results / "operators" / "timelines.csv")]
    assert drifts == pytest.approx([-2e-5] * 3, abs=1e-4)
    passes = json.loads((results / "timelines" / INFERRED / "timeline.json").read_text())["passes"]
    assert passes["profiled"]["window"]["duration_s"] == pytest.approx(LONGEST_S, abs=0.1)
    assert passes["plain"]["window"]["duration_s"] >= WINDOW_S
    assert 0 < passes["profiled"]["units"]["count"] < passes["plain"]["units"]["count"]

    cost = rows_of(results / "tables" / "profiler_cost.csv")
    assert len(cost) == len(PROFILED)
    assert all(0.1 < float(row["windows_ratio"]) < 100 for row in cost)
    for path in results.glob("measure/*/*/run.json"):
        record = read_run(path)
        (energy,) = record["windows"][record["primary_window"]]["domains"].values()
        assert energy["samples"] > 10, path
