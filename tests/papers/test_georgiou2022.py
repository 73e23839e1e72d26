"""georgiou2022 from its printed tables, and from the raw results where they are at hand."""

import numpy as np
import pandas as pd
import pytest
from imported_study import RESOURCES, import_study
from published_data import raw_data

from framewatt.frames.frames import runs_frame
from framewatt.papers.georgiou2022 import beyond as georgiou2022_beyond
from framewatt.papers.georgiou2022 import recount as georgiou2022
from framewatt.papers.georgiou2022.beyond import spread
from framewatt.papers.georgiou2022.profiles import COMPARISON_COLUMNS
from framewatt.papers.georgiou2022.recount import (
    no_raw_results,
    printed_means,
    printed_models,
    raw_results,
    spearman_variants,
    sums_of_watts,
)
from framewatt.runs.records import read_run

NO_PROFILES = pd.DataFrame(columns=COMPARISON_COLUMNS)


def cell(frame, table, row, column):
    return frame.set_index(["table", "row", "column"]).loc[(table, row, column)]


def claim(frame, name):
    return frame.set_index("column").loc[name]


@pytest.fixture(scope="module")
def printed_only():
    return georgiou2022.recount(RESOURCES, no_raw_results(), NO_PROFILES)


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = raw_data("prengdl", "measurements_train")
    paths = import_study("georgiou2022", folder, tmp_path_factory.mktemp("georgiou2022"))
    records = [read_run(path) for path in paths]
    watts = sums_of_watts(records, [path.with_name("power.parquet") for path in paths])
    return raw_results(runs_frame(records), watts, printed_models(RESOURCES))


@pytest.fixture(scope="module")
def recounted(raw):
    return georgiou2022.recount(RESOURCES, raw, NO_PROFILES)


MODELS = printed_models(RESOURCES)


def made_up(models=MODELS, phases=("train",), runs=10):
    """Raw results in which PyTorch takes 100 to 109 of everything and TensorFlow twice as much."""
    rows = [
        {"phase": phase, "model": model, "framework": framework, "repetition": run + 1}
        | dict.fromkeys(["pkg_energy", "ram_energy", "gpu_energy", "gpu_integral", "run_time"], factor * (100.0 + run))
        for phase in phases
        for model in models
        for framework, factor in (("pytorch", 1), ("tensorflow", 2))
        for run in range(runs)
    ]
    return pd.DataFrame(rows)


def test_without_raw_results_what_needs_them_says_so(printed_only):
    row = cell(printed_only, "Table 2", "NCF, PKG energy", "PyTorch")
    assert row["verdict"] == "cannot be recomputed"
    assert row["note"] == "the raw results of training are not given (folder measurements_train)"


@pytest.mark.parametrize(
    ("name", "value", "verdict"),
    [
        ("abstract-significant", 93.75, "reproduced"),
        ("abstract-training-tensorflow", 66.67, "deviates"),
        ("abstract-inference-pytorch", 66.67, "reproduced"),
        ("training-gnmt-time", 3.103, "reproduced"),
        ("training-ncf-energy", 1.400, "deviates"),
        ("settings-hours", 135.3, "reproduced"),
    ],
)
def test_sentences_follow_or_not_from_the_printed_means(printed_only, name, value, verdict):
    row = claim(printed_only, f"{name}, from the printed means")
    assert row["recomputed"] == pytest.approx(value, abs=0.05)
    assert row["verdict"] == verdict


def test_a_sentence_on_a_phase_that_is_not_given_cannot_be_recomputed_from_raw_results():
    frame = georgiou2022.recount(RESOURCES, made_up(), NO_PROFILES)
    row = claim(frame, "inference-ncf-time, from the raw results")
    assert (row["verdict"], row["note"]) == ("cannot be recomputed", "the raw results of inference are not given")


def test_what_can_be_counted_on_one_half_alone_is_said():
    frame = georgiou2022.recount(RESOURCES, made_up(), NO_PROFILES)
    row = claim(frame, "abstract-significant, from the raw results")
    assert row["verdict"] == "cannot be recomputed"
    assert row["note"] == "the raw results of inference are not given; training alone: 24 of 24"


def test_the_inference_half_works_unseen():
    frame = georgiou2022.recount(RESOURCES, made_up(phases=("train", "infer")), NO_PROFILES)
    assert cell(frame, "Table 3", "NCF, run time", "PyTorch")["recomputed"] == pytest.approx(104.5)
    assert claim(frame, "inference-ncf-time, from the raw results")["recomputed"] == pytest.approx(0.5)


