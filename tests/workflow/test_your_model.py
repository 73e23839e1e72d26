"""A user's own model becomes a report: docs/your-model.md, run with fewer repetitions, and what happens to bad ones."""

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from checkout import ROOT, Answer, Checkout
from user_models import checkout_with

from framewatt.base.files import sha256_of
from framewatt.package.rebuild import rebuild
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of
from framewatt.runs.records import read_run

DOCUMENT, _ = (ROOT / "docs" / "your-model.md").read_text().split("## A detector")
(STUDY,) = re.findall(r"```yaml\n(.*?repetitions: 8.*?)```", DOCUMENT, re.DOTALL)
FACTORY, MAKE_SAMPLES, MAKE_MODEL = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
FEWER = (
    STUDY.replace("repetitions: 8", "repetitions: 2")
    .replace("fallback: estimate}", "fallback: estimate, period_s: 5}\ndisturbance: flag")
    .replace("minimum_s: 1", "minimum_s: 0.2")
    .replace("idle_s: 5", "idle_s: 1")
)
"""Readings are rare, see checkout.READ_RARELY."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    root = tmp_path_factory.mktemp("checkout")
    files = {"nets.py": FACTORY, "samples.py": MAKE_SAMPLES, "train.py": MAKE_MODEL}
    return checkout_with(root, "my-model", FEWER, files, "samples.py", "train.py")


@pytest.fixture(scope="module")
def answer(checkout: Checkout) -> Answer:
    return checkout.snakemake("all", "archive", config="study=my-model")


@pytest.fixture(scope="module")
def results(checkout: Checkout, answer: Answer) -> Path:
    assert answer.code == 0, answer.text
    return checkout.root / "results" / "my-model"


@pytest.fixture(scope="module")
def records(results: Path) -> list[dict]:
    return [read_run(path) for path in results.glob("measure/*/*/run.json")]


@pytest.fixture(scope="module")
def page(results: Path) -> BeautifulSoup:
    return BeautifulSoup((results / "report" / "report.html").read_text(), "html.parser")


def test_every_runtime_ran_the_same_model_on_the_same_samples(records: list[dict]) -> None:
    assert len(records) == 3 * 2 * 2
    assert {(record["status"], record["valid"]) for record in records} == {("ok", True)}
    assert len({record["quality"]["accuracy"]["value"] for record in records}) == 1
    assert records[0]["quality"]["accuracy"]["value"] > 0.9
    assert len({record["identity"]["data_sha256"] for record in records}) == 1


def test_a_given_file_is_known_by_its_hash_and_has_no_source(checkout: Checkout, results: Path, records: list) -> None:
    (hashes,) = ({r["identity"]["artefact_sha256"] for r in records if r["cell"]["runtime"] == "onnx"},)
    assert hashes == {sha256_of(checkout.root / "my-models" / "small.onnx")}
    check = json.loads((results / "export/small-own-onnx/check/check.json").read_text())
    assert (check["status"], check["max_abs_difference"]) == ("ok", None)
    assert check["reason"] == "the file is measured as it was given, with no source to compare it with"
    exported = json.loads((results / "export/small-own-torch/check/check.json").read_text())
    assert exported["max_abs_difference"] < 1e-4


def test_no_file_of_the_user_is_in_the_package(results: Path) -> None:
    (package,) = (results / "archive").glob("*.zip")
    names = subprocess.run(["unzip", "-Z1", package], capture_output=True, text=True, check=True).stdout
    assert "run.json" in names
    assert not re.search(r"small\.(pt|onnx)|nets\.py|digits\.npz|model\.onnx", names)


def test_the_package_says_what_the_models_were(checkout: Checkout, results: Path) -> None:
    (package,) = (results / "archive").glob("*.zip")
    with zipfile.ZipFile(package) as archive:
        about = json.loads(archive.read(f"{package.stem}/data/own-models/small.json"))
    found = {file["name"]: file["sha256"] for file in about["files"]}
    assert found == {path.name: sha256_of(path) for path in (checkout.root / "my-models").iterdir() if path.is_file()}


def test_the_package_passes_its_own_tools_without_the_models(results: Path, tmp_path: Path) -> None:
    (package,) = (results / "archive").glob("*.zip")
    assert list(problems_of(unpack(package, tmp_path / "unpacked"))) == []
    assert rebuild(package, tmp_path / "again", ROOT) == []


def test_the_report_says_what_to_deploy(page: BeautifulSoup) -> None:
    said = page.select_one("#deploy").get_text(" ", strip=True)
    assert "the same weights, the same of 96 samples right" in said
    assert "left out below" not in said
    assert "Least energy a sample" in said
    assert re.search(r"1,000 inferences take \S+\s\S?Wh( \(estimated\))? by", said)
    assert page.select_one("#figure-deploy svg")


def replanned(checkout: Checkout) -> set[str]:
    """Cells that would be measured anew."""
    told = checkout.snakemake("--dry-run", "--quiet", "host", "--", "all", config="study=my-model")
    return set(re.findall(r"measuring (\S+)/\d+$", told.text, re.MULTILINE))


@pytest.mark.parametrize(
    ("file", "runtimes"),
    [("nets.py", {"torch", "torch2onnx"}), ("small.pt", {"torch", "torch2onnx"}), ("small.onnx", {"onnx"})],
)
def test_a_changed_file_measures_anew_what_depends_on_it(
    checkout: Checkout, results: Path, file: str, runtimes: set[str]
) -> None:
    path = checkout.root / "my-models" / file
    kept = path.with_name("kept")
    shutil.copy2(path, kept)
    try:
        path.write_bytes(path.read_bytes() + b"\n")
        found = {cell.removeprefix("infer-small-own-").split("-")[0] for cell in replanned(checkout)}
    finally:
        kept.replace(path)
    assert found == runtimes
    assert replanned(checkout) == set()


BAD = """
import torch

