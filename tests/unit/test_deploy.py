"""What to deploy: the front, equal accuracy, and the best choice only where a test shows that it is."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame
from scipy import stats

from framewatt import tables
from framewatt.cell import Cell
from framewatt.figures import deploy as figure
from framewatt.statistics.deploy import judge_choices
from framewatt.statistics.equivalence import equivalence
from framewatt.statistics.pareto import pareto_front

SETTINGS = {"test": "wilcoxon", "correction": "holm", "alpha": 0.05, "accuracy_margin": 0.01}
TORCH, ONNX, BATCHED = cell("torch"), cell("torch2onnx"), cell("torch", batch_size=32)
STEADY = np.linspace(0.99, 1.01, 10)


def judged(energies: dict[Cell, Any], accuracy: dict | None = None, **settings: Any) -> pd.DataFrame:
    return judge_choices(runs_frame(energies, None, accuracy), SETTINGS | settings).set_index("cell")


def test_the_front_is_what_nothing_beats_in_everything() -> None:
    losses = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0], [2.0, 3.0], [4.0, 4.0], [2.0, 2.0]])
    assert pareto_front(losses).tolist() == [True, True, True, False, False, True]


@pytest.mark.parametrize(
    ("a", "b", "equal", "note"),
    [
        ([0.9, 0.9, 0.9], [0.9, 0.9, 0.9], True, "the same number in every run"),
        ([0.9, 0.9, 0.9], [0.905, 0.905, 0.905], True, "+0.005 in every run"),
        ([0.9, 0.9, 0.9], [0.88, 0.88, 0.88], False, "-0.02 in every run"),
        ([0.90, 0.91, 0.92], [0.93, 0.94, 0.95], False, "+0.03 in every run"),
        ([], [], None, "accuracy unknown"),
    ],
)
def test_what_does_not_vary_needs_no_test(a: list, b: list, equal: bool | None, note: str) -> None:
    found = equivalence(np.array(a), np.array(b), 0.01, paired=True)
    assert (found.p, found.equal, found.note) == (None, equal, note)


def test_equivalence_is_shown_by_two_one_sided_tests() -> None:
    a = np.array([0.900, 0.902, 0.898, 0.901, 0.899, 0.900])
    close, far = a + 0.001 * np.array([1, -1, 2, 0, -2, 1]), a - 0.001 * np.array([20, 21, 19, 20, 20, 21])
    for paired in (True, False):
        assert equivalence(a, close, 0.01, paired=paired).p < 0.01
        assert equivalence(a, far, 0.01, paired=paired).p > 0.5
    difference = close - a
    t = (0.01 - difference.mean()) / (difference.std(ddof=1) / np.sqrt(6))
    assert equivalence(a, close, 0.01, paired=True).p == pytest.approx(stats.t.sf(t, df=5))


def test_a_win_is_one_that_the_corrected_test_shows() -> None:
    found = judged({TORCH: 2 * STEADY, ONNX: STEADY, BATCHED: 3 * STEADY})
    assert found["energy_verdict"].to_dict() == {ONNX.id: "least", TORCH.id: "more", BATCHED.id: "more"}
    # Ten blocks, all of one sign: p = 2 / 2^10, times the two others.
    assert found.loc[TORCH.id, "energy_p"] == pytest.approx(4 / 2**10)
    assert np.isnan(found.loc[ONNX.id, "energy_p"])
    assert found.loc[ONNX.id, "on_front"]


def test_what_is_not_told_apart_is_no_win() -> None:
    found = judged({TORCH: STEADY + 0.001 * (-1) ** np.arange(10), ONNX: STEADY + 0.0001, BATCHED: 3 * STEADY})
    assert sorted(found["energy_verdict"]) == ["least", "more", "not told apart"]
    few = judged({TORCH: [2.0, 2.1, 2.2], ONNX: [1.0, 1.1, 1.2]})
    assert few.loc[TORCH.id, "energy_verdict"] == "not told apart"
    assert few.loc[TORCH.id, "energy_smallest_p"] == 0.25


def test_only_choices_of_equal_accuracy_can_be_best() -> None:
    accuracy = {TORCH: [0.9] * 10, ONNX: [0.8] * 10, BATCHED: [0.895] * 10}
    found = judged({TORCH: 2 * STEADY, ONNX: STEADY, BATCHED: 3 * STEADY}, accuracy)
    assert found["as_accurate"].to_dict() == {TORCH.id: True, ONNX.id: False, BATCHED.id: True}
    assert found.loc[TORCH.id, "energy_verdict"] == "least"
    assert not isinstance(found.loc[ONNX.id, "energy_verdict"], str)
    # Cheap and inexact is still a choice that nothing beats in everything.
    assert found.loc[ONNX.id, "on_front"]
    assert judged({TORCH: 2 * STEADY, ONNX: STEADY, BATCHED: 3 * STEADY}, accuracy, accuracy_margin=0.2)[
        "as_accurate"
    ].all()


def test_where_no_accuracy_is_known_choices_are_compared_without() -> None:
    found = judged({TORCH: 2 * STEADY, ONNX: STEADY}, dict.fromkeys((TORCH, ONNX), [np.nan] * 10))
    assert set(found["accuracy_note"]) == {"accuracy unknown"}
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
    shown = table.shown[table.shown["Runtime"] == "torch"].iloc[0]
    assert [shown[name] for name in ("kWh of 1,000", "gCO2e of 1,000", "EUR of 1,000")] == [
        "0.001000 (estimated)",
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
    runs = runs_frame({TORCH: 2 * STEADY, ONNX: STEADY, BATCHED: 3 * STEADY})
    drawn = figure.draw(runs, judge_choices(runs, SETTINGS))
    axes = drawn.axes[0]
    by_label: dict[str, list] = {}
    for points in axes.collections:
        by_label.setdefault(points.get_label(), []).append(points.get_offsets())
    assert len(by_label["_front"]) == 1
    assert by_label["_front"][0][0][1] == pytest.approx(1)
    assert len(by_label["_choice"]) == 2
    assert len(by_label["_repetitions"][0]) == 30
