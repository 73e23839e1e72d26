"""Comparisons of two cells: blocks, corrections, flags."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame, study_frame
from statistics_settings import row, settings

from framewatt.statistics.comparisons import compare_cells

TORCH, TENSORFLOW, MXNET = cell("torch"), cell("tensorflow"), cell("mxnet")


def test_ten_blocks_in_which_one_cell_always_costs_twice() -> None:
    base = [10.0, 11.1, 12.3, 13.6, 15.0, 16.5, 18.1, 19.8, 21.6, 23.5]
    runs = runs_frame({TORCH: base, TENSORFLOW: [value / 2 for value in base]})
    found = row(compare_cells(runs, settings()), quantity="energy_per_sample_j")
    assert (found["cell_a"], found["cell_b"]) == (TENSORFLOW.id, TORCH.id)
    assert found["ratio"] == pytest.approx(2)
    assert (found["test"], found["p"]) == ("wilcoxon signed-rank, exact", 0.001953125)
    assert (found["p_corrected"], found["significant"]) == (0.001953125, True)
    # Of the halves 10.8 beats 10 and 11.75 beats 10 and 11.1: 3 of 100 pairs.
    assert found["a12"] == pytest.approx(0.03)
    assert found["cliffs_delta"] == pytest.approx(0.03 - 0.97)
    assert found["a12_low"] < found["a12"] < found["a12_high"]
    assert found["magnitude"] == "", "ten runs are too few for a word"


def test_a_missing_block_is_left_out_on_both_sides() -> None:
    runs = runs_frame({TORCH: [1, 2, 3, 4, 5.5], TENSORFLOW: [2, 4, None, 8, 10]})
    found = row(compare_cells(runs, settings()), quantity="energy_per_sample_j")
    assert (found["n_a"], found["n_b"], found["n_pairs"]) == (4, 5, 4)
    assert (found["mean_a"], found["mean_b"]) == (6, pytest.approx(12.5 / 4))
    assert (found["p"], found["smallest_p"]) == (0.125, 0.125)
    assert f"block 3 left out: {TENSORFLOW.id}: failed: took longer than timeout_s" in found["flags"]


def test_a_block_without_a_record_is_named() -> None:
    runs = runs_frame({TORCH: [1, 2, 3], TENSORFLOW: [2, 4, 6.5]})
    runs = runs[~((runs["cell"] == TORCH.id) & (runs["repetition"] == 2))]
    found = row(compare_cells(runs, settings()), quantity="energy_per_sample_j")
    assert f"block 2 left out: {TORCH.id}: no run" in found["flags"]


def test_mann_whitney_needs_no_blocks() -> None:
    runs = runs_frame({TORCH: [1, 2, 3, 4, 5.5], TENSORFLOW: [20, 40, None, 80, 100]})
    found = row(compare_cells(runs, settings(test="mannwhitney")), quantity="energy_per_sample_j")
    assert (found["n_a"], found["n_b"], found["n_pairs"]) == (4, 5, pd.NA)
    assert found["p"] == pytest.approx(2 / math.comb(9, 4))
    assert f"repetition 3 left out: {TENSORFLOW.id}" in found["flags"]


def test_holm_runs_over_all_comparisons_of_a_quantity() -> None:
    found = compare_cells(study_frame(10), settings())
    for _, family in found.groupby("quantity"):
        assert len(family) == 33
        assert family["p_corrected"].min() == pytest.approx(33 * 2 / 2**10)
        assert not family["significant"].any()
        assert family["flags"].str.contains("too few runs for significance: corrected p of 0.0645 at best").all()


def test_too_few_runs_give_no_p_and_the_reason() -> None:
    found = row(compare_cells(runs_frame({TORCH: [1], TENSORFLOW: [2]}), settings()), quantity="time_per_sample_s")
    assert np.isnan(found["p"])
    assert found["significant"] is pd.NA
    assert "no test: 1 complete blocks, at least 2 needed" in found["flags"]


def test_cells_of_different_groups_are_not_compared() -> None:
    runs = runs_frame({TORCH: [1, 2, 3], cell("tensorflow", batch_size=64): [1, 2, 3]})
    assert compare_cells(runs, settings()).empty


def test_an_estimate_beside_a_measurement_is_flagged() -> None:
    runs = runs_frame({TORCH: [1, 2, 3], TENSORFLOW: [2, 3, 4.5]})
    runs.loc[runs["cell"] == TORCH.id, "estimated"] = True
    found = compare_cells(runs, settings())
    energy, time = row(found, quantity="energy_per_sample_j"), row(found, quantity="time_per_sample_s")
    assert f"{TORCH.id} is estimated, the other is not" in energy["flags"]
    assert (energy["estimated"], time["estimated"]) == (True, False)


def test_a_frame_from_parquet_gives_the_same(tmp_path: Any) -> None:
    runs = runs_frame({TORCH: [1, None, 3, 4.5], TENSORFLOW: [2, 4, 6.5, 9]})
    runs.to_parquet(tmp_path / "runs.parquet")
    again = pd.read_parquet(tmp_path / "runs.parquet")
    pd.testing.assert_frame_equal(compare_cells(runs, settings()), compare_cells(again, settings()))
