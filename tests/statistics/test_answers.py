"""What costs least, by how much, and whether that is known: by hand, by SciPy, and where there is too little."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame
from scipy import stats

from framewatt.statistics.answers import ANSWERS_COLUMNS, answer
from framewatt.statistics.best_set import best_set, level_of, p_of_equal
from framewatt.statistics.comparisons import compare_cells
from framewatt.statistics.log_ratios import all_pairs, log_ratio, logs_of
from framewatt.statistics.stopping import Looks
from framewatt.study.cell import Cell
from framewatt.study.factors import COMPARED

TORCH, TENSORFLOW, MXNET = cell("torch"), cell("tensorflow"), cell("mxnet")
SETTINGS = {
    **{"compare": COMPARED, "test": "t", "correction": "holm", "alpha": 0.05, "confidence": 0.95},
    **{"equal_margin": 0.05, "noise": 0.05},
}


def noisy(level: float, blocks: int, seed: int, noise: float = 0.02) -> list[float]:
    """Runs of a cell."""
    return list(level * np.exp(np.random.default_rng(seed).normal(0, noise, blocks)))


def energy(levels: dict[Cell, Any], **settings: Any) -> "pd.Series[Any]":
    """The answer by energy of the one group that these cells are."""
    found = answer(runs_frame(levels), SETTINGS | settings, levels)
    (row,) = [row for _, row in found[found["quantity"] == "energy_per_sample_j"].iterrows()]
    return row


class TestLogRatios:
    def test_paired_is_scipys_paired_t_on_logarithms(self) -> None:
        a, b = noisy(1, 8, 1), noisy(1.1, 8, 2)
        found, right = log_ratio(logs_of(a), logs_of(b), paired=True), stats.ttest_rel(np.log(a), np.log(b))
        assert found.p_two_sided() == pytest.approx(right.pvalue)
        assert found.p_more() == pytest.approx(stats.ttest_rel(np.log(a), np.log(b), alternative="greater").pvalue)
        assert np.log(found.within(0.025)) == pytest.approx([*right.confidence_interval()])
        assert found.ratio == pytest.approx(stats.gmean(np.array(a) / b))

    def test_independent_is_scipys_welch_on_logarithms(self) -> None:
        a, b = noisy(1, 8, 1), noisy(1.1, 8, 2, 0.2)
        found = log_ratio(logs_of(a), logs_of(b), paired=False)
        right = stats.ttest_ind(np.log(a), np.log(b), equal_var=False)
        assert found.p_two_sided() == pytest.approx(right.pvalue)
        assert np.log(found.within(0.025)) == pytest.approx([*right.confidence_interval()])

    def test_with_unequal_numbers_the_degrees_of_freedom_are_those_of_the_fewer(self) -> None:
        a, b = logs_of(noisy(1, 10, 1)), logs_of(noisy(1.1, 3, 2, 0.2))
        found = log_ratio(a, b, paired=False)
        error = np.hypot(stats.sem(a), stats.sem(b))
        half = stats.t.ppf(0.975, 2) * error
        assert (found.error, found.freedom) == (pytest.approx(error), 2)
        assert np.log(found.within(0.025)) == pytest.approx([found.mean - half, found.mean + half])

    @pytest.mark.parametrize("scatter", [(0.05, 0.05), (0.05, 0.15), (0.15, 0.05)])
    def test_few_runs_against_many_are_told_apart_no_more_often_than_is_said(self, scatter: tuple) -> None:
        rng = np.random.default_rng(4)
        a, b = (rng.normal(0, sd, (20_000, n)) for sd, n in zip(scatter, (10, 3), strict=True))
        assert (log_ratio(a, b, paired=False).p_two_sided() <= 0.05).mean() <= 0.055

    def test_a_missing_run_takes_its_block_with_it(self) -> None:
        a, b = logs_of([1.0, 1.1, np.nan, 1.2, 1.3]), logs_of([1.3, np.nan, 1.2, 1.5, 1.4])
        found = log_ratio(a, b, paired=True)
        assert (found.runs, found.freedom) == (3, 2)
        assert found.mean == pytest.approx(np.mean([a[0] - b[0], a[3] - b[3], a[4] - b[4]]))

    def test_many_pairs_at_once_are_each_alone(self) -> None:
        logs = np.random.default_rng(1).normal(0, 1, (3, 4, 6))
        logs[1, 2, 3] = np.nan
        every = all_pairs(logs, paired=True)
        alone = log_ratio(logs[1, 2], logs[1, 0], paired=True)
        assert every.p_more()[1, 2, 0] == pytest.approx(float(alone.p_more()))

    @pytest.mark.parametrize("paired", [True, False])
    def test_a_ratio_without_scatter_is_no_certainty(self, paired: bool) -> None:
        found = log_ratio(logs_of([2.0, 2, 2]), logs_of([1.0, 1, 1]), paired=paired)
        # Of three blocks, all one way: 2^-3. Of two samples of three, the one order of C(6, 3) = 20.
        assert found.p_more() == pytest.approx(1 / 8 if paired else 1 / 20)
        assert np.isnan(found.within(0.025)).all()
        same = log_ratio(logs_of([2.0, 2, 2]), logs_of([2.0, 2, 2]), paired=paired)
        assert same.p_two_sided() == 1

    def test_zeros_and_negative_values_have_no_logarithm(self) -> None:
        assert np.isnan(logs_of([0.0, -1.0, np.nan])).all()
        assert np.isnan(log_ratio(logs_of([0.0, 1.0]), logs_of([1.0, 1.0]), paired=True).p_more())

    def test_equal_costs_are_two_one_sided_tests(self) -> None:
        a, b = np.log(noisy(1, 12, 1, 0.01)), np.log(noisy(1.01, 12, 2, 0.01))
        most = np.log(1.05)
        right = max(
            stats.ttest_1samp(a - b, -most, alternative="greater").pvalue,
            stats.ttest_1samp(a - b, most, alternative="less").pvalue,
        )
        assert p_of_equal(log_ratio(a, b, paired=True), 0.05) == pytest.approx(right)


class TestBestSet:
    def test_levels_are_alpha_over_the_others_and_two_cells_have_the_usual_two_sided_test(self) -> None:
        assert [level_of(cells, 0.05) for cells in (2, 3, 7)] == pytest.approx([0.025, 0.025, 0.05 / 6])

    def test_a_cell_is_left_out_where_another_is_shown_to_be_cheaper(self) -> None:
        logs = logs_of([noisy(1, 6, 1), noisy(1.05, 6, 2), noisy(1.3, 6, 3)])
        found = best_set(logs, 0.05, paired=True)
        for one in range(3):
            least = min(
                stats.ttest_rel(logs[one], logs[other], alternative="greater").pvalue
                for other in range(3)
                if other != one
            )
            assert found.inside[one] == (least > 0.025)

    def test_what_the_others_cost_at_least_holds_whichever_of_the_set_is_cheapest(self) -> None:
        logs = logs_of([noisy(1, 6, 1), noisy(1, 6, 2), noisy(2, 6, 3)])
        found = best_set(logs, 0.05, paired=True)
        assert found.inside.tolist() == [True, True, False]
        ends = [stats.ttest_rel(logs[2], logs[i]).confidence_interval(0.95).low for i in (0, 1)]
        assert found.at_least()[2] == pytest.approx(np.exp(min(ends)))
        both = stats.ttest_rel(logs[0], logs[1]).confidence_interval(0.95)
        assert found.apart() == pytest.approx(np.exp(max(both.high, -both.low)))

    def test_it_holds_the_cheapest_as_often_as_it_says(self) -> None:
        rng = np.random.default_rng(1)
        logs = np.log([1.0, 1.01, 1.01, 1.02, 1.02, 1.05, 1.2])[None, :, None] + rng.normal(0, 0.05, (2000, 7, 5))
        found = best_set(logs, 0.05, paired=True)
        assert found.inside[:, 0].mean() >= 0.95
        # Five blocks tell the one that is 20 % dearer; tests of ranks, of any number of cells, could not.
        assert found.inside[:, 6].mean() < 0.15
        assert (found.inside.sum(axis=1) == 1).mean() < 0.05


class TestAnswers:
    def test_a_row_a_group_and_quantity(self) -> None:
        small = {one: noisy(level, 6, i) for i, (one, level) in enumerate({TORCH: 1.0, MXNET: 2.0}.items())}
        large = cell("torch", batch_size=64)
        found = answer(runs_frame({**small, large: noisy(9, 6, 9)}), SETTINGS)
        assert list(found.columns) == ANSWERS_COLUMNS
        assert found.groupby("quantity", sort=False)["group"].apply(list).to_dict() == {
            quantity: ["infer resnet50 digits batch 1 fp32", "infer resnet50 digits batch 64 fp32"]
            for quantity in ("energy_per_sample_j", "time_per_sample_s")
        }
        assert found["settled"].tolist() == [True, False, True, False]

    def test_numbers_are_those_of_the_pairs(self) -> None:
        levels = {TORCH: noisy(1, 6, 1), TENSORFLOW: noisy(1.4, 6, 2), MXNET: noisy(1.2, 6, 3)}
        row = energy(levels)
        assert (row["best"], row["reference"], row["next"]) == (TORCH.id, TORCH.id, MXNET.id)
        assert (row["settled"], row["blocks"], row["n_cells"]) == (True, 6, 3)
        logs = {one: np.log(values) for one, values in levels.items()}
        right = stats.ttest_rel(logs[MXNET], logs[TORCH])
        assert np.log(row["ratio"]) == pytest.approx(np.mean(logs[MXNET] - logs[TORCH]))
        assert np.log([row["ratio_low"], row["ratio_high"]]) == pytest.approx([*right.confidence_interval(0.95)])
        told = json.loads(row["ratios"])
        assert list(told) == [MXNET.id, TENSORFLOW.id]
        assert told[MXNET.id]["ratio"] == pytest.approx(row["ratio"])
        assert row["rule"] == "paired t on logarithms; each one-sided test and each end of an interval at 0.05/2"

    @pytest.mark.parametrize(
        ("levels", "best", "settled", "note"),
        [
            ({TORCH: [1.0, 1.1]}, 1, False, "one cell has runs that count, so nothing is compared"),
            ({TORCH: [None, None]}, 0, False, "no run counts"),
            ({TORCH: [1.0, 1.1], MXNET: [None, None]}, 1, False, "one cell has runs that count"),
            ({TORCH: [1.0], MXNET: [2.0]}, 2, False, "1 block: nothing is known of the noise, at least 3 are needed"),
            ({TORCH: [1.0, None], MXNET: [None, 2.0]}, 2, False, "0 blocks: nothing is known of the noise"),
            ({TORCH: [1.0] * 3, MXNET: [2.0] * 3}, 2, False, "some ratios are the same in every block"),
            ({TORCH: [1.0] * 8, MXNET: [2.0] * 8}, 1, True, "some ratios are the same in every block"),
            ({TORCH: noisy(1, 5, 1), MXNET: [*noisy(3, 4, 2), None]}, 1, True, f"of 5 blocks: {MXNET.id} has 4"),
        ],
    )
    def test_what_there_is_too_little_of_is_said(self, levels: dict, best: int, settled: bool, note: str) -> None:
        row = energy(levels)
        assert len([name for name in row["best"].split("; ") if name]) == best
        assert row["settled"] == settled
        assert note in row["note"]

    def test_a_cell_without_a_run_is_named(self) -> None:
        row = energy({TORCH: noisy(1, 5, 1), MXNET: noisy(2, 5, 2), TENSORFLOW: [None] * 5})
        assert (row["best"], row["without"], row["n_cells"]) == (TORCH.id, TENSORFLOW.id, 2)

    def test_runs_of_zero_joules_are_left_out_by_name(self) -> None:
        runs = runs_frame({TORCH: noisy(1, 5, 1), MXNET: noisy(2, 5, 2)})
        runs.loc[(runs["cell"] == TORCH.id) & (runs["repetition"] == 2), "energy_per_sample_j"] = 0.0
        row = answer(runs, SETTINGS).iloc[0]
        assert row["best"] == TORCH.id
        assert f"runs of 0 or less left out, which have no logarithm: {TORCH.id}" in row["note"]

    def test_runs_that_are_no_blocks_are_independent(self) -> None:
        levels = {TORCH: noisy(1, 4, 1), MXNET: noisy(1.2, 4, 2)}
        row = energy(levels, test="welch")
        right = stats.ttest_ind(np.log(levels[MXNET]), np.log(levels[TORCH]), equal_var=False).confidence_interval(0.95)
        assert np.log([row["ratio_low"], row["ratio_high"]]) == pytest.approx([*right])
        assert row["rule"].startswith("Welch's t on logarithms")
        assert row["blocks"] == 4

    def test_a_study_of_rank_tests_has_the_same_answer_beside_them(self) -> None:
        levels = {TORCH: noisy(1, 6, 1), MXNET: noisy(1.2, 6, 2)}
        assert energy(levels, test="wilcoxon")["ratios"] == energy(levels)["ratios"]


class TestPairs:
    def test_holm_is_within_the_group(self) -> None:
        levels = {cell(name, batch_size=size): noisy(1 + 0.1 * i, 6, 10 * i + size)
                  for size in (1, 64) for i, name in enumerate(("torch", "tensorflow", "mxnet"))}  # fmt: skip
        found = compare_cells(runs_frame(levels), SETTINGS)
        for _, family in found.groupby(["quantity", "group"]):
            assert len(family) == 3
            ordered = family.sort_values("p")
            right = np.minimum(1, np.maximum.accumulate(ordered["p"] * [3, 2, 1]))
            assert ordered["p_corrected"].tolist() == pytest.approx(list(right))

    def test_the_rank_test_stands_beside_t_and_t_beside_the_rank_test(self) -> None:
        a, b = noisy(1, 8, 1), noisy(1.05, 8, 2)
        runs = runs_frame({TORCH: a, MXNET: b})
        t, ranks = (compare_cells(runs, SETTINGS | {"test": test}).iloc[0] for test in ("t", "wilcoxon"))
        assert (t["test"], t["beside_test"]) == ("paired t on logarithms", "wilcoxon signed-rank, exact")
        assert (ranks["beside_p"], ranks["p"]) == (pytest.approx(t["p"]), pytest.approx(t["beside_p"]))
        assert t["p"] == pytest.approx(stats.ttest_rel(np.log(a), np.log(b)).pvalue)
        assert np.isnan(t["smallest_p"])

    def test_a_verdict_follows_the_estimate_that_was_tested(self) -> None:
        # B costs less in 11 of 12 blocks, and 25 times as much in one.
        a = noisy(1, 12, 1)
        b = [0.9 * x * f for x, f in zip(a, noisy(1, 12, 2, 0.005), strict=True)]
        b[5] *= 25
        runs = runs_frame({MXNET: a, TORCH: b})
        ranks = compare_cells(runs, SETTINGS | {"test": "wilcoxon"}).iloc[0]
        assert ranks["significant"]
        assert ranks["mean_b"] > ranks["mean_a"], "the larger mean"
        assert ranks["costs_more"] == MXNET.id, "and yet less in nearly every block, which the test is of"
        assert ranks["a_costs_more"] == pytest.approx(11 / 12)
        t = compare_cells(runs, SETTINGS).iloc[0]
        assert (t["significant"], t["costs_more"]) == (False, "")
        for row in (ranks, t):
            assert f"which costs more depends on the estimate: by geometric mean ratio {TORCH.id}" in row["flags"]

    def test_block_drift_shrinks_a12_and_not_the_share_of_blocks(self) -> None:
        drift = np.linspace(1, 3, 12)
        runs = runs_frame({MXNET: list(1.1 * drift), TORCH: list(drift * noisy(1, 12, 2, 0.005))})
        found = compare_cells(runs, SETTINGS).iloc[0]
        assert found["a12"] < 0.6
        assert found["a_costs_more"] == 1
        assert found["costs_more"] == MXNET.id

    @pytest.mark.parametrize(("n", "word"), [(5, ""), (19, ""), (20, "large")])
    def test_few_runs_have_no_word_for_their_effect(self, n: int, word: str) -> None:
        runs = runs_frame({MXNET: noisy(1, n, 1), TORCH: noisy(2, n, 2)})
        assert set(compare_cells(runs, SETTINGS)["magnitude"]) == {word}

    def test_totals_have_fiellers_interval_and_equal_costs_a_p(self) -> None:
        found = compare_cells(runs_frame({MXNET: noisy(1, 12, 1, 0.01), TORCH: noisy(1, 12, 2, 0.01)}), SETTINGS).iloc[
            0
        ]
        assert found["ratio_of_means_low"] < found["ratio_of_means"] < found["ratio_of_means_high"]
        assert found["equal_p"] < 0.001
        assert not found["significant"]


@pytest.mark.parametrize(("looks", "judge"), [(Looks(), "the sign test"), (Looks(until_known=True), "the e-process")])
def test_what_judges_a_ratio_that_does_not_vary_is_named(looks: Looks, judge: str) -> None:
    levels = {TORCH: [1.0] * 6, MXNET: [2.0] * 6}
    row = answer(runs_frame(levels), SETTINGS, levels, looks).iloc[0]
    assert f"there {judge} decides, and no interval is known" in row["note"]
