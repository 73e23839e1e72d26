"""What costs least on each of several machines and over all of them: agreement, contradiction, too little of either."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame
from scipy import stats

from framewatt.runs.aside import ASIDE
from framewatt.statistics.machines import ALL, answer_by_machine
from framewatt.statistics.selection import stratified
from framewatt.statistics.stopping import ONCE, Looks
from framewatt.study.cell import Cell
from framewatt.study.factors import COMPARED

A, B, C = cell("torch"), cell("tensorflow"), cell("mxnet")
SETTINGS = {"compare": COMPARED, "test": "t", "correction": "holm", "alpha": 0.05, "confidence": 0.95}
ONE, OTHER = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"


def noisy(level: float, blocks: int, seed: int, noise: float = 0.02) -> list[float]:
    """Runs of a cell."""
    return list(level * np.exp(np.random.default_rng(seed).normal(0, noise, blocks)))


def shared_blocks(*machines: tuple[str, dict[Cell, Any]]) -> pd.DataFrame:
    """A study whose blocks several machines share: blocks go on counting, cells are the same."""
    frames, first = [], 0
    for name, levels in machines:
        frame = runs_frame(levels).assign(machine=name, session=name[:4])
        frame[["repetition", "block"]] += first
        first = int(frame["repetition"].max())
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def as_factor(*machines: tuple[str, dict[Cell, Any]]) -> pd.DataFrame:
    """The same as levels of a factor, as in a merged study: blocks of every machine begin at 1."""
    frames = []
    for name, levels in machines:
        frame = runs_frame(levels).drop(columns="machine")
        frame["cell"] += f"-{name}"
        frame.insert(list(frame.columns).index("device"), "machine", name)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def rows(runs: pd.DataFrame, looks: Looks = ONCE, **settings: Any) -> dict[str, dict[str, Any]]:
    """The rows by energy, by machine."""
    found = answer_by_machine(runs, SETTINGS | settings, looks=looks)
    return {row["machine"]: row for row in found[found["quantity"] == "energy_per_sample_j"].to_dict("records")}


AGREED = (
    (ONE, {A: noisy(1, 6, 1), B: noisy(1.2, 6, 2), C: noisy(1.4, 6, 3)}),
    (OTHER, {A: noisy(3, 4, 4), B: noisy(3.9, 4, 5), C: noisy(4.2, 4, 6)}),
)
OPPOSITE = (
    (ONE, {A: noisy(1, 6, 1), B: noisy(1.3, 6, 2)}),
    (OTHER, {A: noisy(4, 6, 4), B: noisy(2, 6, 5)}),
)


class TestAgreement:
    def test_one_row_a_machine_and_one_over_all(self) -> None:
        found = rows(shared_blocks(*AGREED))
        assert list(found) == [ONE, OTHER, ALL]
        assert [row["best"] for row in found.values()] == [A.id] * 3
        assert [row["blocks"] for row in found.values()] == [6, 4, 10]
        assert found[ALL]["settled"]
        assert found[ALL]["agree"]
        assert not found[ALL]["contradict"]

    @pytest.mark.parametrize("test", ["t", "welch"])
    def test_machines_as_a_factor_give_the_same(self, test: str) -> None:
        told, factor = rows(shared_blocks(*AGREED), test=test), rows(as_factor(*AGREED), test=test)
        assert str(told) == str(factor)

    def test_order_of_machines_makes_no_difference(self) -> None:
        assert str(rows(shared_blocks(*AGREED))) == str(rows(shared_blocks(*reversed(AGREED))))

    def test_the_ratio_over_all_weighs_machines_alike(self) -> None:
        row = rows(shared_blocks(*AGREED))[ALL]
        logs = [np.log(np.array(levels[B]) / levels[A]) for _, levels in AGREED]
        errors = [stats.sem(one) / 2 for one in logs]
        mean, error = np.mean([one.mean() for one in logs]), np.hypot(*errors)
        freedom = error**4 / sum(e**4 / (len(one) - 1) for e, one in zip(errors, logs, strict=True))
        assert row["ratio"] == pytest.approx(np.exp(mean))
        ends = np.exp(stats.t.interval(1 - 2 * 0.05 / 2, freedom, mean, error))
        assert (row["ratio_low"], row["ratio_high"]) == pytest.approx(tuple(ends))

    def test_ratios_tell_what_they_are_on_each_machine(self) -> None:
        found = rows(shared_blocks(*AGREED))
        told = json.loads(found[ALL]["ratios"])[B.id]["machines"]
        alone = {name: json.loads(found[name]["ratios"])[B.id]["ratio"] for name in (ONE, OTHER)}
        assert {name: one["ratio"] for name, one in told.items()} == pytest.approx(alone)

    def test_that_ratios_differ_is_known(self) -> None:
        row = rows(shared_blocks(*AGREED))[ALL]
        assert row["differ_p"] < 0.05
        assert row["differ_at_most"] > (3.9 / 3) / 1.2


class TestContradiction:
    def test_opposite_winners_are_never_averaged(self) -> None:
        found = rows(shared_blocks(*OPPOSITE))
        row = found[ALL]
        assert (found[ONE]["best"], found[OTHER]["best"]) == (A.id, B.id)
        assert (row["best"], row["settled"], row["agree"], row["contradict"]) == ("", False, False, True)
        assert pd.isna(row["ratio"])
        assert pd.isna(row["ratio_low"])
        assert row["note"] == (f"no choice is the cheapest everywhere: on {ONE} it is {A.id}, on {OTHER} it is {B.id}")

    def test_one_that_is_known_but_of_each_by_itself_is_no_answer_either(self) -> None:
        # At 5 % both are settled, at 2.5 % one of them is not.
        one, other = {A: [1, 1, 1], B: [1.2, 1.25, 1.4]}, {A: [2, 2.2, 2.1], B: [1, 1.1, 1.02]}
        row = rows(shared_blocks((ONE, one), (OTHER, other)))[ALL]
        assert (row["best"], row["agree"], row["contradict"]) == ("", False, False)
        assert "which is not known of all of them together" in row["note"]

    def test_a_machine_on_which_another_took_less_is_named(self) -> None:
        one, other = {A: noisy(1, 8, 1), B: noisy(1.6, 8, 2)}, {A: noisy(1, 8, 3, 0.2), B: noisy(0.9, 8, 4, 0.2)}
        row = rows(shared_blocks((ONE, one), (OTHER, other)))[ALL]
        assert row["agree"]
        assert OTHER in row["note"]
        assert ONE not in row["note"]

    def test_a_cell_that_a_machine_excludes_is_not_the_best_alone(self) -> None:
        # A is the least by far on one, and not the least on the other, where B is: in the mean A wins.
        one = {A: noisy(1, 8, 1), B: noisy(1.02, 8, 1, 0.021), C: noisy(9, 8, 3)}
        other = {A: noisy(1.2, 8, 4), B: noisy(1, 8, 5), C: noisy(9, 8, 6)}
        found = rows(shared_blocks((ONE, one), (OTHER, other)))
        assert A.id not in found[OTHER]["best"]
        assert found[ALL]["best"] != A.id


class TestTooLittle:
    def test_one_machine_has_no_rows(self) -> None:
        assert answer_by_machine(shared_blocks(AGREED[0]), SETTINGS).empty

    def test_imported_runs_have_no_machine(self) -> None:
        assert answer_by_machine(runs_frame({A: [1, 2], B: [2, 3]}), SETTINGS).empty

    def test_machines_that_are_compared_are_no_strata(self) -> None:
        assert answer_by_machine(as_factor(*AGREED), SETTINGS | {"compare": ["machine"]}).empty

    def test_a_cell_that_failed_on_one_machine_is_left_out_of_the_whole(self) -> None:
        other = {A: noisy(3, 4, 4), B: noisy(3.9, 4, 5), C: [None] * 4}
        row = rows(shared_blocks(AGREED[0], (OTHER, other)))[ALL]
        assert (row["without"], row["n_cells"], row["best"]) == (C.id, 2, A.id)
        assert f"{C.id} has no run that counts on {OTHER}" in row["note"]

    def test_nothing_in_common_is_said(self) -> None:
        one, other = {A: noisy(1, 4, 1), B: [None] * 4}, {A: [None] * 4, B: noisy(1, 4, 2)}
        row = rows(shared_blocks((ONE, one), (OTHER, other)))[ALL]
        assert row["best"] == ""
        assert "no two cells" in row["note"]

    def test_one_block_says_nothing_of_the_noise(self) -> None:
        row = rows(shared_blocks(AGREED[0], (OTHER, {A: [1.0], B: [9.0], C: [9.0]})))[ALL]
        assert not row["settled"]
        assert f"fewer than 3 blocks on {OTHER}" in row["note"]
        assert pd.isna(row["ratio_low"])


def test_nothing_differs_nothing_is_said_to() -> None:
    wrong = {"settled": 0, "contradict": 0}
    for seed in range(400):
        logs = np.random.default_rng(seed).normal(0, 0.05, (2, 2, 5))
        found = stratified(list(logs), 0.05, paired=True)
        wrong["settled"] += found.inside.sum() == 1
        wrong["contradict"] += found.contradict
    # 20 of 400 are allowed to; 33 or more come in 1 of 200 such tests.
    assert wrong["settled"] <= 32
    assert wrong["contradict"] <= 4


@pytest.mark.parametrize("apart", [0.0, 0.3])
def test_intervals_cover_whether_machines_differ_or_not(apart: float) -> None:
    held = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        logs = [rng.normal(0, noise, (2, n)) for noise, n in ((0.02, 8), (0.1, 3))]
        logs[0][1] += apart
        logs[1][1] -= apart / 3
        found = stratified(logs, 0.05, paired=True).whole
        low, high = found.pairs.within(0.025)
        held += low[1, 0] <= np.exp(apart / 3) <= high[1, 0]
    assert held >= 366  # 95 % of 400 are 380; fewer come in 1 of 500 such tests


def test_a_study_that_looked_says_no_more_than_each_machine_does() -> None:
    looked = rows(shared_blocks(*AGREED), Looks(until_known=True))
    once = rows(shared_blocks(*AGREED))
    assert "what holds on every machine" in looked[ALL]["rule"]
    assert pd.isna(looked[ALL]["differ_p"])
    assert looked[ALL]["ratio_low"] < once[ALL]["ratio_low"]


def test_a_cell_whose_runs_were_all_set_aside_on_a_machine_may_be_the_cheapest_over_all() -> None:
    runs = shared_blocks(*AGREED)
    assert rows(runs)[ALL]["settled"]
    lost = runs["cell"].eq(C.id) & runs["machine"].eq(OTHER)
    runs.loc[lost, "valid"] = False
    failed = rows(runs)[ALL]
    assert (failed["settled"], failed["best"]) == (True, A.id), "cells that failed are no choice"
    runs["reasons"] = np.where(lost, f"{ASIDE}other work took 50 % of the processors", "")
    found = rows(runs)
    for name in (ALL, OTHER):
        assert (found[name]["settled"], found[name]["best"]) == (False, f"{A.id}; {C.id}")
        assert f"too disturbed to be compared: {C.id}" in found[name]["note"]
    assert found[ONE]["settled"]
