"""What is told of the runs of a cell: location, spread, flags, and which runs were left out."""

import math

import pandas as pd
import pytest
from frames_factory import cell, runs_frame
from statistics_settings import array, row, settings

from framewatt.base.errors import FramewattError
from framewatt.papers.methods import outliers
from framewatt.statistics.cells import bimodality_coefficient
from framewatt.statistics.cells import summarise_cells as summarise

TORCH, TENSORFLOW, MXNET = cell("torch"), cell("tensorflow"), cell("mxnet")


def test_location_and_spread_by_hand() -> None:
    found = row(summarise(runs_frame({TORCH: [2, 4, 4, 4, 5, 5, 7, 9]}), settings()), quantity="energy_per_sample_j")
    assert (found["n"], found["mean"], found["median"], found["min"], found["max"]) == (8, 5, 4.5, 2, 9)
    assert found["sd"] == pytest.approx(math.sqrt(32 / 7))
    assert found["cv_percent"] == pytest.approx(100 * math.sqrt(32 / 7) / 5)
    assert found["mean_low"] < 5 < found["mean_high"]


def test_shapiro_and_outlier_of_the_weights_of_shapiro_and_wilk() -> None:
    # Weights of 11 men (Shapiro and Wilk 1965): p = 0.0067 in scipy's documentation. Quartiles 159 and 176.
    weights = [148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236]
    found = row(summarise(runs_frame({TORCH: weights}), settings()), quantity="energy_per_sample_j")
    assert found["shapiro_p"] == pytest.approx(0.0067, abs=5e-5)
    assert (found["drift_rho"], found["n"]) == (pytest.approx(1), 11)
    for flag in ("not normal", "drifts with run order"):
        assert flag in found["flags"]


@pytest.mark.parametrize(("last", "found"), [(13, []), (13.01, [8])])
def test_outliers_lie_beyond_one_and_a_half_interquartile_ranges(last: float, found: list[int]) -> None:
    # Quartiles 3 and 7, so that 7 + 1.5 * 4 = 13 is the last value inside.
    assert outliers(array(1, 2, 3, 4, 5, 6, 7, 8, last)) == found


def test_cold_cache_of_georgiou2022_is_flagged_and_kept() -> None:
    seconds = [336, 216, 217, 205, 66, 20.4, 20.1, 20.3, 20.2, 20.0]
    found = row(summarise(runs_frame({TORCH: seconds}), settings()), quantity="time_per_sample_s")
    assert found["n"] == 10
    assert found["cv_percent"] == pytest.approx(104, abs=1)
    assert "drifts with run order" in found["flags"]


def test_bimodality_coefficient_by_hand() -> None:
    # Five zeros and five ones: skewness 0, G2 = 9 / 56 (11 (-2) + 6) = -144 / 56, 3 * 81 / 56 = 243 / 56.
    assert bimodality_coefficient(array(0, 0, 0, 0, 0, 1, 1, 1, 1, 1)) == pytest.approx(56 / 99)


def test_two_heaps_are_flagged_from_ten_runs_on() -> None:
    heaps = [1.0, 2.0] * 5
    ten = row(summarise(runs_frame({TORCH: heaps}), settings()), quantity="energy_per_sample_j")
    nine = row(summarise(runs_frame({TORCH: heaps[:9]}), settings()), quantity="energy_per_sample_j")
    assert bool(ten["bimodal"])
    assert "bimodal" in ten["flags"]
    assert nine["bimodal"] is pd.NA


def test_a_constant_value_says_so() -> None:
    found = row(summarise(runs_frame({TORCH: [1, 2, 3, 4]}), settings()), quantity="accuracy")
    assert (found["mean"], found["sd"], found["cv_percent"]) == (0.9, 0, 0)
    assert found[["mean_low", "mean_high", "shapiro_p", "drift_p"]].isna().all()
    assert "constant value" in found["flags"]


