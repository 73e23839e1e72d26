"""A user's own detector, and a model that is only timed: that section of docs/your-model.md, run once each."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from checkout import ROOT, Checkout
from user_models import checkout_with

from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of
from framewatt.runs.records import read_run

pytestmark = (
    pytest.mark.thorough
)  # Two real frameworks and their exports; what the tasks of detection do otherwise, tests/conformance asks.

_, DOCUMENT = (ROOT / "docs" / "your-model.md").read_text().split("## A detector")
(STUDY,) = re.findall(r"```yaml\n(study: my-detector.*?)```", DOCUMENT, re.DOTALL)
FACTORY, PHOTOGRAPHS, ZOO = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
FEWER = (
    STUDY.replace("repetitions: 5", "repetitions: 1")
    .replace("minimum_s: 1", "minimum_s: 0.1")
    .replace("idle_s: 5", "idle_s: 1")
    .replace("fallback: estimate}", "fallback: estimate, period_s: 5}\ndisturbance: flag")
    # What runs in PyTorch is judged when its export is checked; tests/conformance/test_own_model_exports.py exports
    # what gives several outputs.
    .replace("[finder], runtime: [torch, torch2onnx]", "[finder], runtime: [torch2onnx]")
    .replace("[encoder], runtime: [torch, torch2onnx]", "[encoder], runtime: [torch]")
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    root = tmp_path_factory.mktemp("checkout")
    files = {"finders.py": FACTORY, "photographs.py": PHOTOGRAPHS, "zoo.py": ZOO}
    return checkout_with(root, "my-detector", FEWER, files, "photographs.py", "zoo.py")


@pytest.fixture(scope="module")
def results(checkout: Checkout) -> Path:
    answer = checkout.snakemake("all", "archive", config="study=my-detector")
    assert answer.code == 0, answer.text
    return checkout.root / "results" / "my-detector"


@pytest.fixture(scope="module")
def records(results: Path) -> dict[str, list[dict]]:
    found = defaultdict(list)
    for path in results.glob("measure/*/1/run.json"):
        record = read_run(path)
        found[record["cell"]["workload"]].append(record)
    return found


def test_every_form_of_the_detector_finds_all_objects(results: Path, records: dict[str, list[dict]]) -> None:
    runs = [*records["finder"], *records["zoo_finder"]]
    assert [(run["status"], run["valid"], run["units"]["name"]) for run in runs] == [("ok", True, "image")] * 2
    check = json.loads((results / "export/finder-own-torch/check/check.json").read_text())
    qualities = [check["source_quality"], *(run["quality"] for run in runs)]
    assert [quality["box_ap"]["value"] for quality in qualities] == [pytest.approx(1)] * 3
    assert check["equal_answers_share"] == 1


def test_what_is_only_timed_is_nowhere_said_to_be_0(results: Path, records: dict[str, list[dict]]) -> None:
    (run,) = records["encoder"]
    assert (run["status"], run["valid"], run["units"]["count"] > 0) == ("ok", True, True)
    assert {told["value"] for told in run["quality"].values()} == {None}
    assert "the study names no metric, so accuracy is unknown" in run["flags"]
    for name in ("accuracy", "deploy"):
        table = pd.read_csv(results / "tables" / f"{name}.csv")
        (row,) = table[table["workload"] == "encoder"].to_dict("records")
        told = {key: row[key] for key in row if re.match("accuracy|quality$|box_ap", key)}
        assert told
        assert all(pd.isna(value) for value in told.values()), told
    page = BeautifulSoup((results / "report" / "report.html").read_text(), "html.parser").get_text(" ", strip=True)
    assert "the study names no metric, so accuracy is unknown" in page


def test_photographs_are_told_by_one_hash_and_are_not_in_the_package(results: Path, tmp_path: Path) -> None:
    (package,) = (results / "archive").glob("*.zip")
    opened = unpack(package, tmp_path / "unpacked")
    assert list(problems_of(opened)) == []
    assert not [
        path for path in opened.rglob("*") if path.suffix == ".onnx" or path.name in ("instances.json", "7.png")
    ]
    (about,) = opened.rglob("own-models/finder.json")
    files = {one["name"]: one for one in json.loads(about.read_text())["files"]}
    assert set(files) == {"instances.json", "photographs/", "finders.py", "photographs.py", "zoo.py"}
    assert files["photographs/"]["images"] == 24


def test_a_photograph_that_changes_measures_anew_who_looked_at_it(checkout: Checkout, results: Path) -> None:
    """A folder does not change when a file in it does."""
    path = checkout.root / "my-models" / "photographs" / "7.png"
    path.write_bytes(path.read_bytes() + b"\n")
    told = checkout.snakemake("--dry-run", "--quiet", "host", "--", "all", config="study=my-detector").text
    assert set(re.findall(r"measuring infer-(\w+)-", told)) == {"finder", "zoo_finder"}
    assert set(re.findall(r"making the data set (\S+)", told)) == {
        "own-my-detector-finder",
        "own-my-detector-zoo_finder",
    }
