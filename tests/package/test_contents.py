"""What belongs into a package: all that made the results, nothing that an earlier form of the study left, each once."""

import zipfile
from pathlib import Path

from package_factory import CELL, ROOT, pack, results_tree

from framewatt.base.identity import code_files
from framewatt.package.unpack import unpack
from framewatt.package.verification.files import labels
from framewatt.package.verification.opened import open_package
from framewatt.package.verification.statement import statement_of
from framewatt.package.write import project_files, study_files


def test_all_code_that_is_hashed_is_packed() -> None:
    packed = set(project_files(ROOT, ROOT / "config/studies/demo.yaml", "demo", []).values())
    assert ROOT / "src/framewatt/workloads/onnxruntime/client.js" in packed
    assert set(code_files(ROOT)) <= packed


def test_the_count_of_files_is_that_of_the_files(tmp_path: Path) -> None:
    package = pack(tmp_path, results_tree(tmp_path))
    payload = [name for name in zipfile.ZipFile(package).namelist() if "/data/" in name]
    folder = unpack(package, tmp_path / "out")
    assert labels(folder)["Payload-Oxum"].endswith(f".{len(payload)}")
    assert f"all {len(payload)} files are those that were packed" in "\n".join(statement_of(open_package(folder), None))


def test_what_an_earlier_form_of_the_study_left_is_not_packed(tmp_path: Path) -> None:
    results = results_tree(tmp_path)
    left = ("measure/gone/1/run.json", f"measure/{CELL}/2/run.json", "train/gone/train.json", "export/gone/x.json")
    made = ("figures/energy_time.svg", "figures/energy_time.pdf", "export/m/onnx/export.json", "tables/more.csv")
    for name in (*left, *made, "figures/gone.svg", "replication/gone.csv", "export/m/int8_static/onnx/export.json"):
        path = results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    now = [
        f"measure/{CELL}/1",
        "train/resnet50-digits-torch",
        "figures/energy_time.svg",
        "export/m/check",
        "export/m/onnx",
    ]
    names = [name.removeprefix("results/trial/") for name in study_files(results, [results / one for one in now])]
    assert set(made) <= set(names)
    assert {f"measure/{CELL}/1/run.json", "train/resnet50-digits-torch/train.json", "plan/plan.json"} <= set(names)
    assert not [name for name in names if "gone" in name or name in left or "int8" in name]


def test_whether_all_was_asked_for_before_changes_nothing(tmp_path: Path) -> None:
    results = results_tree(tmp_path)
    before = study_files(results)
    (results / "report/complete.txt").write_text("1 runs, none failed or invalid\n")
    (results / "report/live.html").write_text("<p>so far</p>")
    assert study_files(results) == before


def test_the_way_to_rebuild_it_is_in_it() -> None:
    names = set(project_files(ROOT, ROOT / "config/studies/demo.yaml", "demo", []))
    assert {"workflow/Snakefile", "workflow/rebuild.smk", "rules/archive.smk"} <= names
