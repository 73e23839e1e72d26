"""`snakemake published`, with and without the authors' raw results."""

import json
from pathlib import Path

import pandas as pd
import pytest
from checkout import ROOT, Checkout
from published_data import raw_data

PAPERS = ("georgiou2022", "itu2023", "alizadeh2024")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def verdicts(checkout: Checkout, paper: str) -> pd.Series:
    frame = pd.read_csv(checkout.root / f"results/published/tables/{paper}_verdicts.csv")
    return frame["verdict"].value_counts()


def test_without_raw_results_every_number_still_has_a_verdict(checkout: Checkout) -> None:
    answer = checkout.snakemake("published")
    assert answer.code == 0, answer.text
    assert set(verdicts(checkout, "itu2023").index) == {"cannot be recomputed"}
    assert verdicts(checkout, "alizadeh2024")["cannot be recomputed"] == 1, "what its tables do not print"
    assert verdicts(checkout, "georgiou2022")["reproduced"] > 0, "sentences follow from the printed tables"
    page = (checkout.root / "results/published/report/report.html").read_text()
    assert all(f'<section id="{paper}">' in page for paper in PAPERS)
    assert str(checkout.root) not in page


def test_raw_results_go_through_the_workflow_into_the_verdicts(checkout: Checkout) -> None:
    georgiou, itu = raw_data("prengdl", "measurements_train"), raw_data("itu", "experiments")
    answer = checkout.snakemake("published", config=f"published_georgiou2022={georgiou} published_itu2023={itu}")
    assert answer.code == 0, answer.text
    plan = json.loads((checkout.root / "results/georgiou2022-published/plan/plan.json").read_text())
    assert plan["study"] == "georgiou2022-published", "not the study that the config is about"
    assert verdicts(checkout, "itu2023")["reproduced"] > 480 * 11
    frame = pd.read_csv(checkout.root / "results/published/tables/georgiou2022_verdicts.csv")
    means = frame[(frame["table"] == "Table 2") & frame["column"].isin(["PyTorch", "TensorFlow"])]
    assert means["verdict"].value_counts().to_dict() == {"reproduced": 44, "deviates": 4}
    assert set(means.loc[means["verdict"] == "deviates", "row"].str.split(",").str[0]) == {"SSD"}
    assert (frame.loc[frame["table"].isin(["Table 5", "Table 7"]), "verdict"] == "reproduced").sum() > 80
    page = (checkout.root / "results/published/report/report.html").read_text()
    assert str(georgiou) not in page
    assert 'id="figure-itu2023_figure5"' in page
    summary = (checkout.root / "results/published/report/summary.md").read_text()
    assert summary in (ROOT / "docs/published.md").read_text(), "docs/published.md ends with an older summary"
