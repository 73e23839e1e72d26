"""The package of a study."""

import hashlib
import os
import zipfile
from pathlib import Path

from framewatt.archive import MANIFEST, project_files, study_files, write_package

ROOT = Path(__file__).parents[2]


def results_tree(root: Path) -> Path:
    """A small results tree with things that belong into a package and things that do not."""
    results = root / "results" / "trial"
    for name in ("measure/c/1/run.json", "report/report.html", "train/m/train.json"):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(name)
    (results / "train/m/weights.pt").write_text("large")
    (results / "train/m/.snakemake_timestamp").write_text("")
    (results / "archive").mkdir()
    (results / "archive/old.zip").write_text("old")
    return results


def test_records_and_report_belong_to_it_and_weights_do_not(tmp_path: Path) -> None:
    assert sorted(study_files(results_tree(tmp_path))) == [
        "results/trial/measure/c/1/run.json",
        "results/trial/report/report.html",
        "results/trial/train/m/train.json",
    ]


def test_study_file_locks_and_code_belong_to_it() -> None:
    files = project_files(ROOT, ROOT / "config/studies/demo.yaml", ["torch", "onnxruntime/cpu"])
    assert {
        "config/studies/demo.yaml",
        "envs/torch/requirements.txt",
        "envs/onnxruntime/cpu/requirements.txt",
        "workflow/Snakefile",
        "rules/measure.smk",
        "scripts/measure.py",
        "src/framewatt/runner.py",
        "src/framewatt/report/template.html.j2",
    } <= set(files)
    assert all(path.is_file() for path in files.values())


def test_its_manifest_names_every_other_entry_with_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "package.zip"
    count = write_package(path, study_files(results_tree(tmp_path)), {"identity.json": "{}"})
    with zipfile.ZipFile(path) as package:
        assert len(package.namelist()) == count == 5
        lines = package.read(MANIFEST).decode().splitlines()
        assert sorted(line.split("  ")[1] for line in lines) == sorted(set(package.namelist()) - {MANIFEST})
        for line in lines:
            digest, name = line.split("  ")
            assert hashlib.sha256(package.read(name)).hexdigest() == digest


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    results = results_tree(tmp_path)
    write_package(tmp_path / "a.zip", study_files(results), {})
    os.utime(results / "report/report.html", (1, 1))
    write_package(tmp_path / "b.zip", study_files(results), {})
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
