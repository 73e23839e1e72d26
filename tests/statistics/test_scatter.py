"""How runs scatter: odd ones, drift, what blocks have in common, and what a plan can tell through it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from frames_factory import cell, runs_frame, training_study
from scipy import stats

from framewatt.statistics.assumptions import drift, drift_of
from framewatt.statistics.cells import summarise_cells
from framewatt.statistics.log_ratios import outlying, residuals, scatter_percent
from framewatt.statistics.power import Reachability, detectable_ratio, planned_power, samples_sentence
from framewatt.statistics.trends import fit_trends
from framewatt.study.factors import COMPARED

SETTINGS: dict[str, Any] = {
    **{"compare": COMPARED, "test": "t", "correction": "holm", "alpha": 0.05, "confidence": 0.95},
    **{"equal_margin": 0.05, "noise": 0.05},
}
NAMES = ("torch", "tensorflow", "mxnet", "torch2onnx", "tf2onnx", "mx2onnx")


def drawn(cells: int, blocks: int, seed: int, block_noise: float = 0.05) -> pd.DataFrame:
    """Runs with 5 % of noise, and as much that a block has in common."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(0, 0.05, (blocks, cells)) + rng.normal(0, block_noise, (blocks, 1)) + 0.2 * np.arange(cells)
    return pd.DataFrame(np.exp(logs), index=range(1, blocks + 1), columns=[cell(name).id for name in NAMES[:cells]])


def test_residuals_are_what_cell_and_block_do_not_explain() -> None:
    cells, blocks = np.array([1.0, 2, 4, 8, 16]), np.array([1.0, 1.3, 0.9, 1.1])
    values = pd.DataFrame(np.outer(blocks, cells))
    assert np.abs(residuals(values, paired=True).to_numpy()).max() < 1e-12
    values.iloc[2, 3] *= 3
    left = residuals(values, paired=True)
    assert left.iloc[2, 3] == pytest.approx(np.log(3))
    assert np.abs(left.drop(columns=3).to_numpy()).max() < 1e-12, "one odd run makes no other odd"
    assert np.isnan(residuals(values.mask(values > 20), paired=True).to_numpy()).sum() == (values > 20).to_numpy().sum()


def test_few_healthy_cells_are_flagged_and_a_disturbed_run_is_found_in_a_noisy_block() -> None:
    flagged, found = [], []
    for seed in range(60):
        values = drawn(6, 5, seed, block_noise=0.2)
        flagged.append(outlying(residuals(values, paired=True)).any().mean())
        values.iloc[3, 2] *= 2
        found.append(outlying(residuals(values, paired=True)).iloc[3, 2])
    # The rule of quartiles flagged a third of healthy cells of five runs.
    assert np.mean(flagged) <= 0.05
    assert np.mean(found) >= 0.95


def test_equal_digits_are_no_scatter_by_which_a_last_digit_is_odd() -> None:
    values = pd.DataFrame({name: [1.00] * 7 for name in NAMES})
    values.iloc[0, 0], values.iloc[1, 1] = 1.01, 3.0
    odd = outlying(residuals(values, paired=True))
    assert (bool(odd.iloc[0, 0]), bool(odd.iloc[1, 1])) == (False, True)


def test_the_odd_run_is_named_and_kept() -> None:
    values = drawn(4, 6, 5)
    values.iloc[2, 1] *= 4
    runs = runs_frame({cell(name): list(values[cell(name).id]) for name in NAMES[:4]})
    found = summarise_cells(runs, SETTINGS)
    found = found[found["quantity"] == "energy_per_sample_j"].set_index("cell")
    assert found["outlier_repetitions"].to_dict() == {
        name: "3" if name == values.columns[1] else "" for name in found.index
    }
    assert "beyond 3.5 MAD of what its block and cell explain: repetition 3" in found.loc[values.columns[1], "flags"]
    assert set(found["n"]) == {6}


def test_scatter_after_blocks_is_that_of_runs() -> None:
    for cells in (2, 6):
        after = [scatter_percent(drawn(cells, 8, seed, 0.3), paired=True).mean() for seed in range(150)]
        assert np.sqrt(np.mean(np.square(after))) == pytest.approx(5, rel=0.1), (
            "whatever blocks have in common, 30 % here"
        )
    values = drawn(4, 8, 1, 0.3)
    runs = runs_frame({cell(name): list(values[cell(name).id]) for name in NAMES[:4]})
    found = summarise_cells(runs, SETTINGS)
    found = found[found["quantity"] == "energy_per_sample_j"]
    assert (found["cv_after_blocks_percent"] < found["cv_percent"] / 2).all()
    assert scatter_percent(drawn(1, 8, 1), paired=True).isna().all()
    assert scatter_percent(drawn(4, 8, 1), paired=False).isna().all()


def test_drift_is_that_of_the_study_over_its_blocks() -> None:
    values = drawn(6, 8, 1, 0.01)
    levels = np.exp(np.linspace(0, 0.3, 8))
    n, r, p, change = drift_of(values.mul(levels, axis=0))
    assert (n, p < 0.001, r > 0.9) == (8, True, True)
    assert change == pytest.approx(100 * np.expm1(0.3), rel=0.2)
    runs = runs_frame({cell(name): list(values[cell(name).id] * levels) for name in NAMES})
    (energy, _) = drift(runs, SETTINGS).to_dict("records")
    assert (energy["over"], energy["n"], energy["drifts"]) == ("blocks", 8, True)
    (energy, _) = drift(runs, SETTINGS | {"test": "welch"}).to_dict("records")
    assert (energy["over"], energy["n"], energy["drifts"]) == ("runs", 48, True)


