"""Two machines' packages become one study: `make merge`, then what its reader does with the package that comes out."""

import subprocess
import sys

import pandas as pd
import pytest
from checkout import Checkout, environment
from merged_factory import machine, package_of

FOUR, EIGHT = machine(4)["id"], machine(8)["id"]
TIMES = 1.5
"""What the second machine draws, over the first."""


def script(checkout: Checkout, name: str, *words: str) -> str:
    """What a script says, in a call that succeeds."""
    done = subprocess.run(
        [sys.executable, "-P", f"scripts/{name}.py", *words],
        cwd=checkout.root,
        env={**environment(), "PYTHONPATH": "src"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which packages of two machines were merged."""
    root = tmp_path_factory.mktemp("merged")
    archives = [package_of(root / "four", 4), package_of(root / "eight", 8, TIMES)]
    checkout = Checkout(root / "checkout", root)
    script(checkout, "merge", "--archives", " ".join(map(str, archives)))
    return checkout


def test_every_machine_has_its_own_answer_and_there_is_one_over_all(merged: Checkout) -> None:
    results = merged.root / "results/trial-merged"
    runs = pd.read_parquet(results / "aggregate/runs.parquet")
    drawn = runs[runs["window"] == "steady"].groupby("machine")["energy_gross_j"].mean()
    assert drawn[EIGHT] / drawn[FOUR] == pytest.approx(TIMES, rel=0.1)
    answers = pd.read_csv(results / "statistics/machines.csv")
    for _, one in answers[answers["quantity"] == "energy_per_sample_j"].groupby("group"):
        assert set(one["machine"]) == {FOUR, EIGHT, "all"}
    report = (results / "report/report.html").read_text()
    assert FOUR in report
    assert EIGHT in report


def test_the_package_is_believed_and_made_again(merged: Checkout) -> None:
    (package,) = (merged.root / "results/trial-merged/archive").glob("*.zip")
    told = script(merged, "verify", "--archive", str(package), "--rebuild")
    assert "byte for byte" in told
    assert "nothing is wrong with it" in told
