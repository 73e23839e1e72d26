"""What a study of training shows: trends, the price of an accuracy, and figures by batch size and model."""

import pandas as pd
import pytest
from frames_factory import training_study as study

from framewatt.figures import training
from framewatt.statistics.to_accuracy import to_accuracy
from framewatt.statistics.trends import TRENDS_COLUMNS, fit_trends

SETTINGS = {
    "compare": ["runtime", "provider"],
    "confidence": 0.95,
    "equal_margin": 0.05,
    "noise": 0.05,
    "accuracy_targets": [0.7, 0.4],
}


class TestTrends:
    def test_a_power_law_comes_out_with_its_exponents(self) -> None:
        found = fit_trends(*study(), SETTINGS)
        assert list(found.columns) == TRENDS_COLUMNS
        by_batch, by_work = (found[found["along"] == along] for along in ("batch_size", "flops_per_sample"))
        assert len(by_batch) == len(by_work) == 2 * 3
        assert by_batch["exponent"].to_numpy() == pytest.approx(-0.5)
        assert by_batch["per_doubling"].to_numpy() == pytest.approx(2**-0.5)
        assert by_work["exponent"].to_numpy() == pytest.approx(1)
        assert (found["n"] == 9).all()
        assert found["r_squared"].to_numpy() == pytest.approx(1)

    def test_the_interval_holds_the_exponent_as_often_as_it_says(self) -> None:
        lines = [
            fit_trends(*study(("torch",), ("resnet50",), (16, 32, 64, 128), scatter=0.1, seed=seed), SETTINGS).iloc[0]
            for seed in range(60)
        ]
        held = [line["exponent_low"] < -0.5 < line["exponent_high"] for line in lines]
        assert 52 <= sum(held) < 60

    def test_two_levels_make_no_line(self) -> None:
        found = fit_trends(*study(batches=(32, 64), scatter=0.01), SETTINGS)
        lines = found[found["along"] == "batch_size"]
        assert lines["note"].str.startswith("two levels: any two lie on a line").all()
        assert lines["r_squared"].isna().all()
        assert lines["exponent_low"].notna().all()

    def test_one_run_a_level_has_no_interval(self) -> None:
        found = fit_trends(*study(batches=(32, 64), repetitions=1), SETTINGS)
        lines = found[found["along"] == "batch_size"]
        assert lines["exponent_low"].isna().all()
        assert lines["note"].str.endswith("no interval: one run a level, or runs that do not differ").all()

    def test_where_no_framework_counts_operations_nothing_is_made_up(self) -> None:
        found = fit_trends(*study(runtimes=("tensorflow",)), SETTINGS)
        lines = found[found["along"] == "flops_per_sample"]
        assert lines["exponent"].isna().all()
        assert set(lines["note"]) == {"no framework of the study counts the operations of its models"}

    def test_a_study_of_one_model_at_one_batch_size_has_no_trend(self) -> None:
        assert fit_trends(*study(workloads=("resnet50",), batches=(32,)), SETTINGS).empty

    def test_runs_that_do_not_count_are_no_points(self) -> None:
        epochs, runs = study(runtimes=("torch",), workloads=("resnet50",))
        runs.loc[runs["repetition"] == 1, "valid"] = False
        (line,) = fit_trends(epochs, runs, SETTINGS).to_dict("records")
        assert line["n"] == 6


