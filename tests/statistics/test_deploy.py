"""What to deploy: the front, equal accuracy, and the best choice only where every other is shown to take more."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame
from scipy import stats

from framewatt.figures import deploy as figure
from framewatt.statistics.accuracies import TestSets, equivalence, paired_equivalence, samples_needed
from framewatt.statistics.deploy import judge_choices, pareto_front
from framewatt.study.cell import Cell
from framewatt.tables import deploy as tables

SETTINGS = {"test": "t", "correction": "holm", "alpha": 0.05, "confidence": 0.95, "accuracy_margin": 0.01}
TORCH, ONNX, BATCHED = cell("torch"), cell("torch2onnx"), cell("torch", batch_size=32)
STEADY = np.linspace(0.99, 1.01, 10)
WAVY = STEADY * np.array([1.0, 1.002, 0.998, 1.001, 0.999] * 2)


def judged(
    energies: dict[Cell, Any], accuracy: dict | None = None, samples: int = 50_000, **settings: Any
) -> pd.DataFrame:
    """Choices by cell, all tested on so many samples."""
    tested = TestSets(samples={one.id: samples for one in energies})
    return judge_choices(runs_frame(energies, None, accuracy), SETTINGS | settings, tested).set_index("cell")


def test_the_front_is_what_nothing_beats_in_everything() -> None:
    losses = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0], [2.0, 3.0], [4.0, 4.0], [2.0, 2.0]])
    assert pareto_front(losses).tolist() == [True, True, True, False, False, True]


def answers_of(wrong: list[int], samples: int) -> np.ndarray:
    """Which samples are right, all but these."""
    return ~np.isin(np.arange(samples), wrong)


def test_paired_equivalence_is_tangos_on_the_example_of_his_paper() -> None:
    # 44 patients, one of whom answered otherwise: Z = 1.709 at a margin of 0.1 (Tango 1998, section 5).
    assert paired_equivalence(answers_of([43], 44), answers_of([], 44), 0.1) == pytest.approx(
        stats.norm.sf(1.709), abs=1e-4
    )


def test_equal_answers_are_equal_only_on_enough_samples() -> None:
    # With no sample that tells them apart, the score statistic is sqrt(n margin / (1 - margin)).
    for samples, equal in ((200, False), (360, True)):
        p = paired_equivalence(answers_of([], samples), answers_of([], samples), 0.01)
        assert p == pytest.approx(stats.norm.sf(np.sqrt(samples * 0.01 / 0.99)))
        assert (p <= 0.05) == equal


def test_answers_of_different_test_sets_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shapes \(3,\) and \(4,\)"):
        paired_equivalence(answers_of([], 3), answers_of([], 4), 0.1)


def test_runs_that_score_alike_are_not_equal_by_that() -> None:
    # Five runs each, all alike, half a point apart: of 360 images that is two.
    accuracy = {TORCH: [0.970] * 10, ONNX: [0.965] * 10}
    energies = {TORCH: 2 * STEADY, ONNX: STEADY}
    assert judged(energies, accuracy, samples=360)["as_good"].to_dict() == {TORCH.id: True, ONNX.id: False}
    assert judged(energies, accuracy, samples=20_000)["as_good"].all()


def test_kept_answers_show_what_the_size_of_the_test_set_cannot() -> None:
    energies = {TORCH: 2 * STEADY, ONNX: STEADY}
    accuracy = dict.fromkeys(energies, [349 / 360] * 10)
    assert judged(energies, accuracy, samples=360)["as_good"].to_dict() == {TORCH.id: False, ONNX.id: True}
    right = {one.id: answers_of([*range(11)], 360) for one in energies}
    found = judge_choices(runs_frame(energies, None, accuracy), SETTINGS, TestSets(right)).set_index("cell")
    assert found["as_good"].all()
    assert found.loc[TORCH.id, "quality_note"] == "on the same 360 samples"
    right[ONNX.id] = answers_of([*range(100, 111)], 360)
    found = judge_choices(runs_frame(energies, None, accuracy), SETTINGS, TestSets(right)).set_index("cell")
    assert not found.loc[TORCH.id, "as_good"], "as many right, but not the same ones"


@pytest.mark.parametrize(("accuracy", "equal"), [(0.9, True), (0.896, True), (0.1, False)])
def test_where_nobody_knows_on_how_many_samples_accuracies_are_compared_by_their_values(
    accuracy: float, equal: bool
) -> None:
    frame = runs_frame({TORCH: 2 * STEADY, ONNX: STEADY}, None, {TORCH: [0.9] * 10, ONNX: [accuracy] * 10})
    found = judge_choices(frame, SETTINGS).set_index("cell")
    assert found["as_good"].to_dict() == {TORCH.id: True, ONNX.id: equal}
    assert set(found["quality_note"]) == {"the best", "by its value alone, since the size of the test set is unknown"}
    assert found["energy_verdict"].to_dict()[ONNX.id if equal else TORCH.id] == "least"


def test_of_choices_that_are_all_right_the_cheapest_is_the_one_that_others_must_equal() -> None:
    third = cell("mxnet")
    energies = {TORCH: 3 * STEADY, third: 2 * STEADY, ONNX: STEADY}
    right = {one.id: answers_of([], 360) for one in energies}
    found = judge_choices(runs_frame(energies, None, dict.fromkeys(energies, [1.0] * 10)), SETTINGS, TestSets(right))
    found = found.set_index("cell")
    assert found["as_good"].to_dict() == {TORCH.id: False, third.id: False, ONNX.id: True}
    assert found.loc[ONNX.id, "energy_verdict"] == "least"


def test_so_many_samples_that_are_answered_alike_show_that_accuracies_are_equal() -> None:
    for others, samples in ((1, 268), (2, 381), (3, 449), (6, 568)):
        assert samples_needed(others, 0.01, 0.05) == samples
        alike = np.ones(samples, bool)
        assert paired_equivalence(alike, alike, 0.01) <= 0.05 / others
        assert paired_equivalence(alike[1:], alike[1:], 0.01) > 0.05 / others


@pytest.mark.parametrize(("perplexity", "equal"), [(100.0, True), (100.9, True), (101.1, False), (3000.0, False)])
def test_of_perplexity_a_choice_is_as_good_whose_value_is_near_and_a_worse_one_is_no_cheapest(
    perplexity: float, equal: bool
) -> None:
    """No answer is right or wrong, and no test is known; by values unseen a cheap wrong one would be the best."""
    values = {TORCH: [100.0] * 10, ONNX: [perplexity] * 10}
    frame = runs_frame({TORCH: 2 * WAVY, ONNX: STEADY}, None, values).rename(columns={"accuracy": "perplexity"})
    found = judge_choices(frame, SETTINGS).set_index("cell")
    assert found["as_good"].to_dict() == {TORCH.id: True, ONNX.id: equal}
    # Of equal values the cheaper one is the best.
    best, other = (ONNX, TORCH) if perplexity == 100 else (TORCH, ONNX)
    assert found.loc[best.id, "quality_note"] == "the best"
    assert found.loc[other.id, "quality_note"] == "by its value alone"
    verdicts = found["energy_verdict"].fillna("none").to_dict()
    assert verdicts == ({ONNX.id: "least", TORCH.id: "more"} if equal else {ONNX.id: "none", TORCH.id: "least"})


@pytest.mark.parametrize(("precision", "equal"), [(0.4, True), (0.395, True), (0.38, False), (0.02, False)])
def test_of_average_precision_too_though_it_is_a_share_and_no_size_of_a_test_set_is_unknown(
    precision: float, equal: bool
) -> None:
    values = {TORCH: [0.4] * 10, ONNX: [precision] * 10}
    frame = runs_frame({TORCH: 2 * WAVY, ONNX: STEADY}, None, values).rename(columns={"accuracy": "box_ap"})
    found = judge_choices(frame, SETTINGS).set_index("cell")
    assert found["as_good"].to_dict() == {TORCH.id: True, ONNX.id: equal}
    # Of equal values the cheaper one is the best.
    assert found.loc[(TORCH if precision == 0.4 else ONNX).id, "quality_note"] == "by its value alone"


def test_the_best_is_what_all_others_are_shown_to_exceed() -> None:
    found = judged({TORCH: 2 * WAVY, ONNX: STEADY, BATCHED: 3 * WAVY[::-1]})
    assert found["energy_verdict"].to_dict() == {ONNX.id: "least", TORCH.id: "more", BATCHED.id: "more"}
    row = found.loc[TORCH.id]
    logs = np.log(2 * WAVY / STEADY)
    ends = stats.ttest_1samp(logs, 0).confidence_interval(1 - 2 * 0.05 / 2)
    assert row["energy_ratio"] == pytest.approx(np.exp(logs.mean()))
    assert [row["energy_ratio_low"], row["energy_ratio_high"]] == pytest.approx(np.exp([ends.low, ends.high]))
    assert found.loc[ONNX.id, "energy_ratio"] == 1
    assert found.loc[ONNX.id, "on_front"]


def test_several_that_may_be_the_best_are_not_told_apart() -> None:
    found = judged({TORCH: STEADY + 0.001 * (-1) ** np.arange(10), ONNX: STEADY + 0.0001, BATCHED: 3 * WAVY})
    assert sorted(found["energy_verdict"]) == ["more", "not told apart", "not told apart"]


def test_one_disturbed_run_makes_the_cheaper_choice_no_worse() -> None:
    # Cheaper in 11 of 12 blocks, with one run of 25 times: its mean is larger, and a rank test would tell them apart.
    rng = np.random.default_rng(1)
    dear, cheap = (level * np.exp(rng.normal(0, 0.01, 12)) for level in (1.0, 0.9))
    cheap[5] *= 25
    found = judged({TORCH: dear, ONNX: cheap})
    assert found.loc[ONNX.id, "energy_per_sample_j"] > found.loc[TORCH.id, "energy_per_sample_j"]
    assert stats.wilcoxon(dear, cheap).pvalue < 0.05
    assert set(found["energy_verdict"]) == {"not told apart"}


def test_only_choices_of_equal_accuracy_can_be_best() -> None:
    accuracy = {TORCH: [0.99] * 10, ONNX: [0.88] * 10, BATCHED: [0.989] * 10}
    found = judged({TORCH: 2 * WAVY, ONNX: STEADY, BATCHED: 3 * WAVY[::-1]}, accuracy)
    assert found["as_good"].to_dict() == {TORCH.id: True, ONNX.id: False, BATCHED.id: True}
    assert found.loc[TORCH.id, "energy_verdict"] == "least"
    assert not isinstance(found.loc[ONNX.id, "energy_verdict"], str)
    # Cheap and inexact is still a choice that nothing beats in everything.
    assert found.loc[ONNX.id, "on_front"]
    assert judged({TORCH: 2 * WAVY, ONNX: STEADY, BATCHED: 3 * WAVY[::-1]}, accuracy, accuracy_margin=0.2)[
        "as_good"
    ].all()


def test_where_no_accuracy_is_known_choices_are_compared_without() -> None:
    found = judged({TORCH: 2 * STEADY, ONNX: STEADY}, dict.fromkeys((TORCH, ONNX), [np.nan] * 10))
    assert set(found["quality_note"]) == {"accuracy unknown"}
    assert found.loc[ONNX.id, "energy_verdict"] == "least"
    assert found["on_front"].to_dict() == {ONNX.id: True, TORCH.id: False}


def test_training_and_cells_without_runs_are_no_choices() -> None:
    train = cell("torch", "train")
    found = judged({TORCH: STEADY, train: STEADY, ONNX: [None] * 10})
    assert list(found.index) == [TORCH.id, ONNX.id]
    assert (found.loc[ONNX.id, "n"], found.loc[ONNX.id, "on_front"]) == (0, pd.NA)
    assert judged({train: STEADY}).empty


COSTS = {
    "intensity_g_per_kwh": 400,
    "intensity_source": "the grid's operator",
    "price": {"per_kwh": 0.25, "currency": "EUR"},
}


def test_a_thousand_inferences_take_kilowatt_hours_grams_and_money() -> None:
    choices = judge_choices(runs_frame({TORCH: [3.6] * 10, ONNX: STEADY}, estimated=True), SETTINGS)
    table = tables.deploy(choices, COSTS)
    row = table.data.set_index("cell").loc[TORCH.id]
    assert list(row[["kwh", "co2e_g", "price"]]) == pytest.approx([1e-3, 0.4, 2.5e-4])
    assert row["currency"] == "EUR"
    shown = table.shown[table.shown["Choice"] == "torch"].iloc[0]
    assert [shown[name] for name in ("Wh of 1,000", "gCO2e of 1,000", "EUR of 1,000")] == [
        "1.000 (estimated)",
        "0.4000 (estimated)",
        "0.0002500 (estimated)",
    ]
    assert table.caption.endswith("at 400 gCO2e/kWh (the grid's operator) and 0.25 EUR/kWh")


def test_what_the_study_does_not_say_is_not_made_up() -> None:
    table = tables.deploy(
        judge_choices(runs_frame({TORCH: STEADY}), SETTINGS), {"intensity_g_per_kwh": None, "price": None}
    )
    assert not [name for name in table.shown if "gCO2e" in name or "EUR" in name]
    assert table.data[["co2e_g", "price"]].isna().all(axis=None)


def test_the_figure_rings_the_front_and_shows_every_run() -> None:
    runs = runs_frame({TORCH: 2 * WAVY, ONNX: STEADY, BATCHED: 3 * WAVY[::-1]})
    drawn = figure.draw(runs, judge_choices(runs, SETTINGS))
    axes = drawn.axes[0]
    by_label: dict[str, list] = {}
    for points in axes.collections:
        by_label.setdefault(points.get_label(), []).append(points.get_offsets())
    assert len(by_label["_front"]) == 1
    assert by_label["_front"][0][0][1] == pytest.approx(1)
    assert len(by_label["_choice"]) == 2
    assert len(by_label["_repetitions"][0]) == 30


def test_one_model_that_gets_the_same_samples_right_is_equal_however_few_they_are() -> None:
    right = np.arange(96) < 90
    one, other = ("a", 90 / 96), ("b", 90 / 96)
    tested = TestSets({"a": right, "b": right}, weights={"a": "torch", "b": "torch"})
    assert equivalence(one, other, tested, 0.01).same
    apart = TestSets(tested.right, weights={"a": "torch", "b": "mxnet"})
    assert not equivalence(one, other, apart, 0.01).same
    assert equivalence(one, other, apart, 0.01).p > 0.05
    differing = TestSets({"a": right, "b": np.roll(right, 1)}, weights=tested.weights)
    assert not equivalence(one, other, differing, 0.01).same
    assert not equivalence(one, other, TestSets(tested.right), 0.01).same