def raises():
    raise ValueError("no such checkpoint")

def number():
    return 7

def linear():
    return torch.nn.Linear(4, 2)

def pair():
    class Pair(torch.nn.Linear):
        def forward(self, x):
            return x, x
    return Pair(4, 2)
"""


def model(factory: str, **keys: object) -> dict:
    return {"factory": {"torch": factory}, "inputs": [{"name": "x", "shape": [4]}], "samples": 8, **keys}


MODELS = {
    "good": model("bad:linear"),
    "raises": model("bad:raises"),
    "number": model("bad:number"),
    "absent": model("bad:absent"),
    "nowhere": model("nowhere:net"),
    "shadow": model("json:loads"),
    "pair": model("bad:pair"),
    "wide": model("bad:linear", inputs=[{"name": "x", "shape": [5]}]),
}
REASONS = {
    "raises": "factory bad:raises: it raised ValueError: no such checkpoint. It has to be a function without arguments",
    "number": "factory bad:number: it returned a int. Return a torch.nn.modules.module.Module",
    "absent": "factory bad:absent: the module has no function absent. Use one of its functions: raises, number, l",
    "nowhere": "its module cannot be imported: ModuleNotFoundError: No module named 'nowhere'",
    "shadow": "factory json:loads: another module of the name json is imported first. Give the module in the",
    "wide": "inputs: the model does not take x (5,) float32: RuntimeError: ",
    "cut": "export: onnx.checker: ",
    "named": "export: ONNX Runtime: model: its input 'image' has shape",
}


def test_a_bad_model_is_a_record_and_the_others_go_on(checkout: Checkout, results: Path) -> None:
    (checkout.root / "config" / "studies" / "bad.py").write_text(BAD)
    good = (checkout.root / "my-models" / "small.onnx").read_bytes()
    (checkout.root / "config" / "studies" / "cut.onnx").write_bytes(good[: len(good) // 2])
    (checkout.root / "config" / "studies" / "named.onnx").write_bytes(good)
    files = {name: {**model("x:y", onnx=f"{name}.onnx"), "factory": {}} for name in ("cut", "named")}
    cross = {"phase": ["infer"], "dataset": ["synthetic"], "batch_size": [4]}
    checkout.write_study(
        "bad",
        models={**MODELS, **files},
        factors=[
            {**cross, "workload": list(MODELS), "runtime": ["torch"]},
            {**cross, "workload": list(files), "runtime": ["onnx"]},
        ],
        repetitions=1,
        instruments={"meters": "auto", "fallback": "estimate", "period_s": 5},
        window={"minimum_s": 0.1},
        calibration={"idle_s": 1},
        cool_down={"rest_s": 0},
        disturbance="flag",
    )
    told = checkout.snakemake("results/bad/tables/accuracy.csv", config="study=bad")
    assert told.code == 0, told.text
    runs = [read_run(path) for path in (checkout.root / "results/bad").glob("measure/*/1/run.json")]
    assert len(runs) == len(MODELS) + len(files)
    for run in runs:
        name = run["cell"]["workload"]
        if name in ("good", "pair"):
            assert (run["status"], run["quality"]["accuracy"]["value"]) == ("ok", None)
            assert "inputs are random and have no labels, so accuracy is unknown" in run["flags"]
            continue
        assert run["status"] == ("unavailable" if name in files else "failed")
        (reason,) = run["reasons"]
        assert REASONS[name] in reason
        assert "\n" not in reason
    accuracy = pd.read_csv(checkout.root / "results/bad/tables/accuracy.csv").set_index("workload")["accuracy"]
    assert accuracy.isna().all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"onnx": "nowhere.onnx"}, "models.small.onnx: there is no file config/studies/nowhere.onnx. Use a path"),
        ({"folder": "nowhere"}, "models.small.folder: there is no folder config/studies/nowhere. Use a path"),
        ({"reads": ["big.pt"]}, "models.small.reads: there is no file config/studies/../../my-models/big.pt. Use "),
        ({"arrays": "nowhere.npz"}, "models.small.arrays: there is no file config/studies/nowhere.npz. Use "),
        ({"inputs": []}, "models.small.inputs: [] is not allowed. Use a list with at least 1 entry"),
        ({"onnx": "", "factory": {}}, "models.small: it has neither onnx nor factory. Name one"),
        ({"factory": {"torch": "nets"}}, "models.small.factory.torch: 'nets' is not allowed. Use text matching"),
        ({"arrays": ""}, "factors.0.dataset: 'own' is unknown. Use "),
    ],
)
def test_what_a_study_says_wrong_is_one_line(checkout: Checkout, change: dict, message: str) -> None:
    study = yaml.safe_load(STUDY) | {"study": "wrong"}
    study["models"]["small"] |= change
    (checkout.root / "config" / "studies" / "wrong.yaml").write_text(yaml.safe_dump(study))
    told = checkout.snakemake(config="study=wrong")
    assert told.code != 0
    (line,) = told.lines("framewatt: ")
    assert message in line
    assert not (checkout.root / "results" / "wrong").exists()
