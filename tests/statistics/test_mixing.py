"""No comparison mixes runs of several machines, or of several sessions of one, without saying so."""

from typing import Any

import pandas as pd
import pytest
from frames_factory import cell, runs_frame

from framewatt.statistics.answers import answer
from framewatt.statistics.cells import summarise_cells
from framewatt.statistics.comparisons import compare_cells
from framewatt.statistics.hypothesis_tests import omnibus
from framewatt.study.factors import COMPARED

TORCH, TENSORFLOW, MXNET = cell("torch"), cell("tensorflow"), cell("mxnet")
SETTINGS: dict[str, Any] = {
    "compare": COMPARED,
    **{"test": "t", "correction": "holm", "alpha": 0.05, "confidence": 0.95, "equal_margin": 0.05, "noise": 0.05},
}
JOULES = {TORCH: [1.0, 1.1, 0.9, 1.0], TENSORFLOW: [2.02, 2.2, 1.8, 1.98], MXNET: [3.0, 3.1, 3.3, 3.2]}


def measured(where: dict[str, list[str]]) -> pd.DataFrame:
    """Runs of three cells in four blocks, each in the session (`m1.a`: boot a of machine m1) named for its cell."""
    runs = runs_frame(JOULES)
    places = {one.id: where.get(one.runtime, where["others"]) for one in JOULES}
    told = [places[name][block - 1] for name, block in zip(runs["cell"], runs["repetition"], strict=True)]
    return runs.assign(machine=[one.partition(".")[0] for one in told], session=told)


def flags_of(runs: pd.DataFrame, test: str = "t") -> set[str]:
    compared = compare_cells(runs, {**SETTINGS, "test": test})
    pair = compared[compared["cell_a"].eq(TENSORFLOW.id) & compared["cell_b"].eq(TORCH.id)]
    return {
        flag for flags in pair["flags"] for flag in flags.split("; ") if "several" in flag or flag.startswith("runs")
    }


ONE = ["m1.a"] * 4
REBOOTED = ["m1.a", "m1.a", "m1.b", "m1.b"]


@pytest.mark.parametrize(
    ("where", "flags"),
    [
        ({"others": ONE}, set()),
        ({"others": REBOOTED}, {"runs of 2 sessions"}),
        ({"others": ["m1.a", "m1.a", "m2.c", "m2.c"]}, {"runs of 2 machines"}),
        ({"others": ["m1.a", "m1.b", "m2.c", "m2.c"]}, {"runs of 2 machines", "runs of 3 sessions"}),
        ({"others": ONE, "torch": REBOOTED}, {"runs of several sessions within block 3, 4"}),
        ({"others": ONE, "torch": ["m1.a", "m2.c", "m1.a", "m1.a"]}, {"runs of several machines within block 2"}),
        ({"others": ONE, "torch": ["m2.c"] * 4}, {"runs of several machines within block 1, 2, 3, 4"}),
    ],
)
def test_a_comparison_says_what_it_mixes(where: dict[str, list[str]], flags: set[str]) -> None:
    assert flags_of(measured(where)) == flags


def test_without_blocks_nothing_is_paired_and_the_mix_is_said_all_the_same() -> None:
    assert flags_of(measured({"others": ONE, "torch": ["m2.c"] * 4}), test="welch") == {"runs of 2 machines"}


def test_the_mix_is_in_answers_cells_and_tests_of_all() -> None:
    runs = measured({"others": ONE, "torch": ["m1.a", "m2.c", "m1.a", "m1.a"]})
    told = "runs of several machines within block 2"
    assert answer(runs, SETTINGS)["note"].str.contains(told, regex=False).all()
    assert omnibus(runs, {**SETTINGS, "test": "wilcoxon"})["flags"].str.contains(told, regex=False).all()
    flags = summarise_cells(runs, SETTINGS).set_index("cell")["flags"]
    assert flags[TORCH.id].str.contains("runs of 2 machines").all()
    assert not flags[MXNET.id].str.contains("runs of").any()


def test_a_run_that_does_not_count_mixes_nothing() -> None:
    runs = measured({"others": ONE, "torch": ["m1.a", "m2.c", "m1.a", "m1.a"]})
    runs.loc[runs["session"] == "m2.c", "valid"] = False
    assert flags_of(runs) == set()


def test_records_that_tell_no_session_have_the_statistics_that_they_had() -> None:
    runs = measured({"others": ONE, "torch": ["m2.c"] * 4})
    assert flags_of(runs.assign(session=None)) == set()
    assert flags_of(runs.drop(columns=["machine", "session"])) == set()


def test_a_session_that_logs_name_is_compared_and_not_mixed() -> None:
    runs = measured({"others": ONE, "torch": ["m2.c"] * 4})
    levels = runs.pop("session")
    runs.insert(list(runs.columns).index("device"), "session", levels)
    assert not answer(runs, SETTINGS)["note"].str.contains("runs of").any()