def test_a_sentence_on_models_that_are_not_all_given_names_those_that_are_not():
    frame = georgiou2022.recount(RESOURCES, made_up(models=("NCF", "GNMT")), NO_PROFILES)
    row = claim(frame, "introduction-nlp-time, from the raw results")
    assert row["note"] == "the raw results of Transformer-xl (training) are not given"
    in_table = cell(frame, "Table 2", "SSD, run time", "PyTorch")
    assert in_table["note"] == "the raw results of training do not hold SSD in both frameworks"
    assert claim(frame, "training-ncf-time, from the raw results")["recomputed"] == pytest.approx(0.5)


def test_a_missing_repetition_is_said():
    frame = georgiou2022.recount(RESOURCES, made_up(runs=9), NO_PROFILES)
    assert cell(frame, "Table 2", "NCF, run time", "PyTorch")["note"] == "9 runs, 10 in the paper"


def test_every_mean_of_training_comes_out_but_those_of_one_cell(recounted):
    means = recounted[(recounted["table"] == "Table 2") & recounted["column"].isin(["PyTorch", "TensorFlow"])]
    deviating = means[means["verdict"] == "deviates"]
    assert len(means) == 48
    assert set(deviating["row"].str.split(",").str[0]) == {"SSD"}
    assert set(deviating["column"]) == {"TensorFlow"}
    assert len(deviating) == 4


def test_p_values_of_training_come_out_of_the_exact_rank_sum_test(recounted):
    p = recounted[(recounted["table"] == "Table 2") & (recounted["column"] == "p")]
    assert p["verdict"].value_counts().to_dict() == {"reproduced": 23, "deviates": 1}


def test_only_one_test_can_give_all_printed_p_values(raw):
    found = georgiou2022_beyond.p_value_variants(raw, RESOURCES)
    best = found[found["attainable"] == 48]
    assert best[["test", "form", "bonferroni_over"]].to_numpy().tolist() == [["rank-sum (Mann-Whitney)", "exact", 1]]
    assert (found["printed"] == 24).all()


def test_table_4_comes_out_of_the_training_means_of_the_models_but_for_one_number():
    found = spearman_variants(printed_means(RESOURCES), no_raw_results(), RESOURCES)
    hits = found.groupby("numbers")["reproduced"].sum()
    assert hits.idxmax() == "printed means, training"
    assert hits.max() == 5


def test_gpu_joules_as_sums_of_watts_lie_below_the_integral(raw):
    gpu = georgiou2022_beyond.gpu_sums(raw)
    assert len(gpu) == 12
    assert gpu["largest_difference_percent"].max() < 0
    assert gpu["least_difference_percent"].min() > -6


def test_printed_means_outside_of_all_runs_are_listed(raw):
    outside = georgiou2022_beyond.outside_of_runs(raw, RESOURCES)
    assert outside[["model", "framework"]].drop_duplicates().to_numpy().tolist() == [["SSD", "TensorFlow"]]
    assert len(outside) == 4


def test_spread_flags_what_was_put_in():
    runs = made_up(models=("NCF",))
    odd = (runs["framework"] == "tensorflow") & (runs["repetition"] == 10)
    runs.loc[odd, "run_time"] = 1000.0
    found = spread(runs).set_index(["framework", "quantity"])
    assert "drift" in found.loc[("PyTorch", "run time"), "flags"]
    assert found.loc[("PyTorch", "run time"), "outlier_runs"] == ""
    assert found.loc[("TensorFlow", "run time"), "outlier_runs"] == "10"
    assert "varies much" in found.loc[("TensorFlow", "run time"), "flags"]


def test_medians_that_turn_a_comparison_are_counted():
    runs = made_up(models=("NCF",))
    # Two cold runs of ten make PyTorch's mean the larger one, and leave its median the smaller.
    cold = (runs["framework"] == "pytorch") & (runs["repetition"] <= 2)
    runs.loc[cold, "run_time"] = 5000.0
    medians = georgiou2022_beyond.medians(runs).set_index("quantity")
    assert medians.loc["run time", ["cheaper_by_means", "cheaper_by_medians"]].tolist() == ["TensorFlow", "PyTorch"]
    assert medians.loc["PKG energy", "cheaper_by_medians"] == "PyTorch"


def test_energy_of_figure_1_is_the_sum_of_the_phases_that_are_given():
    trained, words = georgiou2022_beyond.total_energy(made_up(models=("NCF",)))
    assert words == "training (inference not given)"
    both, words = georgiou2022_beyond.total_energy(made_up(models=("NCF",), phases=("train", "infer")))
    assert words == "training and inference"
    np.testing.assert_allclose(both["energy_j"], 2 * trained["energy_j"])
    assert trained["energy_j"].iloc[0] == 3 * 100
