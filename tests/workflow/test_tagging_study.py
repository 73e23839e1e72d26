"""A study of a task that is not classification, from its file to what it deploys, and again from its package."""

import json
from pathlib import Path

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from checkout import READ_RARELY, ROOT, Checkout

from framewatt.base.validation import load_yaml
from framewatt.package.rebuild import rebuild
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of

pytestmark = pytest.mark.thorough  # Trains real frameworks for minutes; its task has tests of its own.

TOKENS = 360
"""Digits in the test set, each a token."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The study of config/studies/numbers.yaml, of torch and its export alone."""
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    for name in ("torch", "onnxruntime/cpu"):
        made.share_environment(name)
    content = load_yaml(ROOT / "config" / "studies" / "numbers.yaml")
    train, infer = content["factors"]
    factors = [train | {"runtime": ["torch"]}, infer | {"runtime": ["torch", "torch2onnx"]}]
    kept = {key: value for key, value in content.items() if key not in ("study", "title", "description")}
    made.write_study("tags", **kept | {"factors": factors, "repetitions": 2, "instruments": READ_RARELY})
    answer = made.snakemake("all", "archive", config="study=tags")
    assert answer.code == 0, answer.text
    return made


@pytest.fixture(scope="module")
def results(checkout: Checkout) -> Path:
    return checkout.root / "results" / "tags"


def test_runs_count_tokens_and_say_that_fewer_errors_are_better(results: Path) -> None:
    for path in results.glob("measure/*/*/run.json"):
        record = json.loads(path.read_text())
        assert record["units"]["name"] == "token"
        if record["cell"]["phase"] == "infer":
            assert record["units"]["count"] >= TOKENS
        told = record["quality"]["token_error_rate"]
        assert (told["better"], told["unit"], told["reason"]) == ("lower", "", None)
        assert told["value"] < 0.15
        assert record["predictions"] == {**record["predictions"], "samples": TOKENS}
        assert round(told["value"] * TOKENS) == TOKENS - record["predictions"]["right"]


def test_frames_have_the_metrics_of_the_task_and_no_others(results: Path) -> None:
    runs = pd.read_csv(results / "aggregate" / "runs.csv")
    assert {"token_error_rate", "sequence_error_rate"} <= set(runs)
    assert "accuracy" not in runs
    inferred = runs[(runs["phase"] == "infer") & (runs["domain"] == "total")]
    joules = inferred["energy_gross_j"] / inferred["samples_processed"]
    assert inferred["energy_per_sample_j"].tolist() == pytest.approx(joules.tolist())


def test_the_least_error_is_the_best_and_an_export_is_as_good(results: Path) -> None:
    choices = pd.read_csv(results / "statistics" / "deploy.csv")
    assert set(choices["metric"]) == {"token_error_rate"}
    assert choices["as_good"].all()
    assert choices["quality"].nunique() == 1


def test_a_target_of_an_error_is_reached_from_above(results: Path) -> None:
    (row,) = pd.read_csv(results / "statistics" / "to_accuracy.csv").to_dict("records")
    epochs = pd.read_csv(results / "aggregate" / "epochs.csv")
    told = epochs[epochs["domain"] == "total"]
    first = told[told["token_error_rate"] <= 0.1].groupby("repetition")["epoch"].min()
    assert (row["metric"], row["reached"], row["epochs"]) == ("token_error_rate", 2, first.mean())
    assert row["best"] == pytest.approx(told["token_error_rate"].min())


def test_the_page_speaks_of_tokens_and_of_their_errors(results: Path) -> None:
    page = BeautifulSoup((results / "report" / "report.html").read_text(), "html.parser")
    assert "for one token" in page.select_one(".head").text
    assert "Energy per token (mJ)" in page.select_one("#table-energy_time").text
    assert "Token error rate" in page.select_one("#table-accuracy").text
    drawn = (results / "figures" / "energy_accuracy.svg").read_text()
    assert "Energy per token against token error rate" in drawn
    assert "Down and to the left is better" in drawn
    assert "accuracy is unknown" not in page.text


def test_the_package_holds_what_follows_from_it(results: Path, checkout: Checkout, tmp_path: Path) -> None:
    (package,) = (results / "archive").glob("*.zip")
    assert list(problems_of(unpack(package, tmp_path / "unpacked"))) == []
    assert rebuild(package, tmp_path / "again", checkout.root) == []


def test_a_forged_error_rate_is_noticed(results: Path, tmp_path: Path) -> None:
    (package,) = (results / "archive").glob("*.zip")
    folder = unpack(package, tmp_path / "unpacked")
    (path, *_) = sorted(folder.glob("data/results/tags/measure/infer-*/1/run.json"))
    record = json.loads(path.read_text())
    record["quality"]["token_error_rate"]["value"] = 0.0
    path.write_text(json.dumps(record))
    told = [line for line in problems_of(folder) if "token_error_rate" in line]
    assert any("right.bits gives" in line for line in told), told