def test_noise_that_blocks_share_is_no_drift() -> None:
    ps = [drift_of(drawn(6, 8, seed, 0.2))[2] for seed in range(200)]
    # Runs as independent points would be called drifting in most of these.
    assert np.mean([p <= 0.05 for p in ps]) <= 0.08
    assert drift_of(drawn(6, 2, 1))[2] is None


class TestPlan:
    def test_the_ratio_that_the_plan_names_is_told_in_four_of_five_studies(self) -> None:
        ratio = detectable_ratio(5, 7, 0.05, 0.05, paired=True)
        rng = np.random.default_rng(1)
        logs = rng.normal(0, 0.05, (4000, 2, 5)) + np.log([1.0, ratio])[:, None]
        p = stats.ttest_rel(logs[:, 1], logs[:, 0], axis=1, alternative="greater").pvalue
        assert np.mean(p <= 0.05 / 6) == pytest.approx(0.8, abs=0.02)

    def test_the_sentence_has_the_ratio_and_what_one_tenth_takes(self) -> None:
        cells = [cell(name) for name in NAMES]
        found = planned_power(5, cells, SETTINGS)
        assert found.sentence == (
            "With 5 blocks, a cell that takes 1.17 times as much as the cheapest of 6 is told from it in 80 % of "
            "studies, if runs vary by 5 % (statistics.noise); to tell 1.1 times as much takes 9."
        )
        assert planned_power(1, cells, SETTINGS).sentence.startswith("1 block cannot tell any difference: at least 3")
        assert planned_power(5, cells[:1], SETTINGS).sentence.startswith("No two cells differ")
        assert "10 runs of each cell" in planned_power(10, cells, SETTINGS | {"test": "welch"}).sentence

    def test_less_noise_and_more_blocks_tell_more(self) -> None:
        ratios = [detectable_ratio(n, 7, 0.05, 0.05, paired=True) for n in (3, 5, 8, 12, 30)]
        assert ratios == sorted(ratios, reverse=True)
        assert detectable_ratio(5, 7, 0.01, 0.05, paired=True) < ratios[1]
        cells = [cell(name) for name in NAMES]
        assert [planned_power(n, cells, SETTINGS).ratio is None for n in (1, 2, 3)] == [True, True, False]
        # What a plan said of two runs before a test took three.
        assert planned_power(2, cells, SETTINGS, 2).ratio == pytest.approx(7.68, abs=0.01)

    def test_a_study_of_rank_tests_is_told_their_smallest_p(self) -> None:
        found = planned_power(5, [cell(name) for name in NAMES], SETTINGS | {"test": "wilcoxon"})
        assert isinstance(found, Reachability)
        assert found.n_comparisons == 15


def test_more_runs_of_levels_that_leave_the_line_make_its_slope_no_surer() -> None:
    off = {32: 1.0, 64: 1.15, 128: 0.9, 256: 1.1}
    widths = []
    for repetitions in (2, 20):
        epochs, runs = training_study(("torch",), ("resnet50",), tuple(off), repetitions)
        epochs["energy_gross_j"] *= epochs["batch_size"].map(off)
        (line,) = fit_trends(epochs, runs, {"compare": ["runtime"], "confidence": 0.95}).to_dict("records")
        widths.append(line["exponent_high"] - line["exponent_low"])
        assert line["exponent_low"] < -0.5 < line["exponent_high"]
    assert widths[0] == pytest.approx(widths[1])
    levels = [np.log2(1000 * (size / 32) ** -0.5 * factor) for size, factor in off.items()]
    right = stats.linregress(np.log2([*off]), levels)
    assert widths[1] == pytest.approx(2 * stats.t.ppf(0.975, 2) * right.stderr)


def test_two_levels_have_the_interval_of_their_ratio() -> None:
    epochs, runs = training_study(("torch",), ("resnet50",), (32, 128), 6, scatter=0.05)
    (line,) = fit_trends(epochs, runs, {"compare": ["runtime"], "confidence": 0.95}).to_dict("records")
    later = epochs[(epochs["epoch"] > 1) & (epochs["domain"] == "total")]
    means = later.groupby(["batch_size", "repetition"])["energy_gross_j"].mean()
    right = stats.ttest_ind(np.log(means[128]), np.log(means[32]), equal_var=False).confidence_interval()
    assert [line["exponent_low"], line["exponent_high"]] == pytest.approx(
        [right.low / np.log(4), right.high / np.log(4)]
    )


def test_the_plan_says_on_how_many_samples_equal_accuracy_is_shown() -> None:
    cells = [cell(runtime) for runtime in ("torch", "mxnet", "tensorflow")]
    settings = {**SETTINGS, "accuracy_margin": 0.01}
    told = samples_sentence(cells, settings)
    assert told.startswith(
        "To show that 3 choices are equally accurate, within 0.01 of a share, takes at least 381 test"
    )
    assert samples_sentence(cells[:1], settings) == ""
    assert samples_sentence([cell(runtime, "train") for runtime in ("torch", "mxnet")], settings) == ""
    assert samples_sentence(cells, {**settings, "accuracy_margin": None}) == ""
