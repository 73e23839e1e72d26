"""Statistics against printed examples, R and hand computation."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame, study_frame
from scipy import stats

from framewatt.base.errors import FramewattError
from framewatt.published.quartiles import outliers
from framewatt.statistics.cells import bimodality_coefficient
from framewatt.statistics.cells import summarise_cells as summarise
from framewatt.statistics.comparisons import compare_cells
from framewatt.statistics.correlation import correlate, spearman
from framewatt.statistics.effect_size import a12, a12_interval, cliffs_delta, magnitude
from framewatt.statistics.hypothesis_tests import compare_pair, correct
from framewatt.statistics.intervals import mean_interval, ratio_of_means_interval
from framewatt.statistics.omnibus import omnibus
from framewatt.statistics.pairs import comparable_pairs
from framewatt.statistics.power import reachable_significance, smallest_p
from framewatt.statistics.selection import cells_of
from framewatt.study.factors import COMPARED

TORCH, TENSORFLOW, MXNET = cell("torch"), cell("tensorflow"), cell("mxnet")


def settings(**changes: Any) -> dict[str, Any]:
    defaults = {
        "test": "wilcoxon",
        "correction": "holm",
        "alpha": 0.05,
        "confidence": 0.95,
        "equal_margin": 0.05,
        "noise": 0.05,
    }
    return {"compare": COMPARED, **defaults, **changes}


def array(*values: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def row(frame: pd.DataFrame, **levels: Any) -> "pd.Series[Any]":
    """The one row with these levels."""
    for name, level in levels.items():
        frame = frame[frame[name] == level]
    assert len(frame) == 1
    return frame.iloc[0]


class TestEffectSize:
    def test_a12_counts_pairs_and_half_the_ties(self) -> None:
        # 6 pairs: 2 > 1; 3 > 1, 3 > 2; 1 = 1, 2 = 2 tie; 1 < 2.
        assert a12([1, 2, 3], [1, 2]) == pytest.approx((3 + 0.5 * 2) / 6)

    def test_a12_of_samples_apart_is_one_or_zero(self) -> None:
        assert a12([5, 6], [1, 2, 3]) == 1
        assert a12([1, 2, 3], [5, 6]) == 0

    def test_cliffs_delta_counts_above_less_below(self) -> None:
        assert cliffs_delta([1, 2, 3], [1, 2]) == pytest.approx((3 - 1) / 6)

    def test_an_empty_sample_has_no_a12(self) -> None:
        with pytest.raises(ValueError, match="either sample"):
            a12([], [1.0])

    @pytest.mark.parametrize(
        ("value", "word"),
        [
            (0.5, "negligible"),
            (0.559, "negligible"),
            (0.56, "small"),
            (0.44, "small"),
            (0.64, "medium"),
            (0.36, "medium"),
            (0.709, "medium"),
            (0.71, "large"),
            (0.29, "large"),
            (0.0, "large"),
        ],
    )
    def test_magnitude_of_vargha_and_delaney(self, value: float, word: str) -> None:
        assert magnitude(value) == word

    @pytest.mark.parametrize("value", [0.3, 0.5, 0.8, 1.0])
    def test_interval_ends_where_hanley_and_mcneils_error_reaches_the_value(self, value: float) -> None:
        # For equal sizes Newcombe's variance is Hanley and McNeil's, written here as in their paper.
        n, low = 10, a12_interval(value, 10, 10, 0.95)[0]
        q1, q2 = low / (2 - low), 2 * low**2 / (1 + low)
        variance = (low * (1 - low) + (n - 1) * (q1 - low**2) + (n - 1) * (q2 - low**2)) / n**2
        assert low < value
        assert value - low == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-5)

    def test_interval_is_mirrored_and_has_a_width_where_samples_do_not_overlap(self) -> None:
        low, high = a12_interval(1, 10, 10, 0.95)
        assert high == 1
        assert low < 0.9
        assert a12_interval(0, 10, 10, 0.95) == pytest.approx((0, 1 - low))


class TestTestsOfPairs:
    def test_wilcoxon_on_darwins_maize(self) -> None:
        # Differences and p as in scipy's documentation of wilcoxon (Cureton 1967).
        differences = array(6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75)
        outcome = compare_pair("wilcoxon", differences, np.zeros(15))
        assert outcome.test == "wilcoxon signed-rank, exact"
        assert outcome.p == pytest.approx(0.041259765625)

    @pytest.mark.parametrize(("n", "p"), [(5, 0.0625), (10, 0.001953125)])
    def test_wilcoxon_of_differences_of_one_sign(self, n: int, p: float) -> None:
        assert compare_pair("wilcoxon", np.arange(1.0, n + 1), np.zeros(n)).p == p

    def test_wilcoxon_with_ties_goes_through_all_signs(self) -> None:
        # |d| = 1, 1, 2 all rank on one side in 1 of 8 sign patterns, on the other in 1 more.
        outcome = compare_pair("wilcoxon", array(1, 1, 2), np.zeros(3))
        assert outcome.test == "wilcoxon signed-rank, exact permutation with ties"
        assert outcome.p == pytest.approx(2 / 8)

    def test_wilcoxon_with_ties_in_many_pairs_says_that_it_is_asymptotic(self) -> None:
        outcome = compare_pair("wilcoxon", np.ones(20), np.zeros(20))
        assert outcome.test == "wilcoxon signed-rank, asymptotic with ties"
        # By hand: W = 210, mean 105, variance n (n + 1) (2n + 1) / 24 less (20^3 - 20) / 48, continuity 1/2.
        z = (210 - 105 - 0.5) / math.sqrt(20 * 21 * 41 / 24 - (20**3 - 20) / 48)
        assert outcome.p == pytest.approx(math.erfc(z / math.sqrt(2)))

    def test_mann_whitney_on_the_ages_of_scipys_documentation(self) -> None:
        outcome = compare_pair("mannwhitney", array(19, 22, 16, 29, 24), array(20, 11, 17, 12))
        assert outcome.test == "mann-whitney rank-sum, exact"
        assert outcome.p == pytest.approx(1 / 9)

    def test_mann_whitney_is_exact_for_ten_against_ten(self) -> None:
        # 2 of C(20, 10) = 184756 arrangements are as extreme; the normal approximation gives 0.00018.
        outcome = compare_pair("mannwhitney", np.arange(10.0), np.arange(10.0) + 20)
        assert outcome.p == pytest.approx(2 / 184756)

    def test_mann_whitney_with_a_tie_goes_through_all_arrangements(self) -> None:
        # {1, 2} against {2, 3}: of 6 arrangements of 1, 2, 2, 3 two are this extreme, and two as far the other way.
        outcome = compare_pair("mannwhitney", array(1, 2), array(2, 3))
        assert outcome.test == "mann-whitney rank-sum, exact permutation with ties"
        assert outcome.p == pytest.approx(4 / 6)

    @pytest.mark.parametrize("test", ["wilcoxon", "mannwhitney"])
    def test_without_any_difference_there_is_no_p(self, test: str) -> None:
        outcome = compare_pair(test, np.ones(5), np.ones(5))
        assert outcome.p is None
        assert outcome.note.startswith("no test: ")

    @pytest.mark.parametrize("test", ["wilcoxon", "mannwhitney"])
    def test_one_run_is_too_few(self, test: str) -> None:
        outcome = compare_pair(test, array(1), array(2))
        assert outcome.p is None
        assert "at least 2 needed" in outcome.note

    def test_holm_by_hand(self) -> None:
        # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1 is 0.02, 0.03, 0.06, 0.04, and never falls.
        assert correct([0.01, 0.04, 0.03, 0.005], "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_bonferroni_by_hand(self) -> None:
        assert correct([0.01, 0.04, 0.5], "bonferroni") == pytest.approx([0.03, 0.12, 1.0])

    def test_a_comparison_without_p_stays_in_the_family(self) -> None:
        assert correct([0.01, None], "holm") == [pytest.approx(0.02), None]
        assert correct([0.01, None], "none") == [0.01, None]

    def test_smallest_p(self) -> None:
        assert smallest_p("wilcoxon", 5, 5) == 0.0625
        assert smallest_p("wilcoxon", 10, 10) == pytest.approx(0.00195, abs=5e-6)
        assert smallest_p("mannwhitney", 5, 5) == pytest.approx(2 / 252)
        assert smallest_p("wilcoxon", 1, 1) == smallest_p("mannwhitney", 1, 1) == 1


class TestIntervals:
    def test_interval_of_a_mean_is_students_on_a_scale_of_ratios(self) -> None:
        values = array(96, 103, 101, 94, 106)
        found = mean_interval(values, 0.95)
        # 2.7764 is Student's 97.5 % point of 4 degrees of freedom.
        half = 2.7764 * values.std(ddof=1) / math.sqrt(5) / 100
        assert [found.low, found.high] == pytest.approx([100 * math.exp(-half), 100 * math.exp(half)], rel=1e-5)
        plain = stats.ttest_1samp(values, 0).confidence_interval()
        assert [found.low, found.high] == pytest.approx([plain.low, plain.high], rel=0.01)

    def test_no_end_of_what_cannot_be_negative_is(self) -> None:
        assert mean_interval(array(93, 1608, 90), 0.95).low > 0

    def test_fieller_by_hand(self) -> None:
        # Finney 1978's way: roots of (b - r a)^2 = t^2 var(b - r a) / n, found here by trying ratios.
        a, b = array(10, 11, 9, 12, 10), array(14, 15, 12, 18, 13)
        found = ratio_of_means_interval(a, b, 0.95, paired=True)
        for end in (found.low, found.high):
            left = b - end * a
            assert abs(stats.ttest_1samp(left, 0).statistic) == pytest.approx(stats.t.ppf(0.975, 4))
        assert found.low < b.mean() / a.mean() < found.high

    def test_fieller_knows_no_bounds_where_the_divisor_may_be_nothing(self) -> None:
        found = ratio_of_means_interval(array(1, 100), array(1, 2), 0.95, paired=False)
        assert (found.low, found.note) == (None, "the mean of cell A is not told from 0")

    def test_pairs_that_move_together_give_a_narrow_ratio(self) -> None:
        a = array(1, 2, 3, 4, 5, 6)
        b = 2 * a * array(1.01, 0.99, 1.0, 1.01, 0.99, 1.0)
        paired = ratio_of_means_interval(a, b, 0.95, paired=True)
        apart = ratio_of_means_interval(a, b, 0.95, paired=False)
        assert [paired.low, paired.high] == pytest.approx([2, 2], abs=0.03)
        assert apart.high - apart.low > 0.5

    def test_nothing_is_said_of_too_few_or_equal_values(self) -> None:
        assert mean_interval(array(1, 2), 0.95).note == "fewer than 3 runs"
        assert mean_interval(np.ones(5), 0.95).low is None


class TestSpearman:
    def test_by_hand(self) -> None:
        # 1 - 6 sum d^2 / (n (n^2 - 1)) = 1 - 6 * 4 / 120; two-sided p of 0.8 at n = 5 in printed tables: 0.133.
        rho, p = spearman([10, 20, 30, 40, 50], [2, 1, 4, 3, 5])
        assert rho == pytest.approx(0.8)
        assert p == pytest.approx(16 / 120)

    def test_ties_take_their_mean_rank(self) -> None:
        # Ranks 1.5, 1.5, 3 against 1, 2, 3: covariance 1.5, variances 1.5 and 2.
        assert spearman([5, 5, 9], [1, 2, 3])[0] == pytest.approx(1.5 / math.sqrt(1.5 * 2))

    def test_p_is_never_below_what_n_can_give(self) -> None:
        assert spearman(range(3), range(3))[1] == pytest.approx(2 / 6)
        assert spearman(range(10), range(10))[1] == pytest.approx(2 / math.factorial(10))

    def test_a_constant_side_has_no_correlation(self) -> None:
        assert spearman([1, 1, 1], [1, 2, 3]) == (None, None)


class TestCells:
    def test_location_and_spread_by_hand(self) -> None:
        found = row(
            summarise(runs_frame({TORCH: [2, 4, 4, 4, 5, 5, 7, 9]}), settings()), quantity="energy_per_sample_j"
        )
        assert (found["n"], found["mean"], found["median"], found["min"], found["max"]) == (8, 5, 4.5, 2, 9)
        assert found["sd"] == pytest.approx(math.sqrt(32 / 7))
        assert found["cv_percent"] == pytest.approx(100 * math.sqrt(32 / 7) / 5)
        assert found["mean_low"] < 5 < found["mean_high"]

    def test_shapiro_and_outlier_of_the_weights_of_shapiro_and_wilk(self) -> None:
        # Weights of 11 men (Shapiro and Wilk 1965): p = 0.0067 in scipy's documentation. Quartiles 159 and 176.
        weights = [148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236]
        found = row(summarise(runs_frame({TORCH: weights}), settings()), quantity="energy_per_sample_j")
        assert found["shapiro_p"] == pytest.approx(0.0067, abs=5e-5)
        assert (found["drift_rho"], found["n"]) == (pytest.approx(1), 11)
        for flag in ("not normal", "drifts with run order"):
            assert flag in found["flags"]

    @pytest.mark.parametrize(("last", "found"), [(13, []), (13.01, [8])])
    def test_outliers_lie_beyond_one_and_a_half_interquartile_ranges(self, last: float, found: list[int]) -> None:
        # Quartiles 3 and 7, so that 7 + 1.5 * 4 = 13 is the last value inside.
        assert outliers(array(1, 2, 3, 4, 5, 6, 7, 8, last)) == found

    def test_cold_cache_of_georgiou2022_is_flagged_and_kept(self) -> None:
        seconds = [336, 216, 217, 205, 66, 20.4, 20.1, 20.3, 20.2, 20.0]
        found = row(summarise(runs_frame({TORCH: seconds}), settings()), quantity="time_per_sample_s")
        assert found["n"] == 10
        assert found["cv_percent"] == pytest.approx(104, abs=1)
        assert "drifts with run order" in found["flags"]

    def test_bimodality_coefficient_by_hand(self) -> None:
        # Five zeros and five ones: skewness 0, G2 = 9 / 56 (11 (-2) + 6) = -144 / 56, 3 * 81 / 56 = 243 / 56.
        assert bimodality_coefficient(array(0, 0, 0, 0, 0, 1, 1, 1, 1, 1)) == pytest.approx(56 / 99)

    def test_two_heaps_are_flagged_from_ten_runs_on(self) -> None:
        heaps = [1.0, 2.0] * 5
        ten = row(summarise(runs_frame({TORCH: heaps}), settings()), quantity="energy_per_sample_j")
        nine = row(summarise(runs_frame({TORCH: heaps[:9]}), settings()), quantity="energy_per_sample_j")
        assert bool(ten["bimodal"])
        assert "bimodal" in ten["flags"]
        assert nine["bimodal"] is pd.NA

    def test_a_constant_value_says_so(self) -> None:
        found = row(summarise(runs_frame({TORCH: [1, 2, 3, 4]}), settings()), quantity="accuracy")
        assert (found["mean"], found["sd"], found["cv_percent"]) == (0.9, 0, 0)
        assert found[["mean_low", "mean_high", "shapiro_p", "drift_p"]].isna().all()
        assert "constant value" in found["flags"]

    def test_a_spread_of_rounding_errors_is_constant(self) -> None:
        # POWER_W is energy over time, so that every run has it but for the last bit.
        found = row(summarise(runs_frame({TORCH: [0.1, 0.3, 0.7, 0.9]}), settings()), quantity="mean_power_w")
        assert (found["mean"], found["sd"]) == (pytest.approx(50), 0)
        assert "constant value" in found["flags"]

    def test_two_runs_have_a_mean_and_no_interval(self) -> None:
        found = row(summarise(runs_frame({TORCH: [1, 3]}), settings()), quantity="energy_per_sample_j")
        assert found["mean"] == 2
        assert found[["mean_low", "shapiro_p", "drift_rho", "outliers"]].isna().all()
        assert "no interval: fewer than 3 runs" in found["flags"]

    def test_runs_that_do_not_count_are_left_out_by_name(self) -> None:
        runs = runs_frame({TORCH: [1, None, 3, 100, None]})
        runs.loc[runs["repetition"] == 4, "valid"] = False
        runs.loc[runs["repetition"] == 4, "reasons"] = "the counter was reset"
        found = row(summarise(runs, settings()), quantity="energy_per_sample_j")
        assert (found["n"], found["mean"], found["left_out"]) == (2, 2, 3)
        assert found["left_out_reasons"] == (
            "repetition 2, 5: failed: took longer than timeout_s; repetition 4: invalid: the counter was reset"
        )

    def test_a_run_without_the_value_is_left_out_of_that_quantity_alone(self) -> None:
        runs = runs_frame({TORCH: [1, 2, 3]})
        runs.loc[runs["repetition"] == 2, "accuracy"] = None
        cells = summarise(runs, settings())
        assert row(cells, quantity="accuracy")["left_out_reasons"] == "repetition 2: no value of accuracy"
        assert row(cells, quantity="energy_per_sample_j")["n"] == 3

    def test_a_cell_whose_runs_all_failed_has_no_number(self) -> None:
        found = row(summarise(runs_frame({TORCH: [None, None]}), settings()), quantity="energy_per_sample_j")
        assert (found["n"], found["left_out"], found["flags"]) == (0, 2, "no run counts")
        assert found[["mean", "median", "sd", "min", "max"]].isna().all()

    def test_an_estimate_is_marked_where_energy_is_and_nowhere_else(self) -> None:
        cells = summarise(runs_frame({TORCH: [1, 2, 3]}, estimated=True), settings())
        marked = set(cells.loc[cells["estimated"], "quantity"])
        assert marked == {"energy_gross_j", "energy_per_sample_j", "mean_power_w"}

    def test_flags_of_the_runs_are_counted(self) -> None:
        runs = runs_frame({TORCH: [1, 2, 3]})
        runs.loc[runs["repetition"] <= 2, "flags"] = "window is short; on battery"
        flags = row(summarise(runs, settings()), quantity="energy_per_sample_j")["flags"]
        assert flags == "window is short (2 of 3 runs); on battery (2 of 3 runs)"

    def test_a_rows_interval_depends_on_no_other_row(self) -> None:
        alone = summarise(runs_frame({TORCH: [1, 2, 4, 8]}), settings())
        beside = summarise(runs_frame({MXNET: [3, 1, 2, 9], TORCH: [1, 2, 4, 8]}), settings())
        beside = beside[beside["cell"] == TORCH.id].reset_index(drop=True)
        pd.testing.assert_series_equal(alone["mean_low"], beside["mean_low"])

    def test_a_run_that_is_there_twice_is_an_error(self) -> None:
        runs = runs_frame({TORCH: [1, 2]})
        with pytest.raises(FramewattError, match="two rows of infer-resnet50-digits-torch-b1 repetition 1"):
            summarise(pd.concat([runs, runs]), settings())

    def test_domains_are_not_added_to_the_total(self) -> None:
        runs = runs_frame({TORCH: [1, 2, 3]}, domains=["cpu:package-0", "cpu:dram-0"])
        assert row(summarise(runs, settings()), quantity="energy_per_sample_j")["mean"] == 2


class TestComparisons:
    def test_ten_blocks_in_which_one_cell_always_costs_twice(self) -> None:
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

    def test_a_missing_block_is_left_out_on_both_sides(self) -> None:
        runs = runs_frame({TORCH: [1, 2, 3, 4, 5.5], TENSORFLOW: [2, 4, None, 8, 10]})
        found = row(compare_cells(runs, settings()), quantity="energy_per_sample_j")
        assert (found["n_a"], found["n_b"], found["n_pairs"]) == (4, 5, 4)
        assert (found["mean_a"], found["mean_b"]) == (6, pytest.approx(12.5 / 4))
        assert (found["p"], found["smallest_p"]) == (0.125, 0.125)
        assert f"block 3 left out: {TENSORFLOW.id}: failed: took longer than timeout_s" in found["flags"]

    def test_a_block_without_a_record_is_named(self) -> None:
        runs = runs_frame({TORCH: [1, 2, 3], TENSORFLOW: [2, 4, 6.5]})
        runs = runs[~((runs["cell"] == TORCH.id) & (runs["repetition"] == 2))]
        found = row(compare_cells(runs, settings()), quantity="energy_per_sample_j")
        assert f"block 2 left out: {TORCH.id}: no run" in found["flags"]

    def test_mann_whitney_needs_no_blocks(self) -> None:
        runs = runs_frame({TORCH: [1, 2, 3, 4, 5.5], TENSORFLOW: [20, 40, None, 80, 100]})
        found = row(compare_cells(runs, settings(test="mannwhitney")), quantity="energy_per_sample_j")
        assert (found["n_a"], found["n_b"], found["n_pairs"]) == (4, 5, pd.NA)
        assert found["p"] == pytest.approx(2 / math.comb(9, 4))
        assert f"repetition 3 left out: {TENSORFLOW.id}" in found["flags"]

    def test_holm_runs_over_all_comparisons_of_a_quantity(self) -> None:
        found = compare_cells(study_frame(10), settings())
        for _, family in found.groupby("quantity"):
            assert len(family) == 33
            assert family["p_corrected"].min() == pytest.approx(33 * 2 / 2**10)
            assert not family["significant"].any()
            assert family["flags"].str.contains("too few runs for significance: corrected p of 0.0645 at best").all()

    def test_too_few_runs_give_no_p_and_the_reason(self) -> None:
        found = row(compare_cells(runs_frame({TORCH: [1], TENSORFLOW: [2]}), settings()), quantity="time_per_sample_s")
        assert np.isnan(found["p"])
        assert found["significant"] is pd.NA
        assert "no test: 1 complete blocks, at least 2 needed" in found["flags"]

    def test_cells_of_different_groups_are_not_compared(self) -> None:
        runs = runs_frame({TORCH: [1, 2, 3], cell("tensorflow", batch_size=64): [1, 2, 3]})
        assert compare_cells(runs, settings()).empty

    def test_an_estimate_beside_a_measurement_is_flagged(self) -> None:
        runs = runs_frame({TORCH: [1, 2, 3], TENSORFLOW: [2, 3, 4.5]})
        runs.loc[runs["cell"] == TORCH.id, "estimated"] = True
        found = compare_cells(runs, settings())
        energy, time = row(found, quantity="energy_per_sample_j"), row(found, quantity="time_per_sample_s")
        assert f"{TORCH.id} is estimated, the other is not" in energy["flags"]
        assert (energy["estimated"], time["estimated"]) == (True, False)

    def test_a_frame_from_parquet_gives_the_same(self, tmp_path: Any) -> None:
        runs = runs_frame({TORCH: [1, None, 3, 4.5], TENSORFLOW: [2, 4, 6.5, 9]})
        runs.to_parquet(tmp_path / "runs.parquet")
        again = pd.read_parquet(tmp_path / "runs.parquet")
        pd.testing.assert_frame_equal(compare_cells(runs, settings()), compare_cells(again, settings()))


class TestReach:
    def test_count_agrees_with_the_comparisons_made(self) -> None:
        runs = study_frame(2)
        made = compare_cells(runs, settings())
        # 3 frameworks train: 3 pairs; 6 runtimes infer at two batch sizes: 15 pairs each.
        assert (
            len(comparable_pairs(cells_of(runs), COMPARED)) == 33 == (made["quantity"] == "energy_per_sample_j").sum()
        )

    def test_a_cell_whose_runs_failed_stays_in_the_count(self) -> None:
        runs = runs_frame({TORCH: [1, 2], TENSORFLOW: [None, None], MXNET: [3, 4]})
        made = compare_cells(runs, settings())
        assert (
            (made["quantity"] == "time_per_sample_s").sum()
            == len(comparable_pairs([TORCH, TENSORFLOW, MXNET], COMPARED))
            == 3
        )

    def test_five_runs_never_reach_five_percent(self) -> None:
        found = reachable_significance(5, 1, settings())
        assert (found.smallest_p, found.smallest_p_corrected, found.reachable) == (0.0625, 0.0625, False)
        assert found.smallest_n == 6
        assert "no difference can be significant at alpha = 0.05; at least 6 runs a cell could" in found.sentence

    def test_ten_runs_reach_it_for_few_comparisons(self) -> None:
        # 25 * 2 / 1024 = 0.0488 and 26 * 2 / 1024 = 0.0508.
        assert reachable_significance(10, 25, settings()).reachable
        assert not reachable_significance(10, 26, settings()).reachable
        assert reachable_significance(10, 26, settings()).smallest_n == 11

    def test_mann_whitney_reaches_it_with_fewer(self) -> None:
        # 2 / C(6, 3) = 0.1, 2 / C(8, 4) = 0.0286.
        found = reachable_significance(3, 1, settings(test="mannwhitney"))
        assert (found.smallest_p, found.smallest_n) == (0.1, 4)

    def test_no_correction(self) -> None:
        assert reachable_significance(6, 1000, settings(correction="none")).smallest_p_corrected == 2 / 64

    def test_nothing_to_compare(self) -> None:
        assert reachable_significance(5, 0, settings()).sentence.startswith("No two cells")

    def test_the_bound_before_measuring_is_the_bound_after(self) -> None:
        made = compare_cells(study_frame(5), settings())
        planned = reachable_significance(5, 33, settings())
        assert set(made["smallest_p"]) == {planned.smallest_p}
        assert set(made["smallest_p_corrected"]) == {planned.smallest_p_corrected}


class TestCorrelations:
    def test_rho_is_of_the_cells_of_a_group_and_has_no_p(self) -> None:
        names = ("torch", "tensorflow", "mxnet", "torch2onnx", "tf2onnx")
        small, large = ([cell(name, batch_size=size) for name in names] for size in (1, 64))
        # Within a batch size energy falls as time rises; pooled over both it would rise with it.
        energy = {one: [5.0 - i] * 2 for i, one in enumerate(small)} | {
            one: [50.0 - i] * 2 for i, one in enumerate(large)
        }
        time = {one: [1.0 + i] * 2 for i, one in enumerate(small)} | {
            one: [10.0 + i] * 2 for i, one in enumerate(large)
        }
        found = correlate(runs_frame(energy, time), settings())
        assert found["rho"].tolist() == pytest.approx([-1, -1])
        assert found["n_cells"].tolist() == [5, 5]
        assert not {"p", "rho_low"} & set(found.columns)

    def test_two_cells_have_no_correlation(self) -> None:
        assert correlate(runs_frame({TORCH: [1, 2], MXNET: [2, 3], TENSORFLOW: [None]}), settings()).empty

    def test_an_estimate_says_that_it_follows_time(self) -> None:
        found = correlate(study_frame(3, estimated=True), settings())
        assert found["flags"].str.contains("estimated from processor time").all()


class TestOmnibus:
    def test_friedman_on_the_pulses_of_scipys_documentation(self) -> None:
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

    def test_nemenyi_has_demsars_critical_difference(self) -> None:
        # Ranks 1, 2, 3 in each of 10 blocks; critical difference 2.343 sqrt(3 * 4 / 60) = 1.048 at 0.05.
        runs = runs_frame({TORCH: [1.0] * 10, TENSORFLOW: [2.0] * 10, MXNET: [3.0] * 10})
        after = omnibus(runs, settings())
        after = after[(after["test"] == "Nemenyi") & (after["quantity"] == "energy_per_sample_j")]
        assert row(after, cell_a=TENSORFLOW.id, cell_b=TORCH.id)["p"] == pytest.approx(0.065, abs=0.005)
        assert row(after, cell_a=MXNET.id, cell_b=TORCH.id)["p"] < 0.001

    def test_an_incomplete_block_is_left_out_by_name(self) -> None:
        runs = runs_frame({TORCH: [1, 2, 3], TENSORFLOW: [2, None, 4], MXNET: [3, 4, 5]})
        found = omnibus(runs, settings())
        assert set(found["n_runs"]) == {2}
        assert found["flags"].str.contains("incomplete blocks left out: 2").all()

    def test_kruskal_wallis_on_the_example_of_scipys_documentation(self) -> None:
        runs = runs_frame({TORCH: [1, 1, 1], TENSORFLOW: [2, 2, 2], MXNET: [2, 2]})
        found = omnibus(runs, settings(test="mannwhitney"))
        one = row(found, quantity="energy_per_sample_j", test="Kruskal-Wallis")
        assert (one["statistic"], one["p"]) == (pytest.approx(7.0), pytest.approx(0.0301973834223185))
        assert (found["test"] == "Dunn").sum() == 6

    def test_no_difference_has_no_p(self) -> None:
        runs = runs_frame({TORCH: [1, 1], TENSORFLOW: [1, 1], MXNET: [1, 1]})
        for test in ("wilcoxon", "mannwhitney"):
            found = omnibus(runs, settings(test=test))
            assert found["p"].isna().all()
            assert found["flags"].str.contains("no test").all()

    def test_two_cells_need_no_omnibus_test(self) -> None:
        assert omnibus(runs_frame({TORCH: [1, 2], TENSORFLOW: [2, 3]}), settings()).empty

    @pytest.mark.parametrize(("test", "name"), [("wilcoxon", "Friedman"), ("mannwhitney", "Kruskal-Wallis")])
    def test_a_cell_without_runs_leaves_the_test_to_the_others_and_is_named(self, test: str, name: str) -> None:
        fourth, fifth = cell("torch2onnx"), cell("mx2onnx")
        others = {TORCH: [1, 2, 3, 4], TENSORFLOW: [2, 3, 4, 5.5], MXNET: [3.5, 4.5, 5, 6]}
        alone = omnibus(runs_frame(others), settings(test=test))
        found = omnibus(runs_frame({**others, fourth: [None] * 4, fifth: [9, None, None, None]}), settings(test=test))
        whole = row(found, quantity="energy_per_sample_j", test=name)
        assert whole["p"] == row(alone, quantity="energy_per_sample_j", test=name)["p"]
        assert (whole["n_cells"], whole["n_runs"]) == (3, 4 if test == "wilcoxon" else 12)
        without = f"tested without {fifth.id} (1 run that counts), {fourth.id} (no run that counts)"
        assert whole["flags"].startswith(without)

    def test_too_few_cells_with_runs_are_no_test_but_a_reason(self) -> None:
        runs = runs_frame({TORCH: [1, 2], TENSORFLOW: [2, 3], MXNET: [None, None]})
        for test in ("wilcoxon", "mannwhitney"):
            one = row(omnibus(runs, settings(test=test)), quantity="energy_per_sample_j")
            assert pd.isna(one["p"])
            assert one["flags"] == (
                f"tested without {MXNET.id} (no run that counts); "
                "no test: 2 cells with 2 runs that count, at least 3 needed"
            )

    def test_a_planned_cell_without_a_single_record_is_named_too(self) -> None:
        others = {TORCH: [1, 2, 3, 4], TENSORFLOW: [2, 3, 4, 5.5], MXNET: [3.5, 4.5, 5, 6]}
        gone = cell("torch2onnx")
        found = omnibus(runs_frame(others), settings(), [*others, gone])
        whole = row(found, quantity="energy_per_sample_j", test="Friedman")
        assert (whole["n_cells"], whole["flags"]) == (3, f"tested without {gone.id} (no run that counts)")
