"""A study of training at two batch sizes, from its file to the report, and again from its package."""

from pathlib import Path

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from checkout import READ_RARELY, Checkout

from framewatt.package.rebuild import rebuild

MODEL = """
from mxnet.gluon import nn


def build(facts, size):
    network = nn.HybridSequential()
    network.add(nn.Conv2D(4, 3, strides=4), nn.Flatten(), nn.Dense(facts.classes))
    return network
"""
FIGURES = ("series", "energy", "power", "utilisation", "accuracy")
STUDY = {
    "replicates": "itu2023",
    "factors": [
        {
            "phase": ["train"],
            "workload": ["tiny"],
            "runtime": ["mxnet"],
            "dataset": ["digits-few"],
            "batch_size": [16, 32],
        }
    ],
    "repetitions": 2,
    "instruments": READ_RARELY,
    "training": {"epochs": 2},
    "calibration": {"idle_s": 1},
    "cool_down": {"rest_s": 0},
    "statistics": {"resamples": 100, "accuracy_targets": [0.01, 1.0]},
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The study, measured and reported."""
    checkout = Checkout(tmp_path_factory.mktemp("training"))
    checkout.share_environment("mxnet/cpu")
    checkout.add_model("mxnet", "tiny", MODEL)
    checkout.write_study("training", **STUDY)
    answer = checkout.snakemake(config="study=training")
    assert answer.code == 0, answer.text
    return checkout


def test_a_study_of_training_has_figures_trends_prices_and_verdicts(measured: Checkout) -> None:
    results = measured.root / "results/training"
    assert all((results / f"figures/training_{name}.svg").is_file() for name in FIGURES)

    (trend,) = pd.read_csv(results / "statistics/trends.csv").to_dict("records")
    assert (trend["along"], trend["n_levels"], trend["n"], trend["estimated"]) == ("batch_size", 2, 4, True)
    reached = pd.read_csv(results / "statistics/to_accuracy.csv").set_index(["batch_size", "target"])
    epochs = pd.read_csv(results / "aggregate/epochs.csv")
    first = epochs[(epochs["domain"] == "total") & (epochs["epoch"] == 1) & (epochs["batch_size"] == 16)]
    assert reached.loc[(16, 0.01), "energy_j"] == pytest.approx(first["energy_gross_j"].mean())
    assert (epochs["telemetry_unknown"].dropna() == "no meter of a GPU").all()
    claims = pd.read_csv(results / "replication/claims.csv")
    assert set(claims["verdict"]) == {"not decidable here"}

    page = BeautifulSoup((results / "report/report.html").read_text(), "html.parser")
    for name in FIGURES:
        assert page.select_one(f"#figure-training_{name} svg")
    assert page.select_one("#table-trends")
    assert "no meter of a GPU" in page.select_one("#table-epochs caption").text


@pytest.mark.thorough  # Packages of other studies are rebuilt in make test; this one has trends and prices, too.
def test_its_package_is_rebuilt(measured: Checkout, tmp_path: Path) -> None:
    answer = measured.snakemake("archive", config="study=training")
    assert answer.code == 0, answer.text
    (package,) = (measured.root / "results/training/archive").glob("*.zip")
    assert rebuild(package, tmp_path / "again", measured.root) == []
