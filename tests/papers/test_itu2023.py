"""itu2023: made-up runs whose epochs are known, and the authors' own table where the raw results are at hand."""

import shutil

import numpy as np
import pandas as pd
import pytest
from imported_study import RESOURCES, import_study
from published_data import raw_data

from framewatt.figures.power_traces import TracedRun
from framewatt.papers.itu2023 import beyond as itu2023_beyond
from framewatt.papers.itu2023 import figures as itu2023_figures
from framewatt.papers.itu2023 import recount as itu2023
from framewatt.papers.itu2023.epochs import GAUGES, all_epochs, as_published, authors_levels, epochs_of, read_runs
from framewatt.papers.itu2023.recount import authors_tables
from framewatt.runs.records import read_run
from framewatt.tasks.quality import described

S = 10**9
METRICS = {"accuracy": 0.25, "precision_macro": 0.1234, "recall_macro": 0.1234, "f1_macro": 0.1234}


def made_up(watts, ends_s, repetition=1, **levels):
    """A run with readings at 0.5, 1.5, … s and epochs that end at whole seconds."""
    time_ns = (np.arange(len(watts)) * S + S // 2).astype(np.int64)
    power = pd.concat(
        pd.DataFrame({"monotonic_ns": time_ns, "quantity": quantity, "value": np.asarray(watts, float)})
        for quantity in GAUGES.values()
    )
    starts_s = [0.5, *ends_s[:-1]]
    windows = {
        f"epoch-{number}": {
            "end_monotonic_ns": int(end * S),
            "duration_s": end - start,
            "domains": {"gpu:0": {"energy_gross_j": 100.0 * number}},
        }
        for number, (start, end) in enumerate(zip(starts_s, ends_s, strict=True), 1)
    }
    cell = {"batch_size": 32, "framework": "pytorch", "dataset": "CIFAR10", "model": "resnet50"} | levels
    epochs = [{"epoch": number, "quality": described(METRICS, None)} for number in range(1, len(ends_s) + 1)]
    record = {"cell": cell, "cell_id": "cell", "repetition": repetition, "windows": windows, "epochs": epochs}
    return TracedRun(record, power)


@pytest.fixture(scope="module")
def folder():
    return raw_data("itu", "experiments")


@pytest.fixture(scope="module")
def paths(folder, tmp_path_factory):
    return import_study("itu2023", folder, tmp_path_factory.mktemp("itu2023"))


@pytest.fixture(scope="module")
def runs(paths):
    return read_runs(paths)


def test_an_epoch_holds_the_readings_up_to_its_end_and_the_first_begins_with_the_first_reading():
    epochs = epochs_of(made_up([10, 20, 30, 40, 50], [2, 4]))
    assert epochs["power"].tolist() == [15, 35], "the reading behind the last epoch belongs to none"
    assert epochs["total_time"].tolist() == [1.5, 2.0]
    assert epochs["energy_integrated"].tolist() == [100, 200]


def test_energy_is_the_product_of_the_means_over_runs_not_the_mean_of_the_products():
    slow, fast = made_up([10, 10, 10, 10], [4]), made_up([40, 40, 40, 40], [2], repetition=2)
    table = as_published(all_epochs([slow, fast]))
    assert table["runs"].tolist() == [2]
    assert table["energy"].tolist() == [25 * 2.5], "(10 + 40) / 2 W x (3.5 + 1.5) / 2 s"
    ways = itu2023_beyond.two_ways(all_epochs([slow, fast]))
    assert ways["mean_of_products_j"].tolist() == [(10 * 3.5 + 40 * 1.5) / 2]
    assert ways["integrated_j"].tolist() == [100]


def test_precision_recall_and_f1_are_rounded_before_the_mean_and_accuracy_is_not():
    table = as_published(all_epochs([made_up([10, 10], [2])]))
    assert table["f1"].iloc[0] == pytest.approx(0.123)
    assert table["accuracy"].iloc[0] == 0.25


def test_a_metric_that_a_run_does_not_tell_is_unknown_and_not_zero():
    run = made_up([10, 10], [2])
    run.record["epochs"][0]["quality"] = described(METRICS | {"f1_macro": None}, "unknown")
    table = as_published(all_epochs([run]))
    assert np.isnan(table["f1"].iloc[0])
    assert table["accuracy"].iloc[0] == 0.25


def test_two_readings_of_one_instant_both_count():
    run = made_up([10, 20, 60], [4])
    run.power.loc[run.power["monotonic_ns"] == S // 2 + S, "monotonic_ns"] = S // 2
    assert epochs_of(run)["power"].tolist() == [30]


def test_tables_are_read_from_shallow_to_deep():
    runs = [
        made_up([10, 10], [2], batch_size=batch, model=model)
        for batch in (32, 64)
        for model in ("resnet152", "resnet101", "resnet50")
    ]
    ways = itu2023_beyond.two_ways(all_epochs(runs))
    assert ways["model"].tolist() == ["resnet50"] * 2 + ["resnet101"] * 2 + ["resnet152"] * 2
    assert ways["batch_size"].tolist() == [32, 64] * 3


def test_levels_are_written_as_in_the_names_of_the_authors_files():
    cell = {"framework": "TensorFlow", "workload": "ResNet-152", "dataset": "SVHN", "batch_size": "64"}
    assert authors_levels(cell) == {
        "framework": "tensorflow",
        "model": "resnet152",
        "dataset": "SVHN",
        "batch_size": 64,
    }


def test_every_number_of_the_authors_table_is_reproduced(runs, folder):
    frame = itu2023.recount(RESOURCES, all_epochs(runs), authors_tables(folder))
    rows = frame[frame["table"] == "all_data_processed_cifar.csv"]
    assert len(rows) == 480 * 11
    assert rows["verdict"].value_counts().to_dict() == {"reproduced": 480 * 11}


def test_sentences_are_counted_with_their_exceptions(runs):
    frame = itu2023.recount(RESOURCES, all_epochs(runs), []).set_index("column")
    assert frame.loc["results-tensorflow-energy", ["recomputed", "verdict"]].tolist() == [100, "reproduced"]
    faster = frame.loc["results-pytorch-faster"]
    assert (faster["verdict"], faster["note"]) == ("reproduced", "23 of 24; not so: CIFAR10 resnet152 32")
    per_batch = frame.loc["conclusions-batch"]
    assert (per_batch["verdict"], per_batch["recomputed"]) == ("deviates", 0), "twice the images take more energy"


def test_without_raw_results_no_sentence_is_judged():
    frame = itu2023.recount(RESOURCES, all_epochs([]), [])
    assert set(frame["verdict"]) == {"cannot be recomputed"}
    assert set(frame["note"]) == {"the raw results are not given"}


def test_another_data_set_works_unseen(folder, tmp_path):
    for path in folder.glob("experiments/gpu/*/*CIFAR10-resnet50*"):
        target = tmp_path / "raw" / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target.with_name(path.name.replace("CIFAR10", "SVHN")))
    runs = read_runs(import_study("itu2023", tmp_path / "raw", tmp_path / "out"))
    frame = itu2023.recount(RESOURCES, all_epochs(runs), []).set_index("column")
    assert frame.loc["results-tensorflow-energy", "note"] == "4 of 4"
    assert frame.loc["results-cifar100", "note"] == "CIFAR10 and CIFAR100 are not both there"


def test_figures_show_every_run(runs):
    values = itu2023_figures.values(all_epochs(runs), "figure2")
    assert len(values) == len(runs) == 96
    shown, words = itu2023_figures.combination(runs)
    assert [run.record["cell"]["framework"] for run in shown] == ["pytorch", "pytorch", "tensorflow", "tensorflow"]
    assert words == "CIFAR10, resnet101, batch size 128 (the report shows SVHN, which is not given)"


def test_a_run_that_could_not_be_read_is_left_out(paths, tmp_path):
    record = read_run(paths[0])
    broken = tmp_path / "broken.json"
    assert record["status"] == "ok"
    shutil.copy(paths[0], broken)
    text = broken.read_text().replace('"status": "ok"', '"status": "failed"', 1)
    broken.write_text(text)
    assert read_runs([broken]) == []
