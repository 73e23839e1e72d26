"""Study files that measure, small and with stand-ins for the frameworks: packed, verified, rebuilt byte for byte.

The study smoke is run with the frameworks in test_smoke, own models are in test_your_model, logs of other tools in
test_your_measurements, studies of papers' raw results and beside them in test_packages_of_published. Those that hold
what another one holds are left to `make test-thorough`.
"""

import json
import shutil
from pathlib import Path

import pytest
import stand_ins
import yaml
from checkout import ROOT, Checkout
from package_tools import packed, passes_its_own_tools

from framewatt.package.verify import problems_of

STUDIES = {path.stem: yaml.safe_load(path.read_text()) for path in sorted((ROOT / "config/studies").glob("*.yaml"))}
ELSEWHERE = {"smoke", "itu2023-cpu", "itu2023-published", "georgiou2022-published"}
DETECTION = "detection"


@pytest.mark.thorough  # What a package of these holds, one of a study in another file holds, too.
@pytest.mark.parametrize("study", sorted(STUDIES.keys() - ELSEWHERE - {DETECTION}))
def test_a_study_that_measures(study: str, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    stand_ins.install(checkout)
    if STUDIES[study].get("operators"):
        stand_ins.train_slowly(checkout)
    checkout.write_study(study, **stand_ins.small(STUDIES[study]))
    passes_its_own_tools(packed(checkout, study, stand_ins.CONFIG), tmp_path)


def test_a_study_of_which_the_interpreter_can_run_a_part(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    stand_ins.install(checkout)
    # PyTorch's own engine needs PyTorch; TensorFlow's stand-in and this model of it need nothing.
    workloads = checkout.root / "src/framewatt/workloads"
    shutil.copy2(ROOT / "src/framewatt/workloads/torch/engine.py", workloads / "torch")
    (workloads / "tensorflow/resnet.py").write_text("")
    study = stand_ins.small(STUDIES["smoke"])
    study["factors"] = [study["factors"][0] | {"runtime": ["torch", "tensorflow"], "phase": ["train"]}]
    checkout.write_study("partial", **{**study, "study": "partial"})
    package = packed(checkout, "partial", "environment=host device=cpu")
    plan = json.loads((checkout.root / "results/partial/plan/plan.json").read_text())
    assert plan["absent"] == dict.fromkeys(("torch", "torchvision"), "is not installed")
    reason = "torch is not installed; torchvision is not installed"
    assert {entry["reason"] for entry in plan["unsupported"]} == {reason}
    page = (checkout.root / "results/partial/report/report.html").read_text()
    assert f"unsupported: {reason}" in page
    passes_its_own_tools(package, tmp_path)


@pytest.mark.thorough  # The tables and figures of detectors have tests of their own.
def test_a_study_of_detectors_whose_package_shows_what_their_weights_find(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    stand_ins.install(checkout)
    study = stand_ins.small(STUDIES[DETECTION]) | {"parity": False}
    train, infer = study["factors"][:2]
    study["factors"] = [train | {"runtime": ["torch"]}, infer | {"runtime": ["torch", "tensorflow", "torch2onnx"]}]
    checkout.write_study(DETECTION, **study)
    passes_its_own_tools(packed(checkout, DETECTION, stand_ins.CONFIG), tmp_path)
    results = next((tmp_path / "unpacked").glob("*/data/results/detection"))
    shown = [json.loads(path.read_text()) for path in sorted(results.glob("train/*/examples.json"))]
    assert [len(one["images"][0]["detections"]) for one in shown] == [3, 3]
    assert {path.suffix for path in results.glob("figures/detections.*")} == {".svg", ".pdf", ".png"}
    page = (results / "report" / "report.html").read_text()
    assert 'id="figure-detections"' in page
    assert "What the weights of each framework find" in page
    path = next(results.glob("train/*-tensorflow/examples.json"))
    path.write_text(path.read_text().replace('"found": 3', '"found": 4'))
    told = list(problems_of(results.parents[2]))
    assert any("examples.json was changed after its record was written" in line for line in told), told
