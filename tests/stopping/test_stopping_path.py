"""What a study's records say after each block, which blocks are still to come, and what was changed by hand."""

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from package_factory import hashes_of, results_tree
from records_factory import window
from stopping_factory import CELLS, RATIOS, RULE, path, records, settings
from study_factory import loaded

from framewatt.base.files import read_json, write_json
from framewatt.planning.blocks import Blocks, blocks_of, blocks_there, plan_until
from framewatt.planning.due import Due
from framewatt.planning.plan import plan_of
from framewatt.runs.aside import ASIDE
from framewatt.stopping.expected import expected, minutes_after
from framewatt.stopping.history import changes_of, note_change, sentences
from framewatt.stopping.path import path_of
from framewatt.stopping.record import COLUMNS, frame_of, record_of
from framewatt.study.stopping_rule import Rule


def test_a_study_stops_at_the_first_look_by_which_every_group_is_settled() -> None:
    found = path(8)
    assert (found.stopped, found.settled) == (True, True)
    assert 4 < len(found.steps) < 8
    assert [step.looked for step in found.steps] == [step.blocks >= 4 for step in found.steps]
    assert not any(step.settled for step in found.steps[3:-1])
    assert record_of(found)["why"] == (
        f"Stopped after {len(found.steps)} blocks: which choice takes the least energy is known in every group."
    )
    assert list(found.steps[-1].groups) == ["infer resnet50 digits batch 1 fp32", "infer resnet50 digits batch 64 fp32"]


def test_later_blocks_do_not_change_what_stopped_it() -> None:
    blocks = len(path(8).steps)
    assert record_of(path(blocks)) == record_of(path(8))
    assert not path(blocks - 1).stopped
    with pytest.raises(ValueError, match="the study goes on"):
        record_of(path(blocks - 1))


def test_one_group_that_is_not_settled_goes_on_to_the_end() -> None:
    ties = {(f"{runtime}-b64", block): 100.0 + (block % 2) for block in range(1, 9) for runtime in RATIOS}
    found = path(8, change=ties)
    assert (len(found.steps), found.stopped, found.settled) == (8, True, False)
    assert record_of(found)["why"].endswith("which choice takes the least energy is known in 1 of 2 groups.")


@pytest.mark.parametrize("joules", [None, 0.0, math.nan])
def test_a_block_in_which_a_run_does_not_count_does_not_count_for_its_cell(joules: float | None) -> None:
    found = path(8, change={("torch-b1", 2): joules})
    last = found.steps[-1].groups["infer resnet50 digits batch 1 fp32"]
    assert {other.blocks for other in last.look.others.values()} == {len(found.steps) - 1}
    assert len(found.steps) >= len(path(8).steps)


def test_a_cell_of_which_no_run_counts_is_left_out_and_named() -> None:
    found = path(8, change={("mxnet-b1", block): None for block in range(1, 9)})
    group = record_of(found)["steps"][-1]["groups"]["infer resnet50 digits batch 1 fp32"]
    assert (group["without"], [other["cell"] for other in group["others"]]) == (["mxnet-b1"], ["tensorflow-b1"])
    assert found.settled
    only = path(8, change={(f"{name}-b1", block): None for block in range(1, 9) for name in ("torch", "mxnet")})
    assert record_of(only)["why"].endswith("is known in 1 of 2 groups; in 1 at most one choice has runs that count.")


@pytest.mark.parametrize(
    ("rule", "enough"), [({}, 6), ({"looks": "fixed"}, 3), ({"until": {"interval": 0.5}}, 3)], ids=str
)
def test_a_cell_all_of_whose_runs_were_set_aside_keeps_its_group_open(rule: dict[str, Any], enough: int) -> None:
    """It may be the cheapest. Where it was taken for one that cannot run, equal cells were distinguished too often."""

    def disturbed(runs: list[dict], first: int) -> list[dict]:
        lost = {"valid": False, "reasons": [f"{ASIDE}other work took 50 % of the processors"]}
        return [run | (lost if run["cell_id"] == "mxnet-b1" and run["repetition"] >= first else {}) for run in runs]

    found = path_of(CELLS, settings(**rule), disturbed(records(8, 0.005), 1))
    assert (found.stopped, found.settled) == (True, False)
    assert record_of(found)["why"].endswith("in 1 of 2 groups.")
    # So many blocks that count say enough of this cell.
    assert path_of(CELLS, settings(**rule), disturbed(records(8, 0.005), enough + 1)).settled