class TestToAccuracy:
    def test_joules_are_summed_up_to_the_first_epoch_that_is_good_enough(self) -> None:
        epochs, runs = study(runtimes=("torch",), workloads=("resnet50",), batches=(32,))
        low, high = to_accuracy(epochs, runs, SETTINGS).to_dict("records")
        assert (low["target"], low["reached"], low["n"], low["epochs"]) == (0.4, 3, 3, 2)
        assert (low["energy_j"], low["time_s"]) == (6000, 20)
        assert (high["target"], high["reached"], high["best"]) == (0.7, 0, 0.6)
        assert pd.isna(high["energy_j"])
        assert high["note"] == "0 of 3 runs reached it"

    def test_the_lucky_runs_alone_have_no_mean(self) -> None:
        epochs, runs = study(runtimes=("torch",), workloads=("resnet50",), batches=(32,))
        epochs.loc[(epochs["repetition"] == 2) & (epochs["epoch"] == 3), "accuracy"] = 0.9
        row = to_accuracy(epochs, runs, SETTINGS).iloc[1]
        assert (row["reached"], row["n"]) == (1, 3)
        assert pd.isna(row["energy_j"])

    def test_a_training_that_diverged_reaches_nothing(self) -> None:
        epochs, runs = study(runtimes=("torch",), workloads=("resnet50",), batches=(32,), accuracies=(None, None))
        assert (to_accuracy(epochs, runs, SETTINGS)["reached"] == 0).all()

    def test_a_target_that_no_network_can_reach_is_told_and_not_counted_as_missed(self) -> None:
        """50 is a BLEU, and no accuracy, whoever meant percent."""
        row = to_accuracy(*study(workloads=("resnet50",)), {**SETTINGS, "accuracy_targets": [50]}).iloc[0]
        assert row["note"] == "no value of accuracy is 50"
        assert pd.isna(row["energy_j"])

    @pytest.mark.parametrize(("target", "reached"), [(250, 3), (150, 0), (0.5, 0)])
    def test_a_perplexity_is_as_good_as_a_target_that_it_is_below(self, target: float, reached: int) -> None:
        epochs, runs = study(runtimes=("torch",), workloads=("resnet50",), batches=(32,))
        epochs = epochs.rename(columns={"accuracy": "perplexity"})
        epochs["perplexity"] = 200.0
        row = to_accuracy(epochs, runs, {**SETTINGS, "accuracy_targets": [target]}).iloc[0]
        assert (row["reached"], row["metric"]) == (reached, "perplexity")
        assert pd.isna(row["energy_j"]) == (reached == 0)
        assert ("no value of perplexity is 0.5" in row["note"]) == (target == 0.5)

    def test_without_targets_there_is_no_row(self) -> None:
        assert to_accuracy(*study(), {**SETTINGS, "accuracy_targets": []}).empty


class TestFigures:
    @pytest.mark.parametrize(("name", "value"), [("energy", 7000), ("accuracy", 0.6)])
    def test_a_mark_is_a_run(self, name: str, value: float) -> None:
        shown = training.values(*study(), name, SETTINGS["compare"])
        assert len(shown) == 2 * 3 * 3 * 3
        first = shown[(shown["workload"] == "resnet50") & (shown["batch_size"] == 32)]
        assert first["value"].to_numpy() == pytest.approx(value)

    def test_power_has_the_first_epoch_apart(self) -> None:
        shown = training.values(*study(workloads=("resnet50",), batches=(32,)), "power", SETTINGS["compare"])
        assert dict(zip(shown["part"], shown["value"].round(6), strict=True)) == {"epoch 1": 500, "": 100}

    def test_without_a_gpu_the_figure_of_utilisation_says_so(self) -> None:
        epochs, runs = study()
        shown = training.values(epochs, runs, "utilisation", SETTINGS["compare"])
        figure = training.draw(shown, training.intervals(shown, SETTINGS), training.FIGURES["utilisation"])
        texts = [text.get_text() for axes in figure.axes for text in axes.texts]
        assert texts == ["No GPU was metered, so its utilisation is unknown."]

    def test_intervals_are_drawn_from_three_runs_on(self) -> None:
        for repetitions, bars in ((2, 0), (3, 1)):
            frames = study(("torch",), ("resnet50",), (32,), repetitions=repetitions, scatter=0.1)
            shown = training.values(*frames, "energy", SETTINGS["compare"])
            assert training.intervals(shown, SETTINGS)["low"].notna().sum() == bars

    def test_the_energy_is_the_gpus_where_every_run_has_one(self) -> None:
        epochs, _ = study(gpu=True)
        assert training.described("energy", epochs).note.endswith("gpu:0 alone, as in the report.")
        epochs, _ = study()
        assert training.described("energy", epochs).note.endswith("All domains together.")