def test_a_spread_of_rounding_errors_is_constant() -> None:
    # POWER_W is energy over time, so that every run has it but for the last bit.
    found = row(summarise(runs_frame({TORCH: [0.1, 0.3, 0.7, 0.9]}), settings()), quantity="mean_power_w")
    assert (found["mean"], found["sd"]) == (pytest.approx(50), 0)
    assert "constant value" in found["flags"]


def test_two_runs_have_a_mean_and_no_interval() -> None:
    found = row(summarise(runs_frame({TORCH: [1, 3]}), settings()), quantity="energy_per_sample_j")
    assert found["mean"] == 2
    assert found[["mean_low", "shapiro_p", "drift_rho", "outliers"]].isna().all()
    assert "no interval: fewer than 3 runs" in found["flags"]


def test_runs_that_do_not_count_are_left_out_by_name() -> None:
    runs = runs_frame({TORCH: [1, None, 3, 100, None]})
    runs.loc[runs["repetition"] == 4, "valid"] = False
    runs.loc[runs["repetition"] == 4, "reasons"] = "the counter was reset"
    found = row(summarise(runs, settings()), quantity="energy_per_sample_j")
    assert (found["n"], found["mean"], found["left_out"]) == (2, 2, 3)
    assert found["left_out_reasons"] == (
        "repetition 2, 5: failed: took longer than timeout_s; repetition 4: invalid: the counter was reset"
    )


def test_a_run_without_the_value_is_left_out_of_that_quantity_alone() -> None:
    runs = runs_frame({TORCH: [1, 2, 3]})
    runs.loc[runs["repetition"] == 2, "accuracy"] = None
    cells = summarise(runs, settings())
    assert row(cells, quantity="accuracy")["left_out_reasons"] == "repetition 2: no value of accuracy"
    assert row(cells, quantity="energy_per_sample_j")["n"] == 3


def test_a_cell_whose_runs_all_failed_has_no_number() -> None:
    found = row(summarise(runs_frame({TORCH: [None, None]}), settings()), quantity="energy_per_sample_j")
    assert (found["n"], found["left_out"], found["flags"]) == (0, 2, "no run counts")
    assert found[["mean", "median", "sd", "min", "max"]].isna().all()


def test_an_estimate_is_marked_where_energy_is_and_nowhere_else() -> None:
    cells = summarise(runs_frame({TORCH: [1, 2, 3]}, estimated=True), settings())
    marked = set(cells.loc[cells["estimated"], "quantity"])
    assert marked == {"energy_gross_j", "energy_per_sample_j", "mean_power_w"}


def test_flags_of_the_runs_are_counted() -> None:
    runs = runs_frame({TORCH: [1, 2, 3]})
    runs.loc[runs["repetition"] <= 2, "flags"] = "window is short; on battery"
    flags = row(summarise(runs, settings()), quantity="energy_per_sample_j")["flags"]
    assert flags == "window is short (2 of 3 runs); on battery (2 of 3 runs)"


def test_a_rows_interval_depends_on_no_other_row() -> None:
    alone = summarise(runs_frame({TORCH: [1, 2, 4, 8]}), settings())
    beside = summarise(runs_frame({MXNET: [3, 1, 2, 9], TORCH: [1, 2, 4, 8]}), settings())
    beside = beside[beside["cell"] == TORCH.id].reset_index(drop=True)
    pd.testing.assert_series_equal(alone["mean_low"], beside["mean_low"])


def test_a_run_that_is_there_twice_is_an_error() -> None:
    runs = runs_frame({TORCH: [1, 2]})
    with pytest.raises(FramewattError, match="infer-resnet50-digits-torch-b1 repetition 1 has two rows"):
        summarise(pd.concat([runs, runs]), settings())


def test_domains_are_not_added_to_the_total() -> None:
    runs = runs_frame({TORCH: [1, 2, 3]}, domains=["cpu:package-0", "cpu:dram-0"])
    assert row(summarise(runs, settings()), quantity="energy_per_sample_j")["mean"] == 2