def test_a_study_of_which_nothing_counts_ends_at_its_first_look() -> None:
    nothing = {(cell.id, block): None for cell in CELLS for block in range(1, 9)}
    found = path(8, change=nothing)
    assert (len(found.steps), found.stopped) == (4, True)
    assert "known in 0 of 2 groups" in record_of(found)["why"]
    assert frame_of(found).empty


def test_an_interval_is_looked_at_when_that_was_fixed() -> None:
    found = path(8, noise=0.005, until={"interval": 0.05})
    assert [step.blocks for step in found.steps if step.looked] == [4, 6][: len(found.steps) // 2 - 1]
    assert found.settled
    assert "the ratios of energy are known to 5 % in every group" in record_of(found)["why"]
    assert not path(8, noise=0.2, until={"interval": 0.05}).settled


def test_with_fixed_looks_it_stops_after_one_of_them() -> None:
    found = path(8, noise=0.02, looks="fixed")
    assert [step.blocks for step in found.steps if step.looked] == [4, 6][: 1 if len(found.steps) == 4 else 2]
    assert len(found.steps) in (4, 6)
    assert found.settled
    group = record_of(found)["steps"][-1]["groups"]["infer resnet50 digits batch 1 fp32"]
    assert (group["threshold"], {other["e_value"] for other in group["others"]}) == (None, {None})
    assert all(other["ratio_low"] > 1 for other in group["others"])
    assert record_of(found)["repetitions"] == {**RULE, "looks": "fixed"}
    assert frame_of(found)["e_value"].isna().all()
    unsure = path(8, noise=0.3, looks="fixed")
    assert ([step.blocks for step in unsure.steps if step.looked], unsure.settled) == ([4, 6, 8], False)


def test_the_rows_are_of_every_block_beside_the_cell_that_leads_in_the_end() -> None:
    found = path(8)
    frame = frame_of(found)
    assert list(frame.columns) == COLUMNS
    assert len(frame) == len(found.steps) * 2 * 2
    assert set(frame["leader"]) == {"torch-b1", "torch-b64"}
    last = frame[frame["blocks"] == len(found.steps)]
    assert (last["e_value"] >= last["threshold"]).all()
    assert last["settled"].all()
    assert (last["ratio_low"] > 1).all()
    assert not frame.loc[frame["blocks"] < 4, "looked"].any()


def timed(blocks: int, run_s: float = 10.0, between_s: float = 20.0, pause_s: float = 0.0) -> list[dict]:
    """Runs that begin one after another, with a pause before the third block."""
    found, utc_s = [], 0.0
    for record in records(blocks, noise=0.5):
        utc_s += pause_s if (record["block"], record["cell_id"]) == (3, CELLS[0].id) else 0.0
        process = {**window({}), "end_monotonic_ns": int(run_s * 1e9)}
        clock = {"monotonic_ns": 0, "utc": datetime.fromtimestamp(utc_s, UTC).isoformat(), "moved_s": 0.0}
        found.append({**record, "clock": clock, "windows": {**record["windows"], "process": process}})
        utc_s += run_s + between_s
    return found


def test_no_block_begins_that_would_end_after_the_minutes() -> None:
    # A block is six runs of 10 s, and 20 s from each to the next: 160 s.
    assert minutes_after(timed(2), 2) == pytest.approx([160 / 60, 320 / 60])
    limited = settings(minutes=15.0)
    found = path_of(CELLS, limited, timed(8))
    assert (len(found.steps), found.stopped, found.settled) == (5, True, False)
    assert record_of(found)["why"].startswith(
        "Stopped after 5 blocks and 13.3 minutes, since one more would take longer than the 15 that the study allows: "
    )
    assert record_of(found)["minutes"] == pytest.approx(800 / 60)
    assert not path_of(CELLS, limited, timed(4)).stopped
    # The first look comes whatever the time.
    assert len(path_of(CELLS, settings(minutes=0.1), timed(8)).steps) == 4


def test_with_fixed_looks_the_minutes_are_those_until_the_next_look() -> None:
    # A block takes 160 s: 4 blocks are over after 10.7 min, 6 after 16, 8 after 21.3.
    for minutes, blocks in ((15.0, 4), (16.5, 6), (22.0, 8)):
        found = path_of(CELLS, settings(minutes=minutes, looks="fixed"), timed(8))
        assert (len(found.steps), found.stopped) == (blocks, True)


def test_a_pause_in_the_middle_of_a_block_does_not_count() -> None:
    paused = timed(3)
    late = [
        {**one, "clock": {**one["clock"], "utc": "1970-01-03T00:00:00+00:00"}} for one in paused if one["block"] == 3
    ]
    kept = [one for one in paused if one["block"] < 3] + [paused[-6], *late[1:]]
    assert minutes_after(kept, 3)[2] - minutes_after(kept, 3)[1] == pytest.approx(1.0)


def test_no_block_is_no_step() -> None:
    assert path(0).steps == []
    with pytest.raises(ValueError, match="repetitions are 3"):
        path_of(CELLS, {"repetitions": 3}, [])


# What the workflow makes of it.


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of three blocks, the most that their study allows."""
    rule = {"at_least": 2, "at_most": 3, "until": {"best": "energy"}}
    return results_tree(tmp_path_factory.mktemp("tree"), repetitions=rule)


def test_blocks_are_known_as_far_as_nothing_is_to_be_made_again(tree: Path) -> None:
    study = hashes_of(tree.parents[1] / "study.yaml").study
    cell = study.cells[0].id
    assert blocks_of(study, tree, []) == Blocks(3)
    assert blocks_of(study, tree, [f"{cell}/3"]) == Blocks(2, (3,))
    assert blocks_of(study, tree, [f"{cell}/2", f"{cell}/3"]) == Blocks(0, (2, 3))
    assert blocks_of(study, tree / "nowhere", []) == Blocks(0, (2, 3))
    assert blocks_there(study, tree) == Blocks(3)
    assert blocks_there(study, tree / "nowhere") == Blocks(0)


def test_a_record_that_cannot_be_read_leaves_the_look_to_its_rule(tree: Path, tmp_path: Path) -> None:
    study = hashes_of(tree.parents[1] / "study.yaml").study
    for run in study.runs():
        write_json(tmp_path / "measure" / run.cell.id / str(run.repetition) / "run.json", {"repetition": 1})
    assert blocks_of(study, tmp_path, []) == Blocks(0, (2, 3))


def test_what_is_due_is_told_up_to_the_next_look() -> None:
    runs = {f"c/{block}": "not measured" for block in range(1, 9)}
    assert Due(runs=runs, blocks=Blocks(0, (4, 5, 6, 7, 8))).sentence(8) == (
        "4 runs are due up to the look after block 4: 4 not measured; then 4 more at most"
    )
    assert Due(runs=runs, blocks=Blocks(8)).sentence(8) == "8 of 8 runs are due: 8 not measured"
    assert Blocks(2).within(runs, ()) == {"c/1": "not measured", "c/2": "not measured"}


def test_what_is_there_and_made_again_is_named_and_what_is_not_there_is_not() -> None:
    runs = {f"cell/{number}": "failed or invalid" for number in range(1, 8)} | {"other/1": "not measured"}
    due = Due(weights={"m": "made of other data"}, exports={"m": "not made"}, runs=runs, blocks=Blocks(7))
    assert due.repeats() == [
        "again, made of other data: weights of m",
        "again, failed or invalid: "
        + "; ".join(f"cell, repetition {number}" for number in range(1, 6))
        + "; and 2 more",
    ]
    assert Due(runs={"other/1": "not measured"}, blocks=Blocks(7)).repeats() == []


def test_the_plan_says_what_it_expects_and_ends_where_the_study_stopped(tree: Path) -> None:
    plan = plan_of(hashes_of(tree.parents[1] / "study.yaml"))
    assert plan["stopping"]["looks"] == [2, 3]
    assert plan["stopping"]["sentence"].startswith("Measures 2 to 3 blocks, until it is known which choice")
    until = plan_until(plan, str(tree / "stopping" / "stopping.json"))
    assert (until["repetitions"], len(until["order"])) == (3, len(plan["order"]))
    assert plan_until(plan, None) == plan


@pytest.mark.parametrize(("cells", "blocks"), [(2, {"5": 27, "10": 10, "20": 5}), (7, {"5": None, "10": 17, "20": 8})])
def test_what_is_expected_is_about_what_simulated_studies_take(cells: int, blocks: dict) -> None:
    """Simulated means (docs/stopping.md): 21.1, 9.3, 5.5 blocks of two cells; 29.3, 16.7, 8.1 of seven."""
    assert expected(Rule(5, 30, "energy", None), cells, 0.05)["blocks"] == blocks
    assert expected(Rule(5, 30, "energy", 0.05), 2, 0.05)["blocks"] == {"any": 27}


# What was changed by hand.


def rewritten(results: Path, repetitions: Any) -> dict[str, Any]:
    """The plan of the study with other repetitions."""
    plan = read_json(results / "plan" / "plan.json")
    return {**plan, "settings": {**plan["settings"], "repetitions": repetitions}}


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    """Results of two blocks, with statistics, which somebody may have looked at."""
    results = results_tree(tmp_path)
    (results / "statistics").mkdir()
    pd.DataFrame({"cell": ["a"]}).to_csv(results / "statistics" / "cells.csv", index=False)
    return results


def test_repetitions_that_are_raised_beside_results_are_noted(seen: Path) -> None:
    note_change(seen, rewritten(seen, 2))
    assert changes_of(seen) == []
    note_change(seen, rewritten(seen, 5))
    assert changes_of(seen) == [{"from": 2, "to": 5, "seen_blocks": 2, "kept_runs": 6}]
    (sentence,) = sentences(changes_of(seen))
    assert sentence.startswith(
        "Repetitions were changed from 2 to 5 when results of 2 blocks had been written, and 6 of"
    )
    assert "finds it too often" in sentence


def test_a_rule_that_may_be_looked_at_is_no_harm_and_another_of_the_same_is_no_change(seen: Path) -> None:
    note_change(seen, rewritten(seen, RULE))
    assert "The e-values of the rule hold all the same" in sentences(changes_of(seen))[0]
    stopped = {"repetitions": RULE, "blocks": 2}
    write_json(seen / "stopping" / "stopping.json", stopped)
    before = changes_of(seen)
    note_change(seen, rewritten(seen, RULE))
    assert changes_of(seen) == before
    note_change(seen, rewritten(seen, {**RULE, "at_most": 30}))
    assert (changes_of(seen)[-1]["from"], len(changes_of(seen))) == (RULE, 2)


def test_what_nobody_can_have_seen_or_does_not_count_any_more_is_not_noted(seen: Path, tmp_path: Path) -> None:
    note_change(seen, rewritten(seen, 5))
    fresh = rewritten(seen, 7)
    other = {**fresh, "order": [{**entry, "job_sha256": "0" * 64} for entry in fresh["order"]]}
    note_change(seen, other)
    assert changes_of(seen) == [], "every run is measured anew"
    (seen / "statistics" / "cells.csv").unlink()
    note_change(seen, fresh)
    assert changes_of(seen) == [], "there were no results to look at"


def test_a_rule_is_part_of_a_study_as_a_number_is(tmp_path: Path) -> None:
    cross = {"phase": ["infer"], "workload": ["resnet50"], "dataset": ["digits"], "batch_size": [8]}
    content = {"study": "t", "title": "t", "factors": [{**cross, "runtime": ["torch", "mxnet"]}], "repetitions": RULE}
    assert len(loaded(tmp_path, content).runs()) == 16
