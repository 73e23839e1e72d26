"""Which cells cost other than before: by SciPy, where nothing differs, and where nothing can be told."""

import numpy as np
import pytest
from scipy import stats
from simulated.compared import failing

from framewatt.base.errors import FramewattError
from framewatt.comparing.compared import margin_of, requested_quantity
from framewatt.statistics.changes import ALIKE, CANNOT_TELL, FEW, HOLDS, LOST, MORE, changes


def noisy(level: float, runs: int, seed: int, noise: float = 0.01) -> list[float]:
    """Runs of a cell."""
    return list(level * np.exp(np.random.default_rng(seed).normal(0, noise, runs)))


def test_ratios_are_welchs_with_intervals_for_all_cells_together() -> None:
    old, new = noisy(1, 4, 1), noisy(1.2, 4, 2)
    found = changes({"a": old, "b": old}, {"a": new, "b": old[:3]}, 0.05, 0.05).set_index("cell")
    right = stats.ttest_ind(np.log(new), np.log(old), equal_var=False).confidence_interval(1 - 0.05 / 2)
    assert (found.loc["a", "ratio_low"], found.loc["a", "ratio_high"]) == pytest.approx(tuple(np.exp(right)))
    assert found.loc["a", "ratio"] == pytest.approx(stats.gmean(new) / stats.gmean(old))
    assert (found.loc["a", "changed"], found.loc["a", "verdict"]) == ("more", MORE)


@pytest.mark.parametrize(
    ("old", "new", "verdict", "changed"),
    [
        (noisy(1, 8, 1), noisy(1, 8, 2), HOLDS, ""),
        (noisy(1, 8, 1), noisy(1.03, 8, 2), HOLDS, "more"),
        (noisy(1, 8, 1), noisy(0.8, 8, 2), HOLDS, "less"),
        (noisy(1, 8, 1), noisy(1.2, 8, 2), MORE, "more"),
        # Known to cost more, but not by how much: that is no failure.
        (noisy(1, 8, 1, 0.03), noisy(1.07, 8, 2, 0.03), CANNOT_TELL, "more"),
        (noisy(1, 8, 1, 0.3), noisy(1.2, 8, 2, 0.3), CANNOT_TELL, ""),
        ([1.0], [9.0], CANNOT_TELL, ""),
        ([1.0, 1.0], [9.0, 9.0], CANNOT_TELL, ""),
        ([1.0, 1.1], [], LOST, ""),
        ([], [1.0, 1.1], CANNOT_TELL, ""),
        ([1.0, 1.1], [0.0, float("nan")], LOST, ""),
    ],
)
def test_verdicts(old: list[float], new: list[float], verdict: str, changed: str) -> None:
    (row,) = changes({"a": old}, {"a": new}, 0.05, 0.05).to_dict("records")
    assert (row["verdict"], row["changed"]) == (verdict, changed)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ([1.0, 1.1, 1.2], [1.2, 1.3, 1.2], ""),
        ([1.0, 1.1, 1.2], [1.2, 1.3], FEW),
        ([1.0, 1.1], [1.2], FEW),
        ([1.0, 1.1], [], FEW),
        ([], [1.0, 1.1], FEW),
        ([1.0] * 3, [1.2] * 3, ALIKE),
        ([1.0] * 3, [1.2, 1.3, 1.2], ""),
    ],
)
def test_why_a_ratio_has_no_interval(old: list[float], new: list[float], why: str) -> None:
    (row,) = changes({"a": old}, {"a": new}, 0.05, 0.05).to_dict("records")
    assert row["no_interval"] == why


@pytest.mark.parametrize("few", [2, 3, 5])
def test_few_runs_against_many_are_seldom_told_to_have_changed(few: int) -> None:
    rng = np.random.default_rng(few)
    told = 0
    for _ in range(150):
        old = {str(cell): np.exp(rng.normal(0, 0.03, 20)) for cell in range(30)}
        new = {str(cell): np.exp(rng.normal(0, 0.03, few)) for cell in range(30)}
        told += (changes(old, new, 0.05, 0.05)["changed"] != "").any()
    # 5 % of 150, and two standard deviations.
    assert told <= 12


def test_more_cells_widen_the_intervals() -> None:
    old, new = noisy(1, 4, 1), noisy(1.1, 4, 2)
    alone = changes({"a": old}, {"a": new}, 0.05, 0.05)["ratio_low"].iloc[0]
    among = changes({str(i): old for i in range(20)}, {str(i): new for i in range(20)}, 0.05, 0.05)["ratio_low"].iloc[0]
    assert among < alone


def test_where_nothing_differs_few_comparisons_fail() -> None:
    told = failing(400, cells=5, runs=5, noise=0.05, seed=1)
    # At 5 % no cell should be said to have changed in more than 20 of 400, and none fails in more than 10; 0.001 odds.
    assert told.changed <= 36 / 400
    assert told.failed <= 21 / 400
    # A margin protects from what differs between sessions, which no interval holds.
    apart = failing(400, cells=5, runs=5, noise=0.01, session=0.02, seed=2)
    assert apart.changed > 0.5
    assert apart.failed < 0.05


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("0.05", 0.05), ("2.5 %", 0.025), ("0", 0.0), ("150%", 1.5)])
def test_margins(text: str, share: float) -> None:
    assert margin_of(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["5", "", "five", "-5%", "1e-2", "nan", "inf", "5%%", "2000%", "0.05; rm", "\u0665%"])
def test_rubbish_is_no_margin(text: str) -> None:
    with pytest.raises(FramewattError, match=r"FAIL_ABOVE: .* is not a share"):
        margin_of(text)


def test_quantities() -> None:
    assert requested_quantity("time") == "time"
    with pytest.raises(FramewattError, match="QUANTITY: 'power' cannot be compared"):
        requested_quantity("power")
