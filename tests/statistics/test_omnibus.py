"""Omnibus tests and the tests after them, against printed examples."""

import pandas as pd
import pytest
from frames_factory import cell, runs_frame
from statistics_settings import row, settings

from framewatt.statistics.hypothesis_tests import omnibus

TORCH, TENSORFLOW, MXNET = cell("torch"), cell("tensorflow"), cell("mxnet")


def test_friedman_on_the_pulses_of_scipys_documentation() -> None:
    runs = runs_frame(
        {
            TORCH: [72, 96, 88, 92, 74, 76, 82],
            TENSORFLOW: [120, 120, 132, 120, 101, 96, 112],
            MXNET: [76, 95, 104, 96, 84, 72, 76],
        }
    )
    found = row(omnibus(runs, settings()), quantity="energy_per_sample_j", test="Friedman")
    assert found["statistic"] == pytest.approx(10.571428571428571)
    assert found["p"] == pytest.approx(0.005063414171757498)


def test_nemenyi_has_demsars_critical_difference() -> None:
    # Ranks 1, 2, 3 in each of 10 blocks; critical difference 2.343 sqrt(3 * 4 / 60) = 1.048 at 0.05.
    runs = runs_frame({TORCH: [1.0] * 10, TENSORFLOW: [2.0] * 10, MXNET: [3.0] * 10})
    after = omnibus(runs, settings())
    after = after[(after["test"] == "Nemenyi") & (after["quantity"] == "energy_per_sample_j")]
    assert row(after, cell_a=TENSORFLOW.id, cell_b=TORCH.id)["p"] == pytest.approx(0.065, abs=0.005)
    assert row(after, cell_a=MXNET.id, cell_b=TORCH.id)["p"] < 0.001


def test_an_incomplete_block_is_left_out_by_name() -> None:
    runs = runs_frame({TORCH: [1, 2, 3], TENSORFLOW: [2, None, 4], MXNET: [3, 4, 5]})
    found = omnibus(runs, settings())
    assert set(found["n_runs"]) == {2}
    assert found["flags"].str.contains("incomplete blocks left out: 2").all()


def test_kruskal_wallis_on_the_example_of_scipys_documentation() -> None:
    runs = runs_frame({TORCH: [1, 1, 1], TENSORFLOW: [2, 2, 2], MXNET: [2, 2]})
    found = omnibus(runs, settings(test="mannwhitney"))
    one = row(found, quantity="energy_per_sample_j", test="Kruskal-Wallis")
    assert (one["statistic"], one["p"]) == (pytest.approx(7.0), pytest.approx(0.0301973834223185))
    assert (found["test"] == "Dunn").sum() == 6


def test_no_difference_has_no_p() -> None:
    runs = runs_frame({TORCH: [1, 1], TENSORFLOW: [1, 1], MXNET: [1, 1]})
    for test in ("wilcoxon", "mannwhitney"):
        found = omnibus(runs, settings(test=test))
        assert found["p"].isna().all()
        assert found["flags"].str.contains("no test").all()


def test_two_cells_need_no_omnibus_test() -> None:
    assert omnibus(runs_frame({TORCH: [1, 2], TENSORFLOW: [2, 3]}), settings()).empty


@pytest.mark.parametrize(("test", "name"), [("wilcoxon", "Friedman"), ("mannwhitney", "Kruskal-Wallis")])
def test_a_cell_without_runs_leaves_the_test_to_the_others_and_is_named(test: str, name: str) -> None:
    fourth, fifth = cell("torch2onnx"), cell("mx2onnx")
    others = {TORCH: [1, 2, 3, 4], TENSORFLOW: [2, 3, 4, 5.5], MXNET: [3.5, 4.5, 5, 6]}
    alone = omnibus(runs_frame(others), settings(test=test))
    found = omnibus(runs_frame({**others, fourth: [None] * 4, fifth: [9, None, None, None]}), settings(test=test))
    whole = row(found, quantity="energy_per_sample_j", test=name)
    assert whole["p"] == row(alone, quantity="energy_per_sample_j", test=name)["p"]
    assert (whole["n_cells"], whole["n_runs"]) == (3, 4 if test == "wilcoxon" else 12)
    without = f"tested without {fifth.id} (1 run that counts), {fourth.id} (no run that counts)"
    assert whole["flags"].startswith(without)


def test_too_few_cells_with_runs_are_no_test_but_a_reason() -> None:
    runs = runs_frame({TORCH: [1, 2], TENSORFLOW: [2, 3], MXNET: [None, None]})
    for test in ("wilcoxon", "mannwhitney"):
        one = row(omnibus(runs, settings(test=test)), quantity="energy_per_sample_j")
        assert pd.isna(one["p"])
        assert one["flags"] == (
            f"tested without {MXNET.id} (no run that counts); "
            "no test: 2 cells with 2 runs that count, at least 3 needed"
        )


def test_a_planned_cell_without_a_single_record_is_named_too() -> None:
    others = {TORCH: [1, 2, 3, 4], TENSORFLOW: [2, 3, 4, 5.5], MXNET: [3.5, 4.5, 5, 6]}
    gone = cell("torch2onnx")
    found = omnibus(runs_frame(others), settings(), [*others, gone])
    whole = row(found, quantity="energy_per_sample_j", test="Friedman")
    assert (whole["n_cells"], whole["flags"]) == (3, f"tested without {gone.id} (no run that counts)")
